"""An urn of a tied prior: draws are outcomes of groups, which lead each pair elsewhere."""

from typing import Any, NamedTuple

import numpy as np

from ...beliefs.flat import FlatDirichlet
from ...beliefs.tied import TiedDirichlet
from ...builders.model import build_counts
from ...builders.planning import reward_table
from ...kernels.arrays import at
from ...kernels.counts import Counts
from ...kernels.jit import inlined
from ...kernels.random.rng import State
from ...kernels.types import Floats, Integers, ShortIntegers
from . import urn as urns


class TiedUrn(NamedTuple):
    """The posterior, and up to L draws from one of its MDPs."""

    rows: Any  # BallUrn or TableUrn, with groups as pairs and outcomes as next states
    counts: Counts  # the prior's; only its rewards are used
    rewards: Floats  # [P * S], or empty where that is too much
    limit: int  # L
    group: Integers  # [P]
    next_state: Integers  # [P, O]
    is_possible: Floats  # [G, O]; the prior's counts: positive if the outcome is possible
    last: Integers  # [1]; the outcome that was drawn last
    pair_of: ShortIntegers  # [L]; the pair of each draw


def as_rows(prior: TiedDirichlet) -> FlatDirichlet:
    """The rows of the groups as those of a flat prior; pairs beyond them mean nothing."""
    groups, outcomes = prior.group_counts.shape
    size = max(groups, outcomes)
    counts = np.zeros((size, 1, size))
    counts[:groups, 0, :outcomes] = prior.group_counts
    counts[groups:, 0, 0] = 1.0
    return FlatDirichlet(counts, 0)


def build_tied_urn(prior: TiedDirichlet, horizon: int, limit: int) -> TiedUrn:
    """The prior as an urn for at most `limit` draws at a time; it must be reset first."""
    return TiedUrn(
        rows=urns.build_urn(as_rows(prior), horizon, False, limit),
        counts=build_counts(prior, 0, background=False),
        rewards=reward_table(prior),
        limit=limit,
        group=prior.group.ravel().copy(),
        next_state=prior.next_state.reshape(prior.group.size, -1).copy(),
        is_possible=prior.group_counts.copy(),
        last=np.zeros(1, np.int64),
        pair_of=np.zeros(limit, np.int32),
    )


def reset(urn: TiedUrn, x: int) -> None:
    """Back to the prior."""
    urns.reset(urn.rows, x)


def allows(urn: TiedUrn, pair: int, y: int) -> bool:
    """Whether a real transition is an outcome of the pair's group."""
    group = urn.group[pair]
    for outcome in range(urn.next_state.shape[1]):
        if urn.next_state[pair, outcome] == y and urn.is_possible[group, outcome] > 0:
            return True
    return False


def learn(urn: TiedUrn, pair: int, y: int, r: float) -> None:
    """Count one more outcome of the pair's group; an impossible one teaches nothing."""
    group = urn.group[pair]
    for outcome in range(urn.next_state.shape[1]):
        if urn.next_state[pair, outcome] == y and urn.is_possible[group, outcome] > 0:
            urns.learn(urn.rows, group, outcome, r)


@inlined
def draw(urn: TiedUrn, pair: int, state: State) -> tuple[int, State]:
    """Draw a next state; it counts for later draws once it is pushed."""
    outcome, state = urns.draw(urn.rows, urn.group[at(pair)], state)
    urn.last[0] = outcome
    return int(urn.next_state[at(pair), at(outcome)]), state


@inlined
def draw_after(urn: TiedUrn, pair: int, word: np.uint64, state: State) -> tuple[int, State]:
    """The same, given a random word whose lower half is not used otherwise."""
    outcome, state = urns.draw_after(urn.rows, urn.group[at(pair)], word, state)
    urn.last[0] = outcome
    return int(urn.next_state[at(pair), at(outcome)]), state


@inlined
def push(urn: TiedUrn, draws: int, pair: int, y: int) -> None:
    """Let the last draw count for later ones; `draws` is the number of earlier draws."""
    urns.push(urn.rows, draws, urn.group[at(pair)], urn.last[0])
    urn.pair_of[at(draws)] = pair


@inlined
def undo(urn: TiedUrn, draws: int) -> None:
    """Take back all draws; `draws` is their number."""
    urns.undo(urn.rows, draws)
