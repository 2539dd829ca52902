"""Point-based value iteration: both bounds are improved along paths where they are far apart.

A path goes from a start state to the action that may be best, by its upper bound, and on to the
outcome after which most is uncertain, weighted by its probability; it ends where that is less than
half of what is uncertain at the start states (HSVI, Smith and Simmons, 2004). Then the bounds are
improved backwards along the path.

Weights along a path are products of likelihoods with the weights at the start, and are not scaled:
their sum is the probability of the path.
"""

from typing import NamedTuple

from ...kernels.arrays import copy_vector
from ...kernels.jit import cold, inlined, kernel
from ...kernels.types import Floats, Integers
from .bounds import Bounds, best_vector, dot, lower, lower_point, new_vector, upper
from .pomdp import Pomdp

_GAIN = 1e-13  # least relative gain of a new vector
_SHARE = 0.5  # of what is uncertain, where a path ends


class Path(NamedTuple):
    """A path of up to D steps, and work space."""

    state: Integers  # [D]
    weight: Floats  # [D, K]
    following: Floats  # [K]; weights after an outcome
    vector: Floats  # [K]
    best: Floats  # [K]


@inlined
def follow(pomdp: Pomdp, outcome: int, weight: Floats, following: Floats) -> float:
    """Set the weights after an outcome; return their sum."""
    mass = 0.0
    for k in range(len(weight)):
        following[k] = weight[k] * pomdp.likelihood[outcome, k]
        mass += following[k]
    return mass


@inlined
def upper_value(pomdp: Pomdp, bounds: Bounds, path: Path, pair: int, weight: Floats) -> float:
    """The upper bound of a pair's value."""
    total = 0.0
    for o in range(pomdp.start[pair], pomdp.start[pair + 1]):
        if follow(pomdp, o, weight, path.following) > 0.0:
            total += upper(bounds, pomdp.next_state[o], path.following)
    return dot(pomdp.reward[pair], weight) + pomdp.discount * total


@cold
def improve_upper(pomdp: Pomdp, bounds: Bounds, path: Path, x: int, weight: Floats) -> int:
    """Improve the upper bound of a state; return the action that may be best."""
    best, largest, mass = 0, 0.0, 0.0
    for u in range(pomdp.num_actions):
        value = upper_value(pomdp, bounds, path, x * pomdp.num_actions + u, weight)
        if u == 0 or value > largest:
            best, largest = u, value
    for k in range(len(weight)):
        mass += weight[k]
    if largest < upper(bounds, x, weight):
        lower_point(bounds, x, weight, mass, largest)
    return best


@inlined
def set_vector(pomdp: Pomdp, bounds: Bounds, path: Path, pair: int, weight: Floats) -> None:
    """Set the vector of taking a pair's action, and then the policies that are worth most."""
    copy_vector(path.vector, pomdp.reward[pair])
    for o in range(pomdp.start[pair], pomdp.start[pair + 1]):
        follow(pomdp, o, weight, path.following)
        i = best_vector(bounds, pomdp.next_state[o], path.following)
        for k in range(len(weight)):
            path.vector[k] += pomdp.discount * pomdp.likelihood[o, k] * bounds.vector[i, k]


@cold
def improve_lower(pomdp: Pomdp, bounds: Bounds, path: Path, x: int, weight: Floats) -> None:
    """Improve the lower bound of a state."""
    best, largest = 0, 0.0
    for u in range(pomdp.num_actions):
        set_vector(pomdp, bounds, path, x * pomdp.num_actions + u, weight)
        value = dot(path.vector, weight)
        if u == 0 or value > largest:
            best, largest = u, value
            copy_vector(path.best, path.vector)
    value = lower(bounds, x, weight)
    if largest > value + _GAIN * abs(value):
        copy_vector(bounds.vector[new_vector(bounds, x, best)], path.best)


@inlined
def gap(bounds: Bounds, x: int, weight: Floats) -> float:
    """The distance of the bounds of a state."""
    return upper(bounds, x, weight) - lower(bounds, x, weight)


@cold
def choose_outcome(
    pomdp: Pomdp, bounds: Bounds, path: Path, pair: int, weight: Floats, slack: float
) -> int:
    """The outcome with the largest gap, above `slack` times its probability, or -1."""
    best, largest = -1, 0.0
    for o in range(pomdp.start[pair], pomdp.start[pair + 1]):
        mass = follow(pomdp, o, weight, path.following)
        if mass > 0.0:
            excess = gap(bounds, pomdp.next_state[o], path.following) - slack * mass
            if excess > largest:
                best, largest = o, excess
    return best


@cold
def make_path(pomdp: Pomdp, bounds: Bounds, path: Path, most: int, slack: float) -> int:
    """Go on from the path's first state, improving upper bounds; return the number of states."""
    t = 0
    while True:
        x, weight = path.state[t], path.weight[t]
        u = improve_upper(pomdp, bounds, path, x, weight)
        t, slack = t + 1, slack / pomdp.discount
        if t == most:
            return t
        o = choose_outcome(pomdp, bounds, path, x * pomdp.num_actions + u, weight, slack)
        if o < 0:
            return t
        path.state[t] = pomdp.next_state[o]
        follow(pomdp, o, weight, path.weight[t])


@kernel
def total_bounds(bounds: Bounds, roots: Floats, out: Floats) -> None:
    """Set `out` [2] to the bounds at the start, given the weights of all start states [S, K]."""
    out[0] = out[1] = 0.0
    for x in range(len(roots)):
        out[0] += lower(bounds, x, roots[x])
        out[1] += upper(bounds, x, roots[x])


@kernel
def search(
    pomdp: Pomdp, bounds: Bounds, path: Path, roots: Floats, most: int, enough: float
) -> int:
    """Improve bounds at up to `most` states, or until the gap is `enough`; return their number."""
    made = 0
    while made < most:
        total, first, widest = 0.0, 0, 0.0
        for x in range(len(roots)):
            distance = gap(bounds, x, roots[x])
            total += distance
            if distance > widest:
                first, widest = x, distance
        if total <= enough:
            break
        path.state[0] = first
        copy_vector(path.weight[0], roots[first])
        room = min(most - made, len(path.state))
        length = make_path(pomdp, bounds, path, room, max(_SHARE * total, enough))
        for t in range(length - 1, -1, -1):
            improve_lower(pomdp, bounds, path, path.state[t], path.weight[t])
            improve_upper(pomdp, bounds, path, path.state[t], path.weight[t])
        made += length
    return made


@kernel
def evaluate_policy(pomdp: Pomdp, policy: Integers, value: Floats, accuracy: float) -> None:
    """Raise values [S, K] to those of a policy [S], from below, under every hypothesis."""
    change = accuracy + 1.0
    while change > accuracy:
        change = 0.0
        for x in range(len(policy)):
            pair = x * pomdp.num_actions + policy[x]
            for k in range(value.shape[1]):
                total = 0.0
                for o in range(pomdp.start[pair], pomdp.start[pair + 1]):
                    total += pomdp.likelihood[o, k] * value[pomdp.next_state[o], k]
                total = pomdp.reward[pair, k] + pomdp.discount * total
                change = max(change, total - value[x, k])
                value[x, k] = total
