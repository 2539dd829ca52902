"""The colour, marker and hatching of every algorithm: the same in all figures and pages."""

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

# Okabe and Ito's colours with Tol's wine for their yellow, which is faint on white: people with any
# kind of colour vision can tell them apart. The second of a pair is for dark ground.
COLOURS = (
    ("#0072B2", "#0072B2"),
    ("#D55E00", "#D55E00"),
    ("#009E73", "#009E73"),
    ("#CC79A7", "#CC79A7"),
    ("#E69F00", "#E69F00"),
    ("#56B4E9", "#56B4E9"),
    ("#000000", "#E6E6E6"),
    ("#882255", "#A6336B"),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "\\\\\\\\", "....", "xxxx", "////", "||||", "oooo", "----")
"""Hatchings for Matplotlib; `report/web/map.js` draws the same ones, in this order."""

# An algorithm's column is its colour, and its row its hatching. Add names, never move them.
_TABLE = (
    ("bamcp", "opps-ds", "soft-max", "beb", "epsilon-greedy", "bfs3", "random", "sboss"),
    ("vdbe", "psrl", "opps-cs", "boss", "hindsight", "lookahead", "optimal", "formula"),
    ("spread", "bolt", "vpi", "mbie-eb", "vbrb", "sparse-prior", "random-mix", "ann"),
    ("gittins", "ucrl2", "q-learning", "r-max", "bonus", "eubrl", "ucbvi", ""),
    ("mc-brl", "opsrl", "", "ids", "", "", "rlsvi", ""),
)
_DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)), (0, (8, 4)))
_COLUMNS = len(COLOURS)
_PLACES = {name: i for i, name in enumerate(sum(_TABLE, ())) if name}
_OWN = range(len(_TABLE) * _COLUMNS, len(HATCHES) * _COLUMNS)  # places for agents of users

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
    """A style for each algorithm, in the order given; no two are alike if there are at most 64.

    Built-in algorithms have places in a table. The place of any other follows from its name; where
    two names lead to one place, the second in alphabetical order takes the next free one.
    """
    names = list(dict.fromkeys(algorithms))
    places = {name: _PLACES[name] for name in names if name in _PLACES}
    taken = set(places.values())
    free = [place for place in range(_OWN.stop) if place not in _OWN]
    for name in sorted(set(names) - places.keys()):
        first = zlib.crc32(name.encode(errors="replace")) % len(_OWN)
        wanted = [*_OWN[first:], *_OWN[:first], *free]
        places[name] = next((place for place in wanted if place not in taken), wanted[0])
        taken.add(places[name])
    return {name: _style(places[name]) for name in names}


def point_styles(algorithms: Iterable[str]) -> PointStyles:
    """The colour and the marker of each algorithm."""
    return {name: style.points for name, style in styles_of(algorithms).items()}


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
    return Style(*COLOURS[column], _MARKERS[(row + column) % len(_MARKERS)], row)
