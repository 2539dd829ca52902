"""Time in BFS3's search: in episodes, bounds are those of the decisions left up to the horizon.

With n decisions left, values are within the least and the greatest reward times S_n, the sum of the
first n powers of the discount. So bounds depend on the level and on the time. No path goes beyond
the horizon. At the border of two episodes, each outcome has a drawn start state.

Level -1 is the action to choose; the roots of searches have level 0.
"""

from typing import Any, NamedTuple

import numpy as np

from ...beliefs.base import Family
from ...kernels.arrays import at
from ...kernels.dispatch import by_type, provide
from ...kernels.jit import inlined
from ...kernels.random.multinomial import NOTHING_SHARED, new_draws, share_next
from ...kernels.random.rng import State
from ...kernels.solving.plans import Endless
from ...kernels.types import Floats, Integers
from ...mdps.task import Task
from .bounds import Constants
from .tree import NOT_FOLLOWED, OUTCOMES, Trees

_ROUNDING = 1e-12  # of bounds, relative to their range
_MARGIN = 1 + 1e-9


class Spans(NamedTuple):
    """The decisions up to the horizon T, in episodes of L with K start states; D is the depth."""

    length: int  # L
    horizon: int  # T
    step: Integers  # [1]; decisions made
    state: Integers  # [K]; the start states
    probability: Floats  # [K]
    reward_min: float
    reward_max: float
    power: Floats  # [D + 1]; powers of the discount
    total: Floats  # [T + 1]; S_n
    skips: bool  # whether complete outcomes are passed over
    # Of the present decision:
    depth: Integers  # [1]; at most D and the decisions that follow
    low: Floats  # [D + 1]; bounds of values, by level
    high: Floats  # [D + 1]
    complete: Floats  # [D + 1]; as in `Constants`
    skipped: Floats  # [D + 1]


def powers(discount: float, number: int) -> Floats:
    """The powers of a discount [number + 1]."""
    return np.asarray(discount ** np.arange(number + 1.0))


def build_spans(
    prior: Family, task: Task, depth: int, rewards: Floats, skips: bool
) -> Spans | Endless:
    """The time that agents are told, from the rewards that are possible."""
    if task.episode is None:
        return Endless()
    states = np.flatnonzero(prior.start)
    return Spans(
        length=task.episode,
        horizon=task.horizon,
        step=np.zeros(1, np.int64),
        state=states,
        probability=np.asarray(prior.start)[states],
        reward_min=float(rewards.min()),
        reward_max=float(rewards.max()),
        power=powers(task.discount, depth),
        total=np.concatenate([[0.0], np.cumsum(powers(task.discount, task.horizon - 1))]),
        skips=skips,
        depth=np.zeros(1, np.int64),
        low=np.zeros(depth + 1),
        high=np.zeros(depth + 1),
        complete=np.zeros(depth + 1),
        skipped=np.full(depth + 1, -np.inf),
    )


@by_type
def begin(spans: Any) -> None:
    """A trajectory begins."""


@by_type
def advance(spans: Any) -> None:
    """A real decision was made."""


@by_type
def begin_search(spans: Any, constants: Constants) -> Constants:  # type: ignore[empty-body]
    """Prepare for a search; return its constants."""


@by_type
def constants_at(spans: Any, constants: Constants, level: int) -> Constants:  # type: ignore[empty-body]
    """The constants of edges at a level: their bounds are those of the next level."""


@by_type
def add_outcomes(  # type: ignore[empty-body]
    spans: Any, tree: Trees, level: int, y: int, entry: int, times: int, state: State
) -> State:
    """Add some draws of a next state to the last edge, which is at a level."""


@inlined
def add_outcome(tree: Trees, y: int, entry: int, times: int) -> None:
    """Add an outcome to the last edge."""
    o = tree.size[OUTCOMES]
    outcome = tree.outcome[at(o)]
    outcome.next_state, outcome.entry, outcome.times = y, entry, times
    outcome.child_kind = NOT_FOLLOWED
    tree.size[OUTCOMES] = o + 1


def _nothing(spans: Endless) -> None:
    pass


def _same(spans: Endless, constants: Constants) -> Constants:
    return constants


def _same_at(spans: Endless, constants: Constants, level: int) -> Constants:
    return constants


def _add(
    spans: Endless, tree: Trees, level: int, y: int, entry: int, times: int, state: State
) -> State:
    add_outcome(tree, y, entry, times)
    return state


provide(
    Endless,
    {
        begin: _nothing,
        advance: _nothing,
        begin_search: _same,
        constants_at: _same_at,
        add_outcomes: _add,
    },
)


def _begin(spans: Spans) -> None:
    spans.step[0] = 0


def _advance(spans: Spans) -> None:
    spans.step[0] += 1


def _begin_search(spans: Spans, constants: Constants) -> Constants:
    after = max(0, spans.horizon - int(spans.step[0]) - 1)
    depth = min(len(spans.low) - 1, after)
    spans.depth[0] = depth
    for level in range(depth + 1):
        spans.low[level] = spans.reward_min * spans.total[after - level]
        spans.high[level] = spans.reward_max * spans.total[after - level]
    least = (spans.high[0] - spans.low[0]) * _ROUNDING
    leaves = spans.high[depth] - spans.low[depth]
    for level in range(depth + 1):
        spans.complete[level] = leaves * spans.power[depth - level] * _MARGIN + least
        if spans.skips:
            spans.skipped[level] = spans.complete[level]
    return _constants_at(spans, constants, -1)


@inlined
def _constants_at(spans: Spans, constants: Constants, level: int) -> Constants:
    scale = max(abs(spans.low[0]), abs(spans.high[0]))
    return Constants(
        depth=int(spans.depth[0]),
        branching=constants.branching,
        discount=constants.discount,
        value_min=spans.low[level + 1],
        value_max=spans.high[level + 1],
        per_draw=constants.per_draw,
        share=constants.share,
        stretch=constants.stretch,
        scale=scale,
        rounding=_ROUNDING * scale,
        complete=spans.complete,
        skipped=spans.skipped,
    )


def _add_starts(
    spans: Spans, tree: Trees, level: int, y: int, entry: int, times: int, state: State
) -> State:
    made = int(spans.step[0]) + level + 2
    if made % spans.length != 0 or made >= spans.horizon:
        add_outcome(tree, y, entry, times)
        return state
    last = len(spans.state) - 1
    draws, state = new_draws(state, times, 1.0)
    shared = NOTHING_SHARED
    for k in range(last + 1):
        before = shared.number
        number = times - before
        if k < last:  # the last one takes the rest, so that rounding loses no draw
            shared, state = share_next(state, draws, shared, spans.probability[k])
            number = shared.number - before
        if number > 0:
            add_outcome(tree, spans.state[k], entry, number)
    return state


provide(
    Spans,
    {
        begin: _begin,
        advance: _advance,
        begin_search: _begin_search,
        constants_at: _constants_at,
        add_outcomes: _add_starts,
    },
)
