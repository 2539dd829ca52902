"""Train a network on samples, and stop when it no longer gets better on others."""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...kernels.types import Floats, Integers
from .network import Network, predict, train
from .samples import Parts, Samples, Standard, merged, standard_of

ACCURACY = 1e-3  # by which the validation error must fall to count as better
_CHECKS = 5  # number of them that may fail in a row
_CUT = 0.1  # factor of the rate after each


class Schedule(NamedTuple):
    """The learning rate and the stopping rule."""

    rate: float
    falls: bool  # whether the rate is divided by the square root of the epoch's number
    patience: int  # epochs without an improvement after which training ends


class Curve(NamedTuple):
    """The c checks of a training."""

    epoch: list[int]  # epochs trained by then
    rate: list[float]  # from then on, before it falls with the epochs
    learning: list[float]  # mean squared error by weight
    validation: list[float]


class Fit(NamedTuple):
    """A trained network, and how good it is."""

    weights: Floats  # [W]
    standard: Standard
    curve: Curve
    test_error: float  # mean squared error by weight
    test_loss: float  # what its choices lose: a share of the steps, or a value


def build_network(sizes: Integers, weights: Floats, bounded: bool) -> Network:
    """A network with these weights."""
    units = int(sizes.sum())
    return Network(
        sizes=sizes,
        weights=weights,
        units=np.zeros(units),
        errors=np.zeros(units),
        bounded=bounded,
    )


def num_weights(sizes: Integers) -> int:
    """The number of weights of a network, biases included."""
    return int(((sizes[:-1] + 1) * sizes[1:]).sum())


def fit(
    sizes: Integers, parts: Parts, bounded: bool, schedule: Schedule, rng: np.random.Generator
) -> Fit:
    """Train a new network; those with bounded outputs are for labels from -1 to 1."""
    standard = standard_of(parts.learning)
    packed = Parts(*(merged(samples, standard) for samples in parts))
    # Labels without bounds are scaled to a mean square of 1, unless all are zero.
    size = math.sqrt(_error(np.zeros(1), packed.learning))
    scale = 1.0 if bounded or size == 0 else size
    scaled = Parts(*(samples._replace(labels=samples.labels / scale) for samples in packed))
    network = build_network(sizes, _first_weights(sizes, rng), bounded)
    with np.errstate(all="ignore"):  # too high a rate lets unbounded outputs grow without end
        curve, weights = _descend(network, scaled, schedule, rng)
    network = network._replace(weights=weights)
    outputs = _outputs(network, scaled.test)
    return Fit(
        weights=weights,
        standard=standard,
        curve=curve,
        test_error=_error(outputs, scaled.test),
        test_loss=_loss(outputs, packed.test, bounded),
    )


def _descend(
    network: Network, parts: Parts, schedule: Schedule, rng: np.random.Generator
) -> tuple[Curve, Floats]:
    """Train; return the errors at each check, and the best weights."""
    learning, ends = parts.learning, np.cumsum(parts.learning.weights)
    stride, rate = max(1, schedule.patience // _CHECKS), schedule.rate
    curve, weights = Curve([], [], [], []), network.weights.copy()
    epoch, best_epoch, best = 0, 0, math.inf
    while True:
        error = _error(_outputs(network, parts.validation), parts.validation)
        if error < best - ACCURACY:
            best_epoch, best = epoch, error
            weights = network.weights.copy()
        else:
            rate *= _CUT
        curve.epoch.append(epoch)
        curve.rate.append(rate)
        curve.learning.append(_error(_outputs(network, learning), learning))
        curve.validation.append(error)
        if epoch - best_epoch >= schedule.patience:
            return curve, weights
        for _ in range(stride):
            epoch += 1
            slowed = rate / math.sqrt(epoch) if schedule.falls else rate
            train(network, learning.inputs, learning.labels, _order(ends, rng), slowed)


def _order(ends: Floats, rng: np.random.Generator) -> Integers:
    """Samples in random order, each as often as its weight says, rounded at random.

    The weights are given by their running sum [n].
    """
    visits = round(float(ends[-1]))
    places = (np.arange(visits) + rng.random()) * (ends[-1] / visits)
    return rng.permutation(np.minimum(np.searchsorted(ends, places, "right"), len(ends) - 1))


def _first_weights(sizes: Integers, rng: np.random.Generator) -> Floats:
    """Random weights, small enough that no unit is saturated (Glorot and Bengio, 2010)."""
    layers = []
    for below, above in pairwise(sizes.tolist()):
        limit = math.sqrt(6 / (below + above))
        layers += [rng.uniform(-limit, limit, below * above), np.zeros(above)]
    return np.concatenate(layers)


def _outputs(network: Network, samples: Samples) -> Floats:
    outputs = np.empty_like(samples.labels)
    predict(network, samples.inputs, outputs)
    return outputs


def _error(outputs: Floats, samples: Samples) -> float:
    squares = ((outputs - samples.labels) ** 2).mean(axis=1)
    return float(np.average(squares, weights=samples.weights))


def _loss(outputs: Floats, samples: Samples, bounded: bool) -> float:
    """The share of actions that are not the teacher's, or the mean value that they lose."""
    chosen = samples.labels[np.arange(len(outputs)), outputs.argmax(axis=1)]
    return float(np.average((1 - chosen) / 2 if bounded else -chosen, weights=samples.weights))
