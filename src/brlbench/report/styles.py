"""The colour, marker and hatching of every algorithm: the same in all figures and pages."""

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..results.summary import is_own

# Rows of eight hues. The first has Okabe and Ito's colours with Tol's wine for their yellow, which
# is faint on white: people with any kind of colour vision can tell them apart. Each later colour
# is, within its hue, as far as can be from those before it and from those of users. The second of a
# pair is for dark ground.
# fmt: off
COLOURS = (
    ("#0072B2", "#0072B2"), ("#D55E00", "#D55E00"), ("#009E73", "#009E73"), ("#CC79A7", "#CC79A7"),
    ("#E69F00", "#E69F00"), ("#56B4E9", "#56B4E9"), ("#000000", "#E6E6E6"), ("#882255", "#A6336B"),
    ("#004477", "#88AACC"), ("#FF8844", "#EEBB88"), ("#88BB77", "#66FF66"), ("#DD00BB", "#FF1166"),
    ("#885522", "#666633"), ("#556688", "#88CCDD"), ("#554433", "#AABBAA"), ("#FF3355", "#FFCCFF"),
    ("#7788DD", "#6677AA"), ("#EE0033", "#CC0033"), ("#004400", "#BBEEBB"), ("#AA3355", "#FF8899"),
    ("#777744", "#EEEE00"), ("#77AACC", "#3399CC"), ("#BBAAAA", "#777788"), ("#FF5588", "#994488"),
    ("#9999FF", "#7788DD"), ("#995500", "#BB3300"), ("#448877", "#55CC55"), ("#FF77CC", "#DD00AA"),
    ("#997733", "#DDCC44"), ("#005599", "#446688"), ("#666677", "#AACCCC"), ("#990033", "#DD6677"),
    ("#3355CC", "#8899FF"), ("#771100", "#AA8844"), ("#669955", "#AAFFAA"), ("#CC4499", "#FF55FF"),
    ("#EE7722", "#887755"), ("#0088EE", "#AACCFF"), ("#445566", "#DDCCBB"), ("#770066", "#EE33CC"),
)
# fmt: on

OWN_COLOURS = (
    ("#8800FF", "#9944FF"),
    ("#BB66FF", "#CCAAFF"),
    ("#550099", "#6600EE"),
    ("#AA00CC", "#CC44EE"),
)
"""The colour of agents of users and, where there are several, its shades."""

_MARKERS = ("o", "s", "^", "<", "v", "P", "X", "*")
_OWN_MARKERS = ("D", *_MARKERS)  # the diamond is for agents of users, unless there are many
HATCHES = ("", "\\\\\\\\", "....", "xxxx", "////", "||||", "oooo", "----")
"""Hatchings for Matplotlib; `report/web/map.js` draws the same ones, in this order."""

# An algorithm's place in the table is that of its colour; its row is its hatching, too. Add names,
# never move them.
_TABLE = (
    ("bamcp", "opps-ds", "soft-max", "beb", "epsilon-greedy", "bfs3", "random", "sboss"),
    ("vdbe", "psrl", "opps-cs", "boss", "hindsight", "lookahead", "optimal", "formula"),
    ("spread", "bolt", "vpi", "mbie-eb", "vbrb", "sparse-prior", "random-mix", "ann"),
    ("gittins", "q-learning", "r-max", "ucrl2", "bonus", "eubrl", "shift-prior", "ucbvi"),
    ("opsrl", "rlsvi", "ids", "mc-brl", "rl2", "dpt", "", ""),
)
_DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)), (0, (8, 4)))
_COLUMNS = 8
_TOP = 5  # Matplotlib's zorder of agents of users
_PLACES = {name: i for i, name in enumerate(sum(_TABLE, ())) if name}
_OTHERS = range(len(_TABLE) * _COLUMNS, len(HATCHES) * _COLUMNS)  # for imported algorithms

PointStyles = dict[str, dict[str, Any]]
"""Colours and markers by name, as Matplotlib calls them."""


class Style(NamedTuple):
    """The style of an algorithm in figures and pages."""

    light: str
    dark: str
    marker: str
    hatch: int  # index of `HATCHES`

    @property
    def points(self) -> dict[str, Any]:
        """The colour and the marker, as Matplotlib names them."""
        return {"color": self.light, "marker": self.marker}


def styles_of(algorithms: Iterable[str]) -> dict[str, Style]:
    """A style for each algorithm, in the order given; no two are alike if there are at most 32.

    Built-in algorithms have places in a table. The place of an imported one follows from its name;
    where two names lead to one place, the second in alphabetical order takes the next free one.
    Agents of users share a colour; several have shades of it, in alphabetical order.
    """
    names = list(dict.fromkeys(algorithms))
    styles = {name: _style(_PLACES[name]) for name in names if name in _PLACES}
    others = sorted(set(names) - styles.keys())
    for number, name in enumerate(filter(is_own, others)):
        styles[name] = _own_style(number)
    taken: set[int] = set()
    for name in (each for each in others if not is_own(each)):
        first = zlib.crc32(name.encode(errors="replace")) % len(_OTHERS)
        wanted = [*_OTHERS[first:], *_OTHERS[:first]]
        place = next((place for place in wanted if place not in taken), wanted[0])
        styles[name] = _style(place)
        taken.add(place)
    return {name: styles[name] for name in names}


def point_styles(algorithms: Iterable[str]) -> PointStyles:
    """The colour and the marker of each algorithm."""
    return {name: style.points for name, style in styles_of(algorithms).items()}


def on_top(style: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """A style of points with more of it; those of agents of users are drawn above all others."""
    is_users = any(style["color"] == light for light, _ in OWN_COLOURS)
    return {**style, **more, **({"zorder": _TOP} if is_users else {})}


def line_styles(agents: Mapping[str, str]) -> PointStyles:
    """Lines for agents, given as algorithms by label: agents of one colour differ in dashes."""
    styles, used = point_styles(agents.values()), Counter[str]()
    lines = {}
    for label, algorithm in agents.items():
        style = styles[algorithm]
        lines[label] = {**style, "linestyle": _DASHES[used[style["color"]] % len(_DASHES)]}
        used[style["color"]] += 1
    return lines


def series(names: Iterable[str]) -> dict[str, Style]:
    """Styles in order, for series that are no algorithms."""
    return {name: _style(place) for place, name in enumerate(names)}


def _style(place: int) -> Style:
    row, column = divmod(place, _COLUMNS)
    marker = _MARKERS[(row + column) % len(_MARKERS)]
    return Style(*COLOURS[place % len(COLOURS)], marker, row)


def _own_style(number: int) -> Style:
    row, shade = divmod(number, len(OWN_COLOURS))
    marker = _OWN_MARKERS[row % len(_OWN_MARKERS)]
    return Style(*OWN_COLOURS[shade], marker, row % len(HATCHES))
