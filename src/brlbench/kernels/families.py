"""Functions of beliefs that agents use, whatever the family; and the flat family.

A compiled belief is a NamedTuple that says what a transition teaches beyond its own pair. Agents
keep `Counts` beside it: the Dirichlet parameters of each pair's row, or effective ones, which have
the same mean and the same summed variance. Entries of a row are outcomes: next states, each with
its reward; where rewards are unknown, a next state can have several entries. The functions here
bring both up to date. Each family has its own (see `dispatch`): those of flat priors stand below,
the others in `beliefs`.
"""

from typing import Any, NamedTuple

from .counts import Counts, add, add_rewarded
from .counts import spread as spread_of_counts
from .dispatch import Functions, by_type, provide
from .types import Floats


class Flat(NamedTuple):
    """The belief of flat priors: all that is known are the counts."""


@by_type
def reset(belief: Any, initial: Any) -> None:
    """Back to the initial belief."""


@by_type
def begin(belief: Any, x: int) -> bool:  # type: ignore[empty-body]
    """Learn from a start state; return whether that taught anything."""


@by_type
def recount(belief: Any, counts: Counts, entry_reward: Floats) -> int:  # type: ignore[empty-body]
    """Bring the counts up to date with the belief; return how many pairs' rows changed."""


@by_type
def count(belief: Any, counts: Counts, pair: int, y: int, r: float) -> int:  # type: ignore[empty-body]
    """Learn from a transition; bring the counts up to date; return how many pairs' rows changed."""


@by_type
def count_rewarded(  # type: ignore[empty-body]
    belief: Any, counts: Counts, entry_reward: Floats, pair: int, y: int, r: float
) -> int:
    """As `count`, and keep `entry_reward` [pool], the rewards of all entries."""


@by_type
def observe(belief: Any, counts: Counts, entry_reward: Floats, pair: int, y: int, r: float) -> None:
    """Learn from a transition, for agents that draw MDPs: effective counts are left as they are."""


@by_type
def changed(belief: Any, pair: int, i: int) -> int:  # type: ignore[empty-body]
    """The i-th pair whose row changed when a transition of `pair` was counted last."""


@by_type
def overwrites(belief: Any) -> bool:  # type: ignore[empty-body]
    """Whether counting sets changed rows anew, with all that an agent has added to them."""


@by_type
def revalues(belief: Any) -> bool:  # type: ignore[empty-body]
    """Whether counting changes the rewards of entries."""


@by_type
def spread(belief: Any, counts: Counts, pair: int) -> float:  # type: ignore[empty-body]
    """`counts.spread`, of a pair's next states and of what else its transitions tell apart."""


@by_type
def reward_variance(belief: Any, pair: int) -> float:  # type: ignore[empty-body]
    """The variance of the pair's reward that entries do not show, where rewards are unknown."""


@by_type
def as_flat(belief: Any) -> Any:
    """The same belief, in which transitions of a pair teach about no other."""


def _as_flat(belief: Any) -> Flat:
    return Flat()


def _spread(belief: Any, counts: Counts, pair: int) -> float:
    return spread_of_counts(counts, pair)


def _reward_variance(belief: Any, pair: int) -> float:
    return 0.0


def _revalues(belief: Any) -> bool:
    return overwrites(belief)


_COMMON: Functions = {
    spread: _spread,
    reward_variance: _reward_variance,
    revalues: _revalues,
    as_flat: _as_flat,
}
provide(tuple, _COMMON)


def _reset(belief: Flat, initial: Flat) -> None:
    pass


def _begin(belief: Any, x: int) -> bool:
    return False


def _recount(belief: Any, counts: Counts, entry_reward: Floats) -> int:
    return 0


def _count(belief: Flat, counts: Counts, pair: int, y: int, r: float) -> int:
    add(counts, pair, y)
    return 1


def _count_rewarded(
    belief: Flat, counts: Counts, entry_reward: Floats, pair: int, y: int, r: float
) -> int:
    add_rewarded(counts, entry_reward, pair, y)
    return 1


def _observe(
    belief: Flat, counts: Counts, entry_reward: Floats, pair: int, y: int, r: float
) -> None:
    add_rewarded(counts, entry_reward, pair, y)


def _changed(belief: Flat, pair: int, i: int) -> int:
    return pair


def _overwrites(belief: Flat) -> bool:
    return False


provide(tuple, {begin: _begin, recount: _recount})
provide(
    Flat,
    {
        reset: _reset,
        begin: _begin,
        recount: _recount,
        count: _count,
        count_rewarded: _count_rewarded,
        observe: _observe,
        changed: _changed,
        overwrites: _overwrites,
        **_COMMON,
    },
)
