"""BFS3's belief under any prior, in episodes or not: it learns along a path, and is restored after.

An outcome is an entry of a pair's row: a next state with its reward.
"""

from typing import Any, NamedTuple

from ...beliefs.base import Family
from ...builders.belief import Knowledge, build_belief
from ...builders.model import build_saved_rows, copy
from ...kernels import families
from ...kernels.arrays import copy_vector
from ...kernels.counts import reset as reset_counts
from ...kernels.jit import inlined
from ...kernels.solving.undo import SavedRows, restore_rows, save_rows
from ...mdps.task import Task
from .bounds import Constants
from .spans import advance, begin, begin_search, build_spans

OBSERVED, ROOT = 0, 1  # copies in `saved`: at the decision; at the root of a search
_NUM_SAVED = 2


class AnyBelief(NamedTuple):
    """A belief of any family whose entries keep their places, and copies to go back to."""

    known: Knowledge
    initial: Knowledge
    saved: SavedRows
    spans: Any  # Spans, or Endless without episodes
    most_special: int  # 0: no next state is drawn apart from the others


def build_any_belief(prior: Family, task: Task, depth: int, skips: bool) -> AnyBelief:
    """The prior, with room for copies and for what is learned."""
    initial = build_belief(prior, task.horizon, background=False, by_outcome=True)
    possible = initial.entry_reward[initial.counts.entry_count > 0]
    return AnyBelief(
        spans=build_spans(prior, task, depth, possible, skips),
        known=copy(initial),
        initial=initial,
        saved=build_saved_rows(*initial, number=_NUM_SAVED),
        most_special=0,
    )


def reset(belief: AnyBelief) -> None:
    """Back to the prior."""
    known, initial = belief.known, belief.initial
    reset_counts(known.counts, initial.counts)
    families.reset(known.belief, initial.belief)
    copy_vector(known.entry_reward, initial.entry_reward)
    begin(belief.spans)


def prepare(belief: AnyBelief, constants: Constants) -> Constants:
    """Prepare for a search; return its constants."""
    return begin_search(belief.spans, constants)


@inlined
def learn_pair(belief: AnyBelief, pair: int, y: int, r: float) -> None:
    """Learn from a transition of a pair."""
    known = belief.known
    families.count_rewarded(known.belief, known.counts, known.entry_reward, pair, y, r)


def learn(belief: AnyBelief, x: int, u: int, y: int, r: float) -> None:
    """Learn from a real transition."""
    learn_pair(belief, x * belief.known.counts.num_actions + u, y, r)
    advance(belief.spans)


@inlined
def learn_outcome(belief: AnyBelief, pair: int, entry: int) -> None:
    """Learn from an outcome of the search."""
    counts = belief.known.counts
    learn_pair(belief, pair, counts.entry_next[entry], belief.known.entry_reward[entry])


@inlined
def save(belief: AnyBelief, k: int) -> None:
    """Save what is known as number k."""
    known = belief.known
    save_rows(known.belief, known.counts, known.entry_reward, belief.saved, k)


@inlined
def restore(belief: AnyBelief, k: int) -> None:
    """Back to what was known at number k."""
    known = belief.known
    restore_rows(known.belief, known.counts, known.entry_reward, belief.saved, k)


def count(belief: AnyBelief, pair: int, y: int, entry: int) -> None:
    """Learn from the outcome that leads to the root of a search."""
    save(belief, OBSERVED)
    learn_outcome(belief, pair, entry)
    save(belief, ROOT)


def take_back(belief: AnyBelief, pair: int, entry: int) -> None:
    """Forget what `count` has learned."""
    restore(belief, OBSERVED)
