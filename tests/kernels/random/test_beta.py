"""The extremes of Beta draws against SciPy and against the draws themselves."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

from brlbench.kernels.jit import kernel
from brlbench.kernels.random import beta as kernels
from brlbench.kernels.types import Floats, Words


@kernel
def quantiles(a: Floats, b: Floats, chances: Floats, out: Floats) -> None:
    for i in range(len(out)):
        out[i] = kernels.quantile(a[i], b[i], chances[i])


@kernel
def draw_extremes(rng: Words, a: float, b: float, draws: int, out: Floats) -> None:
    for i in range(len(out)):
        out[i, 0], out[i, 1] = kernels.draw_extremes(rng, a, b, draws)


def test_quantiles_invert_the_distribution_function() -> None:
    rng = np.random.default_rng(0)
    a, b = np.exp(rng.uniform(np.log(0.01), np.log(2000), size=(2, 5000)))
    a[:100], b[100:200] = 1.0, 1.0
    chances = np.exp(rng.uniform(np.log(1e-9), np.log(0.99), size=5000))
    out = np.zeros(5000)
    quantiles(a, b, chances, out)
    assert (out >= 0).all() and (out <= 1).all()
    # Where the function is too steep or too flat for one comparison, the other one is sharp.
    backward = np.abs(scipy.special.betainc(a, b, out) / chances - 1)
    forward = np.abs(out - scipy.special.betaincinv(a, b, chances)) / (out + 1e-280)
    assert np.minimum(backward, forward).max() < 1e-9


def test_no_chance_has_quantile_zero() -> None:
    out = np.ones(1)
    quantiles(np.array([2.0]), np.array([3.0]), np.zeros(1), out)
    assert out[0] == 0


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (3.0, 2.0), (0.3, 0.7), (40.0, 1.0), (1.0, 9.0)])
@pytest.mark.parametrize("draws", [2, 33, 80_000])
def test_extremes_have_the_law_of_order_statistics(a: float, b: float, draws: int) -> None:
    rng = np.random.default_rng(1).integers(0, 2**64, size=4, dtype=np.uint64)
    out = np.zeros((5000, 2))
    draw_extremes(rng, a, b, draws, out)
    assert (out[:, 0] <= out[:, 1]).all()
    below = scipy.special.betainc(a, b, out[:, 0])
    above = scipy.special.betaincc(a, b, out[:, 1])
    # Of n uniform numbers the least has the law Beta(1, n), and so has what is above the greatest;
    # both together Beta(2, n - 1).
    for sample, law in ((below, (1, draws)), (above, (1, draws)), (below + above, (2, draws - 1))):
        assert scipy.stats.kstest(sample, "beta", law).pvalue > 1e-3
