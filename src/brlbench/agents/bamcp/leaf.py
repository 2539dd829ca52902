"""Leaf values of BAMCP's simulations, in place of a roll-out: the mean MDP's values."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...builders.model import build_saved, copy, solved_model
from ...kernels.jit import cold
from ...kernels.solving.model import Model
from ...kernels.solving.undo import Saved, count, restore, uncount, update_apart
from ...kernels.types import Integers, ShortIntegers
from ...mdps.dirichlet import FlatDirichlet
from ...mdps.task import Task

ROLLOUT, VALUE, UPDATED_VALUE = 0, 1, 2  # kinds of leaves


class Leaf(NamedTuple):
    """The kind of leaf, and the mean MDP of the root, which means nothing if that is ROLLOUT."""

    kind: int
    model: Model
    initial: Model
    saved: Saved  # work space: one solution, that of the root; D transitions


def build_leaf(prior: FlatDirichlet, task: Task, kind: int, depth: int) -> Leaf:
    """The prior's mean MDP, solved, with room for the transitions of a simulation."""
    if kind == ROLLOUT:  # no model is needed
        prior = FlatDirichlet(np.ones((1, 1, 1)), 0)
    initial = solved_model(prior, replace(task, horizon=task.horizon + depth))
    saved = build_saved(initial, solutions=1, transitions=depth)
    return Leaf(kind=kind, model=copy(initial), initial=initial, saved=saved)


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
