"""Choosing among actions by their values.

The values of a state's actions are q[first : first + actions]. `scale` is the size of all values.
"""

import math

from .jit import inlined
from .random.rng import below, uniform
from .types import Floats, Words

TIE = 1e-9  # values are equal if they differ by less, relative to their scale


@inlined
def greedy(q: Floats, first: int, actions: int, scale: float, rng: Words) -> int:
    """A best action; ties are broken at random, with one draw."""
    best = q[first]
    for u in range(1, actions):
        best = max(best, q[first + u])
    limit = best - TIE * scale
    tied = 0
    for u in range(actions):
        tied += q[first + u] >= limit
    skip = below(rng, tied) if tied > 1 else 0
    for u in range(actions):
        if q[first + u] >= limit:
            if skip == 0:
                return u
            skip -= 1
    return 0


@inlined
def first_greedy(q: Floats, first: int, actions: int, scale: float) -> int:
    """The lowest-numbered best action."""
    best = q[first]
    for u in range(1, actions):
        best = max(best, q[first + u])
    for u in range(actions):
        if q[first + u] >= best - TIE * scale:
            return u
    return 0


@inlined
def soft_max(q: Floats, first: int, actions: int, temperature: float, rng: Words) -> int:
    """An action with probability proportional to exp(q / temperature)."""
    best = q[first]
    for u in range(1, actions):
        best = max(best, q[first + u])
    total = 0.0
    for u in range(actions):
        total += math.exp((q[first + u] - best) / temperature)
    chance = uniform(rng) * total
    for u in range(actions - 1):
        chance -= math.exp((q[first + u] - best) / temperature)
        if chance < 0:
            return u
    return actions - 1
