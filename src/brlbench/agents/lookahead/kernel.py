"""Expectimax over beliefs: one model is solved on the way down and restored on the way up."""

from typing import Any, NamedTuple

import numpy as np

from ...kernels.choice import greedy
from ...kernels.dispatch import by_type, provide
from ...kernels.families import Flat
from ...kernels.jit import cold, inlined
from ...kernels.loop.trajectory import register
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.solving.model_agent import reset
from ...kernels.solving.tolerances import SWITCH
from ...kernels.solving.undo import (
    Saved,
    count,
    learn,
    restore,
    restore_all,
    save,
    save_all,
    uncount,
    update_apart,
)
from ...kernels.types import Words
from .borders import changes_nothing, num_steps, state_after, step_back
from .leaf import Leaf, Step, set_limits, value_after
from .levels import KnownRewards, Levels, begin_action, enter


class Lookahead(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model
    initial: Model
    rewards: KnownRewards
    levels: Levels  # work space
    leaf: Leaf  # work space
    saved: Saved  # work space; solution and transition i belong to level i
    depth: int


@cold
def search(agent: Lookahead, x: int) -> None:
    """Set the values of all actions at the root, which is in x; the depth is at least 1."""
    levels, last = agent.levels, num_steps(agent.model.plan, agent.depth) - 1
    level = 0
    if last == 0:
        last_step(agent, 0, x)
        return
    enter(levels, 0, x)
    while level >= 0:
        if not find_outcome(agent, level):
            level -= 1
            if level >= 0:
                back_up(agent, level, best(levels, level + 1))
            continue
        y = levels.following[level, levels.place[level]]
        count_outcome(agent, level, y)
        z = state_after(agent.model.plan, levels, level, levels.place[level])
        if level + 1 == last:
            last_step(agent, last, z)
            back_up(agent, level, best(levels, last))
        else:
            level += 1
            enter(levels, level, z)


@inlined
def best(levels: Levels, level: int) -> float:
    """The value of the best action."""
    highest = -np.inf
    for u in range(levels.q.shape[1]):
        highest = max(highest, levels.q[level, u])
    return highest


@inlined
def find_outcome(agent: Lookahead, level: int) -> bool:
    """Go on to the next action until one has an outcome left; return whether there is one."""
    levels, actions = agent.levels, agent.model.counts.num_actions
    while levels.place[level] == levels.length[level]:
        u = levels.action[level] + 1
        if u == actions:
            return False
        begin_action(levels, level, agent.model, agent.rewards, u)
    return True


@inlined
def count_outcome(agent: Lookahead, level: int, y: int) -> None:
    """Let the model learn from a transition to y; one that is certain changes nothing."""
    levels, model = agent.levels, agent.model
    x, u = levels.state[level], levels.action[level]
    levels.is_solved[level] = False
    if changes_nothing(model.plan, levels, level):
        return
    learn_outcome(model.belief, agent, level, x, u, y)


@by_type
def learn_outcome(belief: Any, agent: Lookahead, level: int, x: int, u: int, y: int) -> None:
    """Let the model learn from a level's transition, such that it can be taken back."""


def _learn_outcome(belief: Any, agent: Lookahead, level: int, x: int, u: int, y: int) -> None:
    levels = agent.levels
    save_all(agent.model, agent.saved, level)
    learn(agent.model, x, u, y, levels.reward[level, levels.place[level]])


def _learn_outcome_flat(belief: Flat, agent: Lookahead, level: int, x: int, u: int, y: int) -> None:
    levels, model = agent.levels, agent.model
    pair = x * model.counts.num_actions + u
    count(model.counts, agent.saved, level, pair, y)
    if len(model.inverse) > 0 and model.policy[x] != u:
        q = models.q_value(model, pair)
        if q <= model.value[x] + SWITCH * models.scale(model):
            agent.saved.q[level, pair] = model.q[pair]
            model.q[pair] = q
            return
    save(model, agent.saved, level)
    update_apart(model, x, u, y, 1)
    levels.is_solved[level] = True


@cold
def back_up(agent: Lookahead, level: int, value: float) -> None:
    """Add the value of an outcome to that of its action, and take the transition back."""
    levels, model = agent.levels, agent.model
    u, i = levels.action[level], levels.place[level]
    worth = levels.reward[level, i] + model.discount * value
    levels.q[level, u] += levels.chance[level, i] * worth
    levels.place[level] += 1
    if not changes_nothing(model.plan, levels, level):
        take_back(model.belief, agent, level, u)
        step_back(model.plan)


@by_type
def take_back(belief: Any, agent: Lookahead, level: int, u: int) -> None:
    """Take a level's transition back, which took action u."""


def _take_back(belief: Any, agent: Lookahead, level: int, u: int) -> None:
    restore_all(agent.model, agent.saved, level)


def _take_back_flat(belief: Flat, agent: Lookahead, level: int, u: int) -> None:
    levels, model, saved = agent.levels, agent.model, agent.saved
    uncount(model.counts, saved, level)
    if levels.is_solved[level]:
        restore(model, saved, level)
    else:
        pair = levels.state[level] * model.counts.num_actions + u
        model.q[pair] = saved.q[level, pair]


@cold
def last_step(agent: Lookahead, level: int, x: int) -> None:
    """Set the values of all actions in x if only one more step is looked at."""
    levels, model = agent.levels, agent.model
    enter(levels, level, x)
    set_limits(agent.leaf, model, x)
    for u in range(model.counts.num_actions):
        begin_action(levels, level, model, agent.rewards, u)
        for i in range(levels.length[level]):
            y, r = levels.following[level, i], levels.reward[level, i]
            value = model.value[y]
            if not changes_nothing(model.plan, levels, level):
                z = state_after(model.plan, levels, level, i)
                step = Step(x=x, u=u, y=y, r=r, z=z)
                value = value_after(model.belief, agent.leaf, model, agent.saved, level, step)
            levels.q[level, u] += levels.chance[level, i] * (r + model.discount * value)


provide(tuple, {learn_outcome: _learn_outcome, take_back: _take_back})
provide(Flat, {learn_outcome: _learn_outcome_flat, take_back: _take_back_flat})


def act(agent: Lookahead, x: int) -> int:
    """Search, and choose a best action; ties are broken at random."""
    if agent.depth == 0:
        return models.best_action(agent.model, x, agent.rng)
    search(agent, x)
    actions, levels = agent.model.counts.num_actions, agent.levels
    return greedy(levels.q[0], 0, actions, models.scale(agent.model), agent.rng)


def observe(agent: Lookahead, x: int, u: int, y: int, r: float) -> None:
    """Count the transition and solve again."""
    learn(agent.model, x, u, y, r)


register(Lookahead, reset=reset, act=act, observe=observe)
