"""Exponential, normal and gamma variates, and Dirichlet rows made of them.

Exponential and normal variates come from the ziggurat (Marsaglia and Tsang, 2000, "The ziggurat
method for generating random variables"), gamma variates from the squeeze of Marsaglia and Tsang
(2000, "A simple method for generating gamma variables").
"""

import math
from collections.abc import Callable

import numpy as np

from ..jit import cold, inlined
from ..types import Floats, Words
from .rng import next_word, uniform, unit

# If all shapes of a row are smaller, all of its gamma variates may underflow to zero.
SMALL_SHAPE = 0.1

_LAYERS = 256
_LAYER_BITS = np.uint64(_LAYERS - 1)
# The beginning of the tail, such that all layers have the same area.
_EXPONENTIAL_END = 7.69711747013104972
_NORMAL_END = 3.6541528853610088


def _layers(
    end: float, tail: float, density: Callable[[float], float], inverse: Callable[[float], float]
) -> tuple[Floats, Floats]:
    """The widths of the layers and the densities there; the bottom layer includes the tail."""
    area = end * density(end) + tail
    width = [area / density(end), end]
    for _ in range(2, _LAYERS):
        width.append(inverse(area / width[-1] + density(width[-1])))
    width.append(0.0)
    return np.array(width), np.array([density(x) for x in width])


_EXPONENTIAL_WIDTH, _EXPONENTIAL_DENSITY = _layers(
    _EXPONENTIAL_END,
    math.exp(-_EXPONENTIAL_END),
    lambda x: math.exp(-x),
    lambda density: -math.log(density),
)
_NORMAL_WIDTH, _NORMAL_DENSITY = _layers(
    _NORMAL_END,
    math.sqrt(math.pi / 2) * math.erfc(_NORMAL_END / math.sqrt(2)),
    lambda x: math.exp(-x * x / 2),
    lambda density: math.sqrt(-2 * math.log(density)),
)


@inlined
def exponential(rng: Words) -> float:
    """An exponential variate of mean 1."""
    word = next_word(rng)
    layer = int(word & _LAYER_BITS)
    x = unit(word) * _EXPONENTIAL_WIDTH[layer]
    if x < _EXPONENTIAL_WIDTH[layer + 1]:
        return x
    return _edge_of_exponential(rng, layer, x)


@cold
def _edge_of_exponential(rng: Words, layer: int, x: float) -> float:
    beyond = 0.0
    while True:
        if layer == 0:  # the tail has the law of the whole, shifted
            beyond += _EXPONENTIAL_END
        else:
            low, high = _EXPONENTIAL_DENSITY[layer], _EXPONENTIAL_DENSITY[layer + 1]
            if low + uniform(rng) * (high - low) < math.exp(-x):
                return beyond + x
        word = next_word(rng)
        layer = int(word & _LAYER_BITS)
        x = unit(word) * _EXPONENTIAL_WIDTH[layer]
        if x < _EXPONENTIAL_WIDTH[layer + 1]:
            return beyond + x


@inlined
def normal(rng: Words) -> float:
    """A standard normal variate."""
    word = next_word(rng)
    layer = int(word & _LAYER_BITS)
    x = (2 * unit(word) - 1) * _NORMAL_WIDTH[layer]
    if abs(x) < _NORMAL_WIDTH[layer + 1]:
        return x
    return _edge_of_normal(rng, layer, x)


@cold
def _edge_of_normal(rng: Words, layer: int, x: float) -> float:
    while True:
        if layer == 0:
            while True:
                beyond = exponential(rng) / _NORMAL_END
                if 2 * exponential(rng) > beyond * beyond:
                    return math.copysign(_NORMAL_END + beyond, x)
        low, high = _NORMAL_DENSITY[layer], _NORMAL_DENSITY[layer + 1]
        if low + uniform(rng) * (high - low) < math.exp(-x * x / 2):
            return x
        word = next_word(rng)
        layer = int(word & _LAYER_BITS)
        x = (2 * unit(word) - 1) * _NORMAL_WIDTH[layer]
        if abs(x) < _NORMAL_WIDTH[layer + 1]:
            return x


@inlined
def gamma(rng: Words, shape: float) -> float:
    """A gamma variate of scale 1; if the shape is small, it may underflow to zero."""
    if shape < 1:
        return _gamma_from_one(rng, shape + 1) * math.exp(-exponential(rng) / shape)
    return _gamma_from_one(rng, shape)


@inlined
def _gamma_from_one(rng: Words, shape: float) -> float:
    """A gamma variate; its shape must be at least 1."""
    d = shape - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        x = normal(rng)
        v = 1 + c * x
        if v > 0:
            v = v * v * v
            u = 1 - uniform(rng)
            if u < 1 - 0.0331 * (x * x) * (x * x):
                return d * v
            if math.log(u) < x * x / 2 + d * (1 - v + math.log(v)):
                return d * v


@inlined
def draw_row(rng: Words, shapes: Floats, row: Floats) -> None:
    """Draw the probabilities of a row from the Dirichlet distribution with these shapes."""
    if len(row) == 1:
        row[0] = 1.0
        return
    total, largest = 0.0, 0.0
    for i in range(len(row)):
        shape = shapes[i]
        variate = exponential(rng) if shape == 1.0 else gamma(rng, shape)
        row[i] = variate
        total += variate
        largest = max(largest, shape)
    if largest < SMALL_SHAPE:
        total = _draw_small(rng, shapes, row)
    weight = 1 / total
    for i in range(len(row)):
        row[i] *= weight


@cold
def _draw_small(rng: Words, shapes: Floats, row: Floats) -> float:
    """Draw gamma variates by their logarithms, relative to the largest; return their sum."""
    largest = -np.inf
    for i in range(len(row)):
        boosted = _gamma_from_one(rng, shapes[i] + 1)
        row[i] = math.log(boosted) - exponential(rng) / shapes[i]
        largest = max(largest, row[i])
    total = 0.0
    for i in range(len(row)):
        row[i] = math.exp(row[i] - largest)
        total += row[i]
    return total
