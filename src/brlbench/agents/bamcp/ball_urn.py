"""An urn with a ball for each count: a draw picks a ball, and a draw that is pushed adds one."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...beliefs.flat import FlatDirichlet
from ...builders.model import build_counts
from ...builders.planning import reward_table
from ...kernels.arrays import at, copy_vector
from ...kernels.counts import Counts
from ...kernels.jit import inlined
from ...kernels.random.rng import LOW_HALF, State, advance
from ...kernels.types import Floats, ShortIntegers

_HALF = np.uint64(32)
# Beyond this many counts, balls do not fit into near caches, and tables are as fast.
_MAX_COUNTS = 1 << 17
_MAX_BALLS = 1 << 24  # with those that may be learned and drawn
MAX_BYTE = 1 << 8  # states whose numbers take a byte
_MAX_STATES = 1 << 16
# Up to this many pairs per draw, copying the sizes of all pairs takes less time than undoing draws.
_FEW = 8


class BallUrn(NamedTuple):
    """The posterior, and up to L draws from one of its MDPs."""

    counts: Counts  # the prior's; only its rewards are used
    rewards: Floats  # [P * S], or empty where that is too much
    limit: int  # L
    room: int  # R; balls that fit, per pair
    balls: NDArray[np.uint8] | NDArray[np.uint16]  # [P * R]; the prior's, learned ones, then draws
    initial: ShortIntegers  # [P]; the number of the prior's balls
    learned: ShortIntegers  # [P]; these and the learned ones
    size: ShortIntegers  # [P]; with draws
    pair_of: ShortIntegers  # [L]; the pair of each draw


def has_balls(prior: FlatDirichlet, horizon: int, limit: int) -> bool:
    """Whether all counts are whole, and their balls take little memory."""
    counts, totals = prior.counts.values, prior.counts.row_sums()
    balls = len(totals) * (totals.max() + horizon + limit)
    is_small = totals.sum() <= _MAX_COUNTS and balls <= _MAX_BALLS
    return bool(is_small and prior.num_states <= _MAX_STATES and (counts % 1 == 0).all())


def build_balls(prior: FlatDirichlet, horizon: int, limit: int) -> BallUrn:
    """The prior, with room for the transitions of a horizon and for `limit` draws."""
    table, totals = prior.counts, prior.counts.row_sums()
    initial = totals.astype(np.int32)
    room = int(initial.max()) + horizon + limit
    balls: Any = np.zeros(
        len(initial) * room, np.uint8 if prior.num_states <= MAX_BYTE else np.uint16
    )
    next_states = np.repeat(table.next_state, table.values.astype(np.int64))
    unused = room * np.arange(len(initial)) - (np.cumsum(initial) - initial)  # before each row
    balls[np.arange(len(next_states)) + np.repeat(unused, initial)] = next_states
    return BallUrn(
        counts=build_counts(prior, 0),
        rewards=reward_table(prior),
        limit=limit,
        room=room,
        balls=balls,
        initial=initial,
        learned=initial.copy(),
        size=initial.copy(),
        pair_of=np.zeros(limit, np.int32),
    )


@inlined
def reset(urn: BallUrn, x: int) -> None:
    """Back to the prior."""
    copy_vector(urn.learned, urn.initial)
    copy_vector(urn.size, urn.initial)


@inlined
def learn(urn: BallUrn, pair: int, y: int, r: float) -> None:
    """Count one more real transition."""
    size = urn.learned[pair] + 1
    if size + urn.limit > urn.room:
        raise IndexError("more decisions than the agent was trained for (task.horizon)")
    urn.balls[pair * urn.room + size - 1] = y
    urn.learned[pair] = size
    urn.size[pair] = size


@inlined
def draw(urn: BallUrn, pair: int, state: State) -> tuple[int, State]:
    """Draw a next state; it counts for later draws once it is pushed."""
    word, state = advance(state)
    return draw_after(urn, pair, word, state)


@inlined
def draw_after(urn: BallUrn, pair: int, word: np.uint64, state: State) -> tuple[int, State]:
    """The same, given a random word whose lower half is not used otherwise."""
    place = ((word & LOW_HALF) * at(urn.size[at(pair)])) >> _HALF
    return int(urn.balls[at(pair * urn.room) + place]), state


@inlined
def push(urn: BallUrn, draws: int, pair: int, y: int) -> None:
    """Let a draw count for later ones; `draws` is the number of earlier draws."""
    size = urn.size[at(pair)]
    urn.balls[at(pair * urn.room + size)] = y
    urn.size[at(pair)] = size + 1
    urn.pair_of[at(draws)] = pair


@inlined
def undo(urn: BallUrn, draws: int) -> None:
    """Take back all draws; `draws` is their number."""
    if len(urn.size) <= _FEW * draws:
        copy_vector(urn.size, urn.learned)
    else:
        for i in range(draws):
            pair = at(urn.pair_of[i])
            urn.size[pair] = urn.learned[pair]
