"""Results as tables of programs, and as what notebooks show."""

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import format_seconds
from ..memory import format_mebibytes

if TYPE_CHECKING:
    from .result import Result


def columns_of(result: "Result", paths: bool) -> dict[str, Any]:
    """One row per trajectory; rewards and times of decisions if they are kept.

    Args:
        result: the result.
        paths: whether states and actions are wanted too, if they are kept.
    """
    returns = result.trajectory_returns
    mdps, per_mdp = returns.shape
    columns: dict[str, Any] = {
        "mdp": np.repeat(np.arange(mdps), per_mdp),
        "trajectory": np.tile(np.arange(per_mdp), mdps),
        "return": returns.ravel(),
    }
    if result.is_measured:
        columns["cpu_nanoseconds"] = result.cpu_nanoseconds.ravel()
    names = ["rewards"] if result.keeps_rewards else []
    if result.totals is None:
        names.append("nanoseconds")
    if paths and result.states is not None and result.actions is not None:
        names += ["states", "actions"]
    if result.noise is not None:
        names += ["noise", "start_values"]
    return columns | {name: _rows(getattr(result, name)) for name in names}


def _rows(array: Any) -> Any:
    """One row per trajectory."""
    return array.reshape(-1, array.shape[-1])


def result_line(result: "Result") -> str:
    """A result in one line."""
    online = format_seconds(result.online_seconds["mean"])
    return (
        f"Result({result.label} on {result.settings['name']}: {result.score}, "
        f"{len(result.returns)} MDPs, {online} per decision)"
    )


def result_html(result: "Result") -> str:
    """A result as a table of HTML."""
    settings = result.settings
    rows = [
        ("agent", result.label),
        ("experiment", f"{settings['name']}, {len(result.returns)} MDPs, seed {settings['seed']}"),
        ("mean return", str(result.score)),
        ("offline time", format_seconds(result.offline_seconds)),
        ("online time", f"{format_seconds(result.online_seconds['mean'])} per decision"),
    ]
    if result.can_be_adjusted and result.expected is not None:  # known without estimating it now
        rows.insert(2, ("adjusted score", str(result.adjusted.score)))
    if result.peak_bytes is not None:
        rows.append(("memory", f"{format_mebibytes(result.peak_bytes)} at its peak"))
    if result.overruns is not None:
        rows.append(("past the deadline", f"{100 * result.overruns:.2g}% of decisions"))
    return html_table((), rows)


def html_table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table of HTML with escaped texts; without a head if that is empty."""
    parts = [_html_row("th", head), *(_html_row("td", row) for row in rows)]
    return f"<table>{''.join(parts)}</table>"


def _html_row(tag: str, cells: Iterable[object]) -> str:
    shown = "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells)
    return f"<tr>{shown}</tr>" if shown else ""
