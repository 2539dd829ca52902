"""A distribution over MDPs, printed and drawn."""

from pathlib import Path

import numpy as np
from rich import box
from rich.table import Table

from ..arguments import counted
from ..beliefs.base import Family
from ..beliefs.counting import CountingPrior
from ..beliefs.hypotheses import Hypotheses
from ..beliefs.own import OwnDistribution
from ..beliefs.tied import TiedDirichlet
from ..errors import InvalidInput
from ..files import atomic_write, check_free
from .output import console, say, verbatim

_MOST_ROWS = 60  # transitions that are printed
_MOST_STARTS = 8  # start states that are printed
_SUFFIXES = (".png", ".pdf", ".svg")


def print_distribution(distribution: Family) -> None:
    """Print the size and the start of a distribution, and its possible transitions."""
    console.print(verbatim(distribution.name or "unnamed", style="bold"), end="")
    say(f": {distribution.description}" if distribution.description else "")
    number = distribution.num_transitions
    say(
        f"{counted(distribution.num_states, 'state')}, "
        f"{counted(distribution.num_actions, 'action')}, {number} possible "
        f"transitions; start: {_start(distribution)}"
    )
    if kind := _kind(distribution):
        say(kind)
    if isinstance(distribution, CountingPrior) and distribution.reward_prior is not None:
        say(f"unknown rewards: {distribution.reward_prior}")
    console.print(transition_table(distribution))
    if number > _MOST_ROWS:
        say(f"… and {number - _MOST_ROWS} more: write them all with --output problem.toml")


def _kind(distribution: Family) -> str:
    """Facts about a family besides its mean; empty for flat ones."""
    if isinstance(distribution, TiedDirichlet):
        groups = counted(len(distribution.group_counts), "group")
        return f"{groups} of pairs, each with one unknown row"
    if isinstance(distribution, Hypotheses):
        likeliest = float(distribution.weights.max())
        number = counted(len(distribution), "hypothesis")
        return f"{number}, the likeliest with probability {likeliest:.3g}"
    if isinstance(distribution, OwnDistribution):
        belief = "its own belief" if distribution.has_belief else "no belief of its own"
        return f"a distribution of yours, with {belief}; its mean is that of particles"
    return ""


def transition_table(distribution: Family) -> Table:
    """The first possible transitions: count, mean probability, reward and its variance."""
    counts, mean = getattr(distribution, "counts", None), distribution.mean()
    places = mean.transitions if counts is None else counts
    rewards = distribution.known_rewards or mean.rewards
    columns = {
        "state": places.pair // distribution.num_actions,
        "action": places.pair % distribution.num_actions,
        "next state": places.next_state,
        **({} if counts is None else {"count": counts.values}),
        "probability": mean.transitions.at(places),
        "reward": rewards.mean.at(places),
        "variance": rewards.variance.at(places),
    }
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in columns:
        table.add_column(name, justify="right")
    before = None
    for row in zip(*(column[:_MOST_ROWS].tolist() for column in columns.values()), strict=True):
        pair, numbers = row[:2], [f"{number:g}" for number in row[2:]]
        table.add_row(*(("", "") if pair == before else map(str, pair)), *numbers)
        before = pair
    return table


def draw_distribution(distribution: Family, path: Path, overwrite: bool) -> None:
    """Draw the states and the possible transitions between them."""
    if path.suffix not in _SUFFIXES:
        raise InvalidInput(f"{path}: a drawing's name must end in {', '.join(_SUFFIXES)}")
    check_free(path, overwrite)
    from ..report.drawings import transitions
    from ..report.figures import render

    atomic_write(path, render(transitions(distribution), path.suffix), overwrite)


def _start(distribution: Family) -> str:
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
