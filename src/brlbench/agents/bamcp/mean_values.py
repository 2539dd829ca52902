"""Leaf values of BAMCP's simulations, in place of a roll-out: the mean MDP's values."""

from dataclasses import replace
from typing import Any, NamedTuple

from ...beliefs.base import Family
from ...builders.model import build_saved, copy, solved_model
from ...kernels.dispatch import by_type, provide
from ...kernels.families import Flat
from ...kernels.jit import cold, inlined
from ...kernels.solving import model as models
from ...kernels.solving import undo
from ...kernels.solving.model import Model
from ...kernels.solving.undo import (
    Saved,
    count,
    restore,
    restore_all,
    save,
    save_all,
    uncount,
    update_apart,
)
from ...kernels.types import Floats, Integers, ShortIntegers, Words
from ...mdps.task import Task
from ..base import has_known_rows
from . import urn as urns
from .urn import Urn


class MeanValues(NamedTuple):
    """The mean MDP of the root."""

    is_updated: bool  # whether it learns from simulated transitions
    model: Model
    initial: Model
    saved: Saved  # work space: one solution, that of the root; D transitions


def build_values(prior: Family, task: Task, is_updated: bool, depth: int) -> MeanValues:
    """The prior's mean MDP, solved, with room for the transitions of a simulation."""
    learns_entries = is_updated and not has_known_rows(prior)
    longer = replace(task, horizon=task.horizon + depth)
    initial = solved_model(prior, longer, by_entry=learns_entries)
    saved = build_saved(initial, solutions=1, transitions=depth)
    return MeanValues(is_updated=is_updated, model=copy(initial), initial=initial, saved=saved)


@inlined
def reset(leaf: MeanValues, x: int) -> None:
    """Back to the prior."""
    models.start(leaf.model, leaf.initial, x)


@inlined
def learn(leaf: MeanValues, _: float, x: int, u: int, y: int, r: float) -> None:
    """Learn from a real transition."""
    undo.learn(leaf.model, x, u, y, r)


@inlined
def begin(leaf: MeanValues) -> None:
    """Save the root's model, to which every simulation goes back."""
    if leaf.is_updated:
        save_root(leaf.model.belief, leaf)


@inlined
def value(
    leaf: MeanValues,
    urn: Urn,
    starts: Any,
    _: float,
    x: int,
    states: Integers,
    rewards: Floats,
    length: int,
    rng: Words,
) -> float:
    """The value of x after the steps in the tree; all draws are taken back."""
    result: float = leaf.model.value[x]
    if leaf.is_updated:
        result = value_after(leaf.model.belief, leaf, x, urn.pair_of, states, rewards, length)
    urns.undo(urn, length)
    return result


@by_type
def save_root(belief: Any, leaf: MeanValues) -> None:
    """Save what a simulation changes."""


@by_type
def value_after(  # type: ignore[empty-body]
    belief: Any,
    leaf: MeanValues,
    x: int,
    pairs: ShortIntegers,
    states: Integers,
    rewards: Floats,
    length: int,
) -> float:
    """The value of x after `length` transitions: pairs[i] [D] led to states[i] with rewards[i]."""


def _save_root(belief: Any, leaf: MeanValues) -> None:
    save_all(leaf.model, leaf.saved, 0)


def _save_root_flat(belief: Flat, leaf: MeanValues) -> None:
    save(leaf.model, leaf.saved, 0)


def _value_after(
    belief: Any,
    leaf: MeanValues,
    x: int,
    pairs: ShortIntegers,
    states: Integers,
    rewards: Floats,
    length: int,
) -> float:
    model, actions = leaf.model, leaf.model.counts.num_actions
    for i in range(length):
        pair = int(pairs[i])
        undo.learn(model, pair // actions, pair % actions, states[i], rewards[i])
    value: float = model.value[x]
    restore_all(model, leaf.saved, 0)
    return value


def _value_after_flat(
    belief: Flat,
    leaf: MeanValues,
    x: int,
    pairs: ShortIntegers,
    states: Integers,
    rewards: Floats,
    length: int,
) -> float:
    return counted_value(leaf, x, pairs, states, length)


provide(tuple, {save_root: _save_root, value_after: _value_after})
provide(Flat, {save_root: _save_root_flat, value_after: _value_after_flat})


@cold
def counted_value(
    leaf: MeanValues, x: int, pairs: ShortIntegers, states: Integers, length: int
) -> float:
    """`value_after` under a flat prior, where transitions are taken back one by one."""
    model = leaf.model
    actions = model.counts.num_actions
    for i in range(length):
        pair, y = int(pairs[i]), states[i]
        count(model.counts, leaf.saved, i, pair, y)
        update_apart(model, pair // actions, pair % actions, y, 1)
    value: float = model.value[x]
    for i in range(length - 1, -1, -1):
        uncount(model.counts, leaf.saved, i)
    restore(model, leaf.saved, 0)
    return value
