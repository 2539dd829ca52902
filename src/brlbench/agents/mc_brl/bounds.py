"""Bounds on the Bayes-optimal value of a state under weights of hypotheses.

Weights [K] need not sum to 1: the value of twice the weights is twice the value.

From below: vectors. Each has the value of some policy under every hypothesis, so the largest
product with the weights is a lower bound. From above: points. The value is convex in the weights,
so it is at most an interpolation between points at which a bound is known (the sawtooth of
Hauskrecht, 2000). Each state knows the optimal values under every single hypothesis, its corners;
another point lowers the interpolation by the share of the weights that it covers.

Vectors and points of a state are linked lists.
"""

from typing import NamedTuple

from ...kernels.jit import inlined
from ...kernels.types import Floats, Integers

NONE = -1  # instead of a vector or a point
VECTORS, POINTS = 0, 1  # slots of `size`
SAME = 1e-12  # weights that differ by less are the same point


class Bounds(NamedTuple):
    """V vectors and N points of S states, with K hypotheses."""

    size: Integers  # [2]; VECTORS and POINTS in use
    first_vector: Integers  # [S]
    next_vector: Integers  # [V]
    vector: Floats  # [V, K]
    action: Integers  # [V]; the first action of the vector's policy
    corner: Floats  # [S, K]; optimal values under each hypothesis
    first_point: Integers  # [S]
    next_point: Integers  # [N]
    point: Floats  # [N, K]; weights that sum to 1
    drop: Floats  # [N]; the bound at the point, less the corners' interpolation; below 0


@inlined
def dot(one: Floats, other: Floats) -> float:
    """The product of two vectors [K]."""
    total = 0.0
    for k in range(len(one)):
        total += one[k] * other[k]
    return total


@inlined
def best_vector(bounds: Bounds, x: int, weight: Floats) -> int:
    """The vector of a state that is worth most."""
    best = bounds.first_vector[x]
    largest, i = dot(bounds.vector[best], weight), bounds.next_vector[best]
    while i != NONE:
        value = dot(bounds.vector[i], weight)
        if value > largest:
            best, largest = i, value
        i = bounds.next_vector[i]
    return int(best)


@inlined
def lower(bounds: Bounds, x: int, weight: Floats) -> float:
    """The lower bound of a state's value."""
    return dot(bounds.vector[best_vector(bounds, x, weight)], weight)


@inlined
def upper(bounds: Bounds, x: int, weight: Floats) -> float:
    """The upper bound of a state's value."""
    lowest, i = 0.0, bounds.first_point[x]
    while i != NONE:
        lowest = min(lowest, bounds.drop[i] * covered(bounds.point[i], weight))
        i = bounds.next_point[i]
    return dot(bounds.corner[x], weight) + lowest


@inlined
def covered(point: Floats, weight: Floats) -> float:
    """The largest multiple of a point that is nowhere above the weights."""
    share = 1e300
    for k in range(len(point)):
        if point[k] > 0.0:
            share = min(share, weight[k] / point[k])
            if share == 0.0:
                break
    return share


@inlined
def new_vector(bounds: Bounds, x: int, action: int) -> int:
    """Link a vector, which is to be filled in."""
    i = int(bounds.size[VECTORS])
    bounds.size[VECTORS] += 1
    bounds.action[i] = action
    bounds.next_vector[i] = bounds.first_vector[x]
    bounds.first_vector[x] = i
    return i


@inlined
def lower_point(bounds: Bounds, x: int, weight: Floats, mass: float, value: float) -> None:
    """Let the value be an upper bound at weights whose sum is `mass`."""
    drop = (value - dot(bounds.corner[x], weight)) / mass
    i = bounds.first_point[x]
    while i != NONE and not is_same(bounds.point[i], weight, mass):
        i = bounds.next_point[i]
    if i == NONE:
        i = bounds.size[POINTS]
        bounds.size[POINTS] += 1
        bounds.next_point[i], bounds.first_point[x] = bounds.first_point[x], i
        for k in range(len(weight)):
            bounds.point[i, k] = weight[k] / mass
        bounds.drop[i] = 0.0
    bounds.drop[i] = min(bounds.drop[i], drop)


@inlined
def is_same(point: Floats, weight: Floats, mass: float) -> bool:
    """Whether weights are those of a point, up to their sum and rounding."""
    for k in range(len(point)):
        if abs(point[k] * mass - weight[k]) > SAME * mass:
            return False
    return True
