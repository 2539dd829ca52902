"""Leaf values of BAMCP's simulations, in place of a roll-out: the mean MDP's values."""

from typing import NamedTuple

from ...kernels.jit import cold, inlined
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.solving.undo import Saved, count, learn, restore, save, uncount, update_apart
from ...kernels.types import Integers, ShortIntegers

ROLLOUT, VALUE, UPDATED_VALUE = 0, 1, 2  # kinds of leaves


class Leaf(NamedTuple):
    """The kind of leaf, and the mean MDP of the root, which means nothing if that is ROLLOUT."""

    kind: int
    model: Model
    initial: Model
    saved: Saved  # work space: one solution, that of the root; D transitions


@inlined
def reset_leaf(leaf: Leaf) -> None:
    """Back to the prior's model."""
    if leaf.kind != ROLLOUT:
        models.reset(leaf.model, leaf.initial)


@inlined
def learn_leaf(leaf: Leaf, x: int, u: int, y: int) -> None:
    """Let the root's model learn from a real transition."""
    if leaf.kind != ROLLOUT:
        learn(leaf.model, x, u, y)


@inlined
def begin_search(leaf: Leaf) -> None:
    """Save the root's solution, to which every simulation goes back."""
    if leaf.kind == UPDATED_VALUE:
        save(leaf.model, leaf.saved, 0)


@cold
def value_of(leaf: Leaf, x: int, pairs: ShortIntegers, states: Integers, length: int) -> float:
    """The value of x after `length` transitions: pairs[i] [D] led to states[i] [D]."""
    model = leaf.model
    value: float = model.value[x]
    if leaf.kind == VALUE:
        return value
    actions = model.counts.num_actions
    for i in range(length):
        pair, y = int(pairs[i]), states[i]
        count(model.counts, leaf.saved, i, pair, y)
        update_apart(model, pair // actions, pair % actions, y)
    value = model.value[x]
    for i in range(length - 1, -1, -1):
        uncount(model.counts, leaf.saved, i)
    restore(model, leaf.saved, 0)
    return value
