"""A fully connected network, and stochastic gradient descent on it.

Units are tanh, except those of the last layer if the network is not `bounded`: these are linear.
All units are in one array, layer by layer, the inputs first. So are all weights: for each layer a
row per unit below it and then a row of biases, each row with a weight per unit of the layer.
"""

import math
from typing import NamedTuple

from ...kernels.arrays import copy_vector
from ...kernels.jit import inlined, kernel
from ...kernels.types import Floats, Integers


class Network(NamedTuple):
    """A network of L layers, with N units and W weights; inputs count as units."""

    sizes: Integers  # [L + 1]; number of inputs, then of each layer's units
    weights: Floats  # [W]
    units: Floats  # [N]; last output of each unit
    errors: Floats  # [N]; work space: derivatives of the error by the units' sums
    bounded: bool


@inlined
def first_output(network: Network) -> int:
    """The index of the last layer's first unit."""
    return len(network.units) - int(network.sizes[len(network.sizes) - 1])


@inlined
def forward(network: Network) -> None:
    """Compute all units from the inputs."""
    sizes, weights, units = network.sizes, network.weights, network.units
    below, w = 0, 0
    for layer in range(1, len(sizes)):
        width, above = sizes[layer], below + sizes[layer - 1]
        biases = w + sizes[layer - 1] * width
        for j in range(width):
            units[above + j] = weights[biases + j]
        for i in range(below, above):
            for j in range(width):
                units[above + j] += weights[w + j] * units[i]
            w += width
        if network.bounded or layer < len(sizes) - 1:
            for j in range(above, above + width):
                units[j] = math.tanh(units[j])
        below, w = above, w + width


@inlined
def descend(network: Network, target: Floats, rate: float) -> None:
    """One step down the gradient of half the squared error, after `forward`."""
    sizes, weights = network.sizes, network.weights
    units, errors = network.units, network.errors
    above, end = first_output(network), len(weights)
    for j in range(above, len(units)):
        slope = 1 - units[j] * units[j] if network.bounded else 1.0
        errors[j] = (units[j] - target[j - above]) * slope
    for layer in range(len(sizes) - 1, 0, -1):
        width, below = sizes[layer], above - sizes[layer - 1]
        biases = end - width
        w = biases - sizes[layer - 1] * width
        for j in range(width):
            weights[biases + j] -= rate * errors[above + j]
        end = w
        for i in range(below, above):
            if layer > 1:
                total = 0.0
                for j in range(width):
                    total += weights[w + j] * errors[above + j]
                errors[i] = total * (1 - units[i] * units[i])
            for j in range(width):
                weights[w + j] -= rate * units[i] * errors[above + j]
            w += width
        above = below


@kernel
def train(
    network: Network,
    inputs: Floats,  # [n, I]
    targets: Floats,  # [n, A]
    order: Integers,  # [k]; which samples to learn from, one after the other
    rate: float,
) -> None:
    """Learn from some samples, one step each."""
    for k in range(len(order)):
        copy_vector(network.units, inputs[order[k]])
        forward(network)
        descend(network, targets[order[k]], rate)


@kernel
def predict(network: Network, inputs: Floats, outputs: Floats) -> None:
    """The outputs [n, A] for some inputs [n, I]."""
    first = first_output(network)
    for i in range(len(inputs)):
        copy_vector(network.units, inputs[i])
        forward(network)
        for u in range(outputs.shape[1]):
            outputs[i, u] = network.units[first + u]
