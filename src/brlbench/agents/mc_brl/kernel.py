"""The action of the best vector under the weights of hypotheses."""

import math
from typing import NamedTuple

from ...beliefs.hypotheses.rewards import REWARD_TOLERANCE
from ...kernels.jit import cold, inlined
from ...kernels.loop.trajectory import register
from ...kernels.types import Floats, Words
from .bounds import Bounds, best_vector
from .pomdp import Pomdp
from .search import follow


class McBrl(NamedTuple):
    """The agent's state; K hypotheses."""

    rng: Words
    pomdp: Pomdp
    bounds: Bounds
    prior: Floats  # [K]
    roots: Floats  # [S, K]; the prior, times the probability of starting in a state
    weight: Floats  # [K]; sums to 1
    following: Floats  # [K]; work space


@inlined
def scale_to_one(weight: Floats, source: Floats, mass: float) -> None:
    """Set weights to others, whose sum is `mass`."""
    for k in range(len(weight)):
        weight[k] = source[k] / mass


@cold
def find_outcome(pomdp: Pomdp, pair: int, y: int, r: float) -> int:
    """The outcome that was seen, or -1 if no hypothesis allows it."""
    for o in range(pomdp.start[pair], pomdp.start[pair + 1]):
        if pomdp.next_state[o] == y:
            paid = pomdp.paid[o]
            if math.isnan(paid) or abs(r - paid) <= REWARD_TOLERANCE * max(1.0, abs(paid)):
                return o
    return -1


def reset(agent: McBrl, x: int) -> None:
    """Back to the prior, and learn from the start state."""
    mass = 0.0
    for k in range(len(agent.weight)):
        mass += agent.roots[x, k]
    if mass > 0.0:
        scale_to_one(agent.weight, agent.roots[x], mass)
    else:
        scale_to_one(agent.weight, agent.prior, 1.0)


def act(agent: McBrl, x: int) -> int:
    """Look up the action of the best vector."""
    return int(agent.bounds.action[best_vector(agent.bounds, x, agent.weight)])


def observe(agent: McBrl, x: int, u: int, y: int, r: float) -> None:
    """Multiply weights by likelihoods; a transition that no hypothesis allows teaches nothing."""
    outcome = find_outcome(agent.pomdp, x * agent.pomdp.num_actions + u, y, r)
    if outcome >= 0:
        mass = follow(agent.pomdp, outcome, agent.weight, agent.following)
        if mass > 0.0:
            scale_to_one(agent.weight, agent.following, mass)


register(McBrl, reset=reset, act=act, observe=observe)
