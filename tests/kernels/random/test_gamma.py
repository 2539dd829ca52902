"""Variates against the distributions of SciPy."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

from brlbench.kernels.jit import kernel
from brlbench.kernels.random import gamma as kernels
from brlbench.kernels.types import Floats, Words

DRAWS = 100_000
LEAST_P_VALUE = 1e-3  # the seeds are fixed
SHAPES = (0.01, 0.3, 0.999, 1.0, 1.001, 2.5, 10.0, 100.0, 1e6)


def seeded(seed: int) -> Words:
    return np.random.default_rng(seed).integers(0, 2**64, size=4, dtype=np.uint64)


@kernel
def draw_exponential(rng: Words, out: Floats) -> None:
    for i in range(len(out)):
        out[i] = kernels.exponential(rng)


@kernel
def draw_normal(rng: Words, out: Floats) -> None:
    for i in range(len(out)):
        out[i] = kernels.normal(rng)


@kernel
def draw_gamma(rng: Words, shape: float, out: Floats) -> None:
    for i in range(len(out)):
        out[i] = kernels.gamma(rng, shape)


@kernel
def draw_rows(rng: Words, shapes: Floats, out: Floats) -> None:
    for i in range(len(out)):
        kernels.draw_row(rng, shapes, out[i])


def drawn_rows(shapes: list[float], seed: int, draws: int = DRAWS) -> Floats:
    out = np.zeros((draws, len(shapes)))
    draw_rows(seeded(seed), np.array(shapes), out)
    return out


def p_value(sample: Floats, distribution: str, *parameters: float) -> float:
    return float(scipy.stats.kstest(sample, distribution, parameters).pvalue)


def test_exponential() -> None:
    out = np.zeros(5 * DRAWS)
    draw_exponential(seeded(1), out)
    assert out.min() >= 0
    assert p_value(out, "expon") > LEAST_P_VALUE
    # The tail beyond the last layer of the ziggurat, at 7.7, is one draw in 2,200.
    assert p_value(out[out > 7.7] - 7.7, "expon") > LEAST_P_VALUE


def test_normal() -> None:
    out = np.zeros(5 * DRAWS)
    draw_normal(seeded(2), out)
    assert p_value(out, "norm") > LEAST_P_VALUE
    tail = scipy.stats.norm.sf(np.abs(out[np.abs(out) > 3.66])) / scipy.stats.norm.sf(3.66)
    assert len(tail) > 75
    assert p_value(tail, "uniform") > LEAST_P_VALUE
    assert abs(np.mean(np.sign(out))) < 4 / np.sqrt(len(out))


@pytest.mark.parametrize("shape", SHAPES)
def test_gamma(shape: float) -> None:
    out = np.zeros(DRAWS)
    draw_gamma(seeded(3), shape, out)
    assert p_value(out, "gamma", shape) > LEAST_P_VALUE
    # The mean and the variance are the shape; the fourth moment gives their standard errors.
    assert abs(out.mean() - shape) < 4 * np.sqrt(shape / DRAWS)
    error = np.sqrt((2 * shape**2 + 6 * shape) / DRAWS)
    assert abs(out.var() - shape) < 5 * error


@pytest.mark.parametrize(
    "shapes",
    [
        [1.0, 1.0],
        [1.0, 2.0, 0.3],
        [0.01, 2.5, 100.0, 1.0],
        [0.05, 0.02],
        [0.001, 0.001, 0.004],
        [1e-5, 2e-5, 1e-5],
        [1.0] * 25,
    ],
)
def test_dirichlet_rows(shapes: list[float]) -> None:
    rows = drawn_rows(shapes, seed=4)
    assert np.isfinite(rows).all() and (rows >= 0).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)
    total = sum(shapes)
    for i, shape in enumerate(shapes[:4]):
        mean = shape / total
        error = np.sqrt(mean * (1 - mean) / (total + 1) / DRAWS)
        assert abs(rows[:, i].mean() - mean) < 4 * error
        if min(shape, total - shape) >= 0.25:
            assert p_value(rows[:, i], "beta", shape, total - shape) > LEAST_P_VALUE
        # Of small shapes much lies where numbers can't be told from 0 and 1.
        for limit in (1e-12, 0.01, 0.5, 0.99, 1 - 1e-12):
            chance = scipy.special.betainc(shape, total - shape, limit)
            error = np.sqrt(chance * (1 - chance) / DRAWS)
            assert abs((rows[:, i] <= limit).mean() - chance) <= 4 * error + 1e-9


def test_outcomes_of_a_row_have_the_dirichlet_covariance() -> None:
    shapes = np.array([0.4, 1.0, 3.0, 2.2])
    rows = drawn_rows(shapes.tolist(), seed=5)
    exact = scipy.stats.dirichlet(shapes).cov()
    np.testing.assert_allclose(np.cov(rows.T), exact, atol=6 * exact.max() / np.sqrt(DRAWS))


def test_one_outcome_is_certain() -> None:
    assert (drawn_rows([0.3], seed=6, draws=10) == 1.0).all()


def test_tiny_shapes_give_every_outcome_its_share() -> None:
    rows = drawn_rows([1e-8, 3e-8], seed=7)
    assert set(np.unique(rows)) == {0.0, 1.0}
    assert abs(rows[:, 1].mean() - 0.75) < 4 * np.sqrt(0.75 * 0.25 / DRAWS)
