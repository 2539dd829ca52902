"""The mean model with artificial counts for the best next state of each pair.

The counts of the model include the artificial ones. So with fixed targets it is an ordinary model,
kept solved as such; and a pair's new target is a change of one row.
"""

from typing import NamedTuple

from ...kernels.arrays import at, copy_vector
from ...kernels.counts import add_rewarded
from ...kernels.jit import cold, inlined, kernel
from ...kernels.loop.trajectory import register
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.solving.model_agent import act, worth
from ...kernels.solving.tolerances import SWEEP_TOLERANCE, SWITCH
from ...kernels.types import Floats, Integers, Words

_MAX_ROUNDS = 10_000


class Bolt(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model  # its counts have no background
    initial: Model
    entry_reward: Floats  # [pool]
    target: Integers  # [P]; where in its row a pair has the artificial counts
    initial_target: Integers  # [P]
    eta: float


@kernel
def solve(agent: Bolt) -> None:
    """Add the artificial counts, and solve from scratch."""
    counts = agent.model.counts
    for pair in range(len(agent.target)):
        first = counts.row_start[pair]
        counts.total[pair] += agent.eta
        counts.entry_count[first] += agent.eta
        counts.reward_sum[pair] += agent.eta * agent.entry_reward[first]
        agent.target[pair] = 0
    models.solve(agent.model)
    find_targets(agent)


@inlined
def find_targets(agent: Bolt) -> None:
    """Policy iteration from a model that is solved for the present targets."""
    for _ in range(_MAX_ROUNDS):
        if not change_targets(agent):
            return
        improve(agent.model)


@cold
def improve(model: Model) -> None:
    """Not inlined, because targets seldom change."""
    models.improve(model)


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
        if value > highest:
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
    counts.reward_sum[pair] += agent.eta * (agent.entry_reward[new] - agent.entry_reward[old])
    agent.target[pair] = best
    x, u = pair // counts.num_actions, pair % counts.num_actions
    if len(model.inverse) > 0 and model.policy[x] == u:
        models.switched_row(model, x)


def reset(agent: Bolt, x: int) -> None:
    """Back to the prior."""
    models.reset(agent.model, agent.initial)
    copy_vector(agent.target, agent.initial_target)


def observe(agent: Bolt, x: int, u: int, y: int, r: float) -> None:
    """Count the transition, and solve again."""
    model = agent.model
    add_rewarded(model.counts, agent.entry_reward, x * model.counts.num_actions + u, y)
    models.update(model, x, u, y)
    find_targets(agent)


register(Bolt, reset=reset, act=act, observe=observe)
