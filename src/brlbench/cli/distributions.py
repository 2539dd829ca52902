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


def print_distribution(distribution: FlatDirichlet) -> None:
    """Print the size and the start of a distribution, and its possible transitions."""
    console.print(verbatim(distribution.name or "unnamed", style="bold"), end="")
    say(f": {distribution.description}" if distribution.description else "")
    number = len(distribution.counts.values)
    say(
        f"{distribution.num_states} states, {distribution.num_actions} actions, {number} possible "
        f"transitions; start: {_start(distribution)}"
    )
    console.print(transition_table(distribution))
    if number > _MOST_ROWS:
        say(f"… and {number - _MOST_ROWS} more: write them all with --output problem.toml")


def transition_table(distribution: FlatDirichlet) -> Table:
    """The first possible transitions: count, mean probability, reward and its variance."""
    counts = distribution.counts
    columns = [
        *np.divmod(counts.pair, distribution.num_actions),
        counts.next_state,
        counts.values,
        distribution.mean().transitions.at(counts),
        distribution.rewards.mean.at(counts),
        distribution.rewards.variance.at(counts),
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


def draw_distribution(distribution: FlatDirichlet, path: Path, overwrite: bool) -> None:
    """Draw the states and the possible transitions between them."""
    if path.suffix not in _SUFFIXES:
        raise InvalidInput(f"{path}: a drawing's name must end in {', '.join(_SUFFIXES)}")
    check_free(path, overwrite)
    from ..report.drawings import transitions
    from ..report.figures import render

    atomic_write(path, render(transitions(distribution), path.suffix), overwrite)


def _start(distribution: FlatDirichlet) -> str:
    states = np.flatnonzero(distribution.start)
    shares = distribution.start[states]
    if len(states) == 1:
        return f"state {states[0]}"
    if len(states) == distribution.num_states and np.ptp(shares) == 0:
        return "any state, all equally likely"
    shown = [
        f"{state} ({share:.3g})"
        for state, share in zip(states[:_MOST_STARTS], shares[:_MOST_STARTS], strict=True)
    ]
    rest = len(states) - len(shown)
    return f"states {', '.join(shown)}" + (f" and {rest} more" if rest else "")
