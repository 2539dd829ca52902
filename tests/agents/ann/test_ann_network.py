"""The network of `ann` against NumPy, its gradient against differences, its training by hand."""

import numpy as np
import pytest

from brlbench.agents.ann import fitting
from brlbench.agents.ann.fitting import ACCURACY, Fit, Schedule, build_network, fit, num_weights
from brlbench.agents.ann.network import Network, predict, train
from brlbench.agents.ann.samples import Parts, Samples
from brlbench.mdps.sparse import Floats

SIZES = [(3, 2), (1, 4, 1), (3, 5, 2), (4, 10, 10, 3), (2, 3, 4, 5, 2)]
CONSTANT = Schedule(rate=0.01, falls=False, patience=10)


def made(sizes: tuple[int, ...], bounded: bool, seed: int = 0) -> Network:
    rng = np.random.default_rng(seed)
    layers = np.array(sizes)
    return build_network(layers, rng.normal(size=num_weights(layers)), bounded)


def plain(network: Network, weights: Floats, inputs: Floats) -> Floats:
    """The outputs [n, A] by matrix products."""
    units, w = inputs, 0
    last = len(network.sizes) - 2
    for layer, (below, above) in enumerate(zip(network.sizes[:-1], network.sizes[1:], strict=True)):
        block = weights[w : w + (below + 1) * above].reshape(below + 1, above)
        units = units @ block[:-1] + block[-1]
        if network.bounded or layer < last:
            units = np.tanh(units)
        w += block.size
    return units


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("sizes", SIZES)
def test_outputs(sizes: tuple[int, ...], bounded: bool) -> None:
    network = made(sizes, bounded)
    inputs = np.random.default_rng(1).normal(size=(20, sizes[0]))
    outputs = np.empty((20, sizes[-1]))
    predict(network, inputs, outputs)
    np.testing.assert_allclose(outputs, plain(network, network.weights, inputs), atol=1e-12)


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("sizes", SIZES)
def test_a_step_goes_down_the_gradient(sizes: tuple[int, ...], bounded: bool) -> None:
    """The gradient by central differences of half the squared error, in NumPy."""
    network, rng = made(sizes, bounded), np.random.default_rng(2)
    inputs, target = rng.normal(size=(1, sizes[0])), rng.uniform(-1, 1, (1, sizes[-1]))
    before = network.weights.copy()

    def error(weights: Floats) -> float:
        return float(((plain(network, weights, inputs) - target) ** 2).sum() / 2)

    size = 1e-5
    steps = size * np.eye(len(before))
    gradient = [(error(before + step) - error(before - step)) / (2 * size) for step in steps]
    train(network, inputs, target, np.zeros(1, np.int64), 0.5)
    np.testing.assert_allclose((before - network.weights) / 0.5, gradient, atol=1e-8, rtol=1e-6)


def test_samples_are_learned_from_in_their_order() -> None:
    rng = np.random.default_rng(3)
    inputs, targets = rng.normal(size=(6, 3)), rng.uniform(-1, 1, (6, 2))
    together, apart = made((3, 4, 2), True), made((3, 4, 2), True)
    order = np.array([4, 0, 4, 5])
    train(together, inputs, targets, order, 0.1)
    for number in order:
        train(apart, inputs, targets, np.array([number]), 0.1)
    np.testing.assert_array_equal(together.weights, apart.weights)


@pytest.mark.parametrize("seed", range(3))
def test_a_sample_is_visited_as_often_as_it_weighs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=50) * rng.choice([0.01, 1, 100], 50)
    weights *= 5000 / weights.sum()
    visits = np.bincount(fitting._order(np.cumsum(weights), rng), minlength=50)
    assert visits.sum() == 5000
    assert (np.abs(visits - weights) < 1 + 1e-9).all()


def samples(seed: int, number: int, noise: float = 0.0) -> Samples:
    """Label 1 for the largest of three inputs, -1 for the others, or at random."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(3, 2, (number, 3))
    best = np.where(rng.random(number) < noise, rng.integers(0, 3, number), inputs.argmax(axis=1))
    return Samples(inputs, 2 * np.eye(3)[best] - 1, rng.uniform(0.5, 1.5, number))


def fitted(noise: float, schedule: Schedule, number: int = 2000, bounded: bool = True) -> Fit:
    parts = Parts(*(samples(seed, number, noise) for seed in (1, 2, 3)))
    return fit(np.array([3, 10, 3]), parts, bounded, schedule, np.random.default_rng(4))


@pytest.mark.parametrize("bounded", [True, False])
def test_what_the_inputs_tell_is_learned(bounded: bool) -> None:
    """Random guesses err on two thirds of the test samples; two inputs are rarely almost equal."""
    found = fitted(0.0, CONSTANT._replace(patience=25), bounded=bounded)
    labels_lost = found.test_loss if bounded else (found.test_loss + 1) / 2
    assert labels_lost < 0.05
    assert found.test_error < 0.15


def test_what_is_random_is_not_learned() -> None:
    """The best guess of pure noise is the mean label, -1/3: an error of 8/9, and 2/3 mistakes."""
    found = fitted(1.0, CONSTANT._replace(rate=0.001))
    assert found.test_error == pytest.approx(8 / 9, abs=0.03)
    assert found.test_loss == pytest.approx(2 / 3, abs=0.05)


@pytest.mark.parametrize(("patience", "stride"), [(1, 1), (5, 1), (10, 2), (12, 2), (25, 5)])
def test_the_schedule(patience: int, stride: int) -> None:
    found = fitted(0.3, CONSTANT._replace(patience=patience), number=300)
    best, best_epoch, rate = np.inf, 0, 0.01
    curve = found.curve
    for epoch, error, later in zip(curve.epoch, curve.validation, curve.rate, strict=True):
        if error < best - ACCURACY:
            best, best_epoch = error, epoch
        else:
            rate /= 10
        assert later == pytest.approx(rate)
        assert (epoch - best_epoch < patience) == (epoch < curve.epoch[-1])
    assert np.diff(curve.epoch).tolist() == [stride] * (len(curve.epoch) - 1)
    assert rate < 0.01
    validation = samples(2, 300, 0.3)
    network = build_network(np.array([3, 10, 3]), found.weights, True)
    inputs = (validation.inputs - found.standard.center) * found.standard.gain
    squares = ((plain(network, found.weights, inputs) - validation.labels) ** 2).mean(axis=1)
    assert np.average(squares, weights=validation.weights) == pytest.approx(best)


def test_a_falling_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[float] = []

    def noted(*arguments: object) -> None:
        rates.append(float(arguments[-1]))  # type: ignore[arg-type]
        train(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(fitting, "train", noted)
    found = fitted(0.3, Schedule(rate=0.02, falls=True, patience=2), number=300)
    cut = np.array(found.curve.rate[:-1])
    np.testing.assert_allclose(rates, cut / np.sqrt(np.arange(1, len(cut) + 1)))


@pytest.mark.parametrize("rate", [1e-12, 10.0, 1e200])
def test_rates_that_are_useless(rate: float) -> None:
    """The network stays as it was at first, or as it was before it went astray."""
    found = fitted(0.0, CONSTANT._replace(rate=rate), number=100, bounded=False)
    assert np.isfinite(found.weights).all()
    assert np.isfinite(found.test_error)
