"""A distribution over MDPs, printed and drawn."""

from pathlib import Path

import numpy as np
from rich import box
from rich.table import Table

from ..errors import InvalidInput
from ..files import atomic_write, check_free
from ..mdps.dirichlet import FlatDirichlet
from .output import console, say, verbatim

_MOST_ROWS = 60  # transitions that are printed
_MOST_STARTS = 8  # start states that are printed
_SUFFIXES = (".png", ".pdf", ".svg")


def print_distribution(found: FlatDirichlet) -> None:
    """Print the size and the start of a distribution, and its possible transitions."""
    console.print(verbatim(found.name or "unnamed", style="bold"), end="")
    say(f": {found.description}" if found.description else "")
    number = len(found.counts.values)
    say(
        f"{found.num_states} states, {found.num_actions} actions, {number} possible transitions; "
        f"start: {_start(found)}"
    )
    console.print(transition_table(found))
    if number > _MOST_ROWS:
        say(f"… and {number - _MOST_ROWS} more: write them all with --output problem.toml")


def transition_table(found: FlatDirichlet) -> Table:
    """The first possible transitions: count, mean probability, reward and its variance."""
    counts = found.counts
    columns = [
        *np.divmod(counts.pair, found.num_actions),
        counts.next_state,
        counts.values,
        found.mean().transitions.at(counts),
        found.rewards.mean.at(counts),
        found.rewards.variance.at(counts),
    ]
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("state", "action", "next state", "count", "probability", "reward", "variance"):
        table.add_column(name, justify="right")
    before = None
    for row in zip(*(column[:_MOST_ROWS].tolist() for column in columns), strict=True):
        pair, numbers = row[:2], [f"{number:g}" for number in row[2:]]
        table.add_row(*(("", "") if pair == before else map(str, pair)), *numbers)
        before = pair
    return table


def draw_distribution(found: FlatDirichlet, path: Path, overwrite: bool) -> None:
    """Draw the states and the possible transitions between them."""
    if path.suffix not in _SUFFIXES:
        raise InvalidInput(f"{path}: a drawing's name must end in {', '.join(_SUFFIXES)}")
    check_free(path, overwrite)
    from ..report.drawings import transitions
    from ..report.figures import render

    atomic_write(path, render(transitions(found), path.suffix), overwrite)


def _start(found: FlatDirichlet) -> str:
    states = np.flatnonzero(found.start)
    shares = found.start[states]
    if len(states) == 1:
        return f"state {states[0]}"
    if len(states) == found.num_states and np.ptp(shares) == 0:
        return "any state, all equally likely"
    shown = [
        f"{state} ({share:.3g})"
        for state, share in zip(states[:_MOST_STARTS], shares[:_MOST_STARTS], strict=True)
    ]
    rest = len(states) - len(shown)
    return f"states {', '.join(shown)}" + (f" and {rest} more" if rest else "")
