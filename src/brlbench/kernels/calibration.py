"""The speed of a machine in one number: the time of one plain value iteration.

A dense MDP with 25 states and 4 actions is solved from zero until no value changes by 1e-2 or more,
as a straightforward implementation does for each decision. Times measured on different machines can
be compared as multiples of it.
"""

import numpy as np

from .jit import inlined, kernel
from .loop.clock import wall_time
from .types import Floats

STATES, ACTIONS = 25, 4
_DISCOUNT = 0.95
_CHANGE = 1e-2


@inlined
def value_iteration(transitions: Floats, rewards: Floats, value: Floats, following: Floats) -> None:
    """Solve by plain value iteration."""
    value[:] = 0.0
    change = 1.0
    while change >= _CHANGE:
        change = 0.0
        for x in range(STATES):
            best = -np.inf
            for u in range(ACTIONS):
                q = 0.0
                for y in range(STATES):
                    q += transitions[x, u, y] * (rewards[x, u, y] + _DISCOUNT * value[y])
                best = max(best, q)
            following[x] = best
            change = max(change, abs(best - value[x]))
        for x in range(STATES):
            value[x] = following[x]


@kernel
def time_value_iteration(
    transitions: Floats,  # [S, A, S]
    rewards: Floats,  # [S, A, S]
    value: Floats,  # [S]
    following: Floats,  # [S]
    repeats: int,
    rounds: int,
) -> float:
    """Nanoseconds per solution, averaged over the repeats, in the fastest round."""
    best = np.inf
    for _ in range(rounds):
        before = wall_time()
        for i in range(repeats):
            rewards[0, 0, 0] = 10 + 1e-9 * i
            value_iteration(transitions, rewards, value, following)
        best = min(best, (wall_time() - before) / repeats)
    return best
