"""Results for people: in one line, and as a table in notebooks."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from ..agents import AGENTS
from ..arguments import counted, format_seconds
from .schema import EFFECTIVE_HYPOTHESES, Place, Quantity, shown_in
from .score import Score, named
from .times import ONLINE

if TYPE_CHECKING:
    from .result import Result

OVERLOADED = 0.1
"""Share of the time spent waiting for a core above which a machine is overloaded."""

FEW_PARTICLES = 10.0
"""Effective particles below which a sample stands badly for what is believed."""


def result_line(result: "Result") -> str:
    """A result in one line; parts have no time per decision yet."""
    time = f", {format_seconds(_online(result))} per decision" if result.online_seconds else ""
    load = f", machine overloaded: {_waiting(result)}" if is_overloaded(result.machine) else ""
    few = ", its prior's particles have collapsed" if has_collapsed(result) else ""
    return (
        f"Result({result.label} on {result.settings['name']}: {named(*_scores(result))}, "
        f"{counted(len(result.returns), 'MDP')}{time}{load}{few})"
    )


def has_collapsed(result: "Result") -> bool:
    """Whether few of the draws that stand for a prior are left at the end of trajectories."""
    left = result.columns.get(EFFECTIVE_HYPOTHESES)
    if left is None:
        return False
    return collapsed(result.settings, float(left.mean()), result.algorithm in AGENTS)


def collapsed(settings: Mapping[str, Any], effective: float | None, is_built_in: bool) -> bool:
    """Whether so few particles are left that what an agent believed was wrong.

    Where hypotheses are exact, few are fine. Agents of users have the prior's own belief, if any.
    """
    if effective is None or "particles" not in settings:
        return False
    return effective < FEW_PARTICLES and (is_built_in or not settings.get("own_belief"))


def is_overloaded(machine: Mapping[str, Any]) -> bool:
    """Whether a machine was so busy that wall times are too long."""
    return bool(machine.get("waiting_share", 0.0) > OVERLOADED)


def _waiting(result: "Result") -> str:
    return f"{100 * result.machine['waiting_share']:.0f}% waiting"


def _scores(result: "Result") -> tuple[Score, Score | None]:
    """The score, and the mean return if that differs; none is estimated now."""
    mean_return = Score(result.mean, result.ci95)
    is_known = result.expected is not None or "adjusted" in vars(result)
    is_adjusted = is_known and result.can_be_adjusted
    return (result.score, mean_return) if is_adjusted else (mean_return, None)


def _online(result: "Result") -> float:
    """The processor time per decision, or the mean time where only that is known."""
    return result.online_seconds.get(ONLINE, result.online_seconds["mean"])


def result_html(result: "Result") -> str:
    """A result as a table of HTML."""
    settings, (score, mean_return) = result.settings, _scores(result)
    mdps = counted(len(result.returns), "MDP")
    rows = [
        ("agent", result.label),
        ("experiment", f"{settings['name']}, {mdps}, seed {settings['seed']}"),
        *([] if mean_return is None else [("score", str(score))]),
        ("mean return", str(mean_return or score)),
        ("offline time", format_seconds(result.offline_seconds)),
        ("online time", f"{format_seconds(_online(result))} per decision"),
    ]
    if is_overloaded(result.machine):
        rows.append(("machine", f"overloaded: {_waiting(result)}"))
    numbers = result.summarised()
    for quantity in shown_in(Place.NOTEBOOK):
        if (number := numbers[quantity.name]) is not None:
            rows.append((quantity.title, format_number(quantity, number)))
    if result.overruns is not None:
        rows.append(("past the deadline", f"{100 * result.overruns:.2g}% of decisions"))
    return html_table((), rows)


def format_number(quantity: Quantity, number: Any) -> str:
    """A number in its unit, for people; a dash if it is unknown."""
    if number is None:
        return "\N{EN DASH}"
    if quantity.unit == "B":
        size = number / 2**20  # less than one can't be measured
        return "< 1 MiB" if size < 1 else f"{size:.{1 if size < 9.95 else 0}f} MiB"
    return format_seconds(number) if quantity.unit == "s" else f"{number:.4g}"


def html_table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table of HTML with escaped texts; without a head if that is empty."""
    parts = [_html_row("th", head), *(_html_row("td", row) for row in rows)]
    return f"<table>{''.join(parts)}</table>"


def _html_row(tag: str, cells: Iterable[object]) -> str:
    shown = "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells)
    return f"<tr>{shown}</tr>" if shown else ""
