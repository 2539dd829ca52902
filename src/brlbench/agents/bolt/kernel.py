"""The mean model with artificial counts for the best next state of each pair.

The counts of the model include the artificial ones. So with fixed targets it is an ordinary model,
kept solved as such; and a pair's new target is a change of one row.
"""

from typing import Any, NamedTuple

from ...kernels import families
from ...kernels.arrays import at, copy_vector
from ...kernels.dispatch import by_type, provide
from ...kernels.jit import cold, inlined, kernel
from ...kernels.loop.trajectory import register
from ...kernels.solving import endless, plans
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.solving.model_agent import act, worth
from ...kernels.solving.plans import Endless, Episode
from ...kernels.solving.tolerances import SWEEP_TOLERANCE, SWITCH
from ...kernels.types import Integers, Words

_MAX_ROUNDS = 10_000


class Bolt(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model  # with rewards of entries; its counts have no background
    initial: Model
    target: Integers  # [P]; where in its row a pair has the artificial counts
    initial_target: Integers  # [P]
    eta: float


@kernel
def solve(agent: Bolt) -> None:
    """Add the artificial counts, and solve from scratch."""
    for pair in range(len(agent.target)):
        add_artificial(agent, pair)
    models.solve(agent.model)
    solve_bolt(agent.model.plan, agent)


@inlined
def add_artificial(agent: Bolt, pair: int) -> None:
    """Add the artificial counts to a row without them, for its first outcome that is possible."""
    counts = agent.model.counts
    first = entry = counts.row_start[pair]
    while counts.entry_count[entry] == 0:
        entry += 1
    counts.total[pair] += agent.eta
    counts.entry_count[entry] += agent.eta
    counts.reward_sum[pair] += agent.eta * agent.model.entry_reward[entry]
    agent.target[pair] = entry - first


@by_type
def solve_bolt(plan: Any, agent: Bolt) -> None:
    """Find the best targets, by the plan."""


@by_type
def update_bolt(plan: Any, agent: Bolt, x: int, u: int, y: int, number: int) -> None:
    """Bring targets and solution up to date after a transition was counted, by the plan."""


def _solve_episode(plan: Episode, agent: Bolt) -> None:
    """By backward induction: targets depend on the values with one decision less."""
    model = agent.model
    if plans.is_due(plan):
        model.value[:] = 0.0
        for n in range(1, plans.left(plan) + 1):
            models.measure(model)
            change_targets(agent)
            models.set_q_values(model)
            plans.store(plan, n, model.q, model.value, model.policy)
    plans.load(plan, model.q, model.value, model.policy)
    models.measure(model)


def _update_episode(plan: Episode, agent: Bolt, x: int, u: int, y: int, number: int) -> None:
    plans.advance(plan)
    solve_bolt(plan, agent)


def _update_endless(plan: Endless, agent: Bolt, x: int, u: int, y: int, number: int) -> None:
    models.update(agent.model, x, u, y, number)
    find_targets(agent)


def _solve_endless(plan: Endless, agent: Bolt) -> None:
    find_targets(agent)


provide(Endless, {solve_bolt: _solve_endless, update_bolt: _update_endless})
provide(Episode, {solve_bolt: _solve_episode, update_bolt: _update_episode})


@inlined
def find_targets(agent: Bolt) -> None:
    """Policy iteration from a model that is solved for the present targets."""
    for _ in range(_MAX_ROUNDS):
        if not change_targets(agent):
            return
        improve(models.without_belief(agent.model))


@cold
def improve(model: Model) -> None:
    """Not inlined, because targets seldom change."""
    endless.improve(model)


@inlined
def change_targets(agent: Bolt) -> bool:
    """Move all artificial counts to the best next states; return whether any moved."""
    model = agent.model
    margin = SWITCH if len(model.inverse) > 0 else SWEEP_TOLERANCE
    margin *= models.scale(model)
    moved = False
    for pair in range(len(agent.target)):
        best = best_target(agent, pair, margin)
        if best != agent.target[pair]:
            move(agent, pair, best)
            moved = True
    return moved


@inlined
def best_target(agent: Bolt, pair: int, margin: float) -> int:
    """The place of the best next state, or of the target if none is better by the margin."""
    counts, row = agent.model.counts, at(pair)
    first, length = counts.row_start[row], counts.row_length[row]
    best = agent.target[row]
    highest = worth(agent, first + best) + margin
    for place in range(length):
        value = worth(agent, first + place)
        if value > highest and counts.entry_count[at(first + place)] > 0:
            best, highest = place, value
    return best


@cold
def move(agent: Bolt, pair: int, best: int) -> None:
    """Move the artificial counts of a pair, and update the values if the policy takes it."""
    model, counts = agent.model, agent.model.counts
    first = counts.row_start[pair]
    old, new = first + agent.target[pair], first + best
    counts.entry_count[old] -= agent.eta
    counts.entry_count[new] += agent.eta
    gain = model.entry_reward[new] - model.entry_reward[old]
    counts.reward_sum[pair] += agent.eta * gain
    agent.target[pair] = best
    x, u = pair // counts.num_actions, pair % counts.num_actions
    if len(model.inverse) > 0 and model.policy[x] == u:
        endless.switched_row(models.without_belief(model), x)


def reset(agent: Bolt, x: int) -> None:
    """Back to the prior."""
    number = models.reset(agent.model, agent.initial, x)
    copy_vector(agent.target, agent.initial_target)
    if number > 0:
        add_to_changed(agent, 0, number)
        models.update_start(agent.model, number)
        find_targets(agent)


@inlined
def add_to_changed(agent: Bolt, pair: int, number: int) -> None:
    """Add the artificial counts to the `number` rows that were set anew."""
    for i in range(number):
        add_artificial(agent, models.changed(agent.model, pair, i))


def observe(agent: Bolt, x: int, u: int, y: int, r: float) -> None:
    """Count the transition, and solve again."""
    model = agent.model
    pair = x * model.counts.num_actions + u
    number = models.count_rewarded(model, pair, y, r)
    if families.overwrites(model.belief):
        add_to_changed(agent, pair, number)
    update_bolt(model.plan, agent, x, u, y, number)


register(Bolt, reset=reset, act=act, observe=observe)
