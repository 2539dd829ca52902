"""Adjusted scores: their law in simulated experiments, and cases with known answers."""

import numpy as np
import pytest

import brlbench as bb
from brlbench.errors import InvalidInput
from brlbench.mdps.sparse import Floats
from brlbench.results.adjusted import LEAST_MDPS, StartValues, adjust

EXACT = StartValues([0.0] * 3, [[0.0] * 3] * 3, 10**9)
COEFFICIENTS = np.array([2.0, -1.0, 0.5])


def simulated(
    rng: np.random.Generator, number: int, noise_share: float = 1.0
) -> tuple[Floats, Floats, Floats]:
    """Returns with mean 7 that depend on luck, with skewed residuals."""
    noise, start = rng.normal(size=(2, number, 3))
    residual = rng.exponential(size=number) - 1
    return 7 + (noise + start) @ COEFFICIENTS + noise_share * residual, noise, start


@pytest.mark.parametrize("number", [LEAST_MDPS, 50, 199, 200, 1000])
def test_luck_that_explains_everything_leaves_nothing(number: int) -> None:
    returns, noise, start = simulated(np.random.default_rng(0), number, noise_share=0.0)
    adjusted = adjust(returns, noise, start, EXACT)
    np.testing.assert_allclose(adjusted.returns, 7.0)
    assert adjusted.mean == pytest.approx(7)
    assert adjusted.ci95 == pytest.approx(0, abs=1e-9)


def test_luck_that_explains_nothing_leaves_the_score_nearly_as_it_is() -> None:
    rng = np.random.default_rng(1)
    returns, noise, start = rng.normal(size=500), *rng.normal(size=(2, 500, 3))
    adjusted = adjust(returns, noise, start, EXACT)
    error = returns.std() / np.sqrt(500)
    assert adjusted.mean == pytest.approx(returns.mean(), abs=error / 2)
    assert adjusted.ci95 == pytest.approx(2 * error, rel=0.05)


def test_baselines_that_coincide_or_do_not_vary() -> None:
    returns, noise, start = simulated(np.random.default_rng(2), 300)
    noise[:, 1], start[:, 1] = noise[:, 0], start[:, 0]
    noise[:, 2], start[:, 2] = 0.0, 0.0
    adjusted = adjust(returns, noise, start, EXACT)
    assert np.isfinite(adjusted.returns).all()
    constant = adjust(np.full(300, 3.0), 0 * noise, 0 * start, EXACT)
    assert (constant.mean, constant.ci95) == (3.0, 0.0)


def test_uncertain_expectations_widen_the_interval() -> None:
    returns, noise, start = simulated(np.random.default_rng(3), 300)
    uncertain = StartValues([0.0] * 3, np.eye(3).tolist(), 10)
    exact, wide = (adjust(returns, noise, start, each) for each in (EXACT, uncertain))
    assert wide.mean == exact.mean
    # The standard error of the expectations counts with the square of the coefficients.
    added = np.sqrt((COEFFICIENTS**2).sum())
    assert wide.ci95 == pytest.approx(1.97 * added, rel=0.1)


@pytest.mark.parametrize("number", [50, pytest.param(500, marks=pytest.mark.exhaustive)])
def test_coverage_and_bias(number: int) -> None:
    """In 2,000 simulated experiments; a share's standard error is 0.5%."""
    rng = np.random.default_rng(4)
    means, widths = [], []
    for _ in range(2000):
        adjusted = adjust(*simulated(rng, number), EXACT)
        means.append(adjusted.mean)
        widths.append(adjusted.ci95)
    errors = np.array(means) - 7
    assert 0.935 <= (np.abs(errors) <= widths).mean() <= 0.965
    assert abs(errors.mean()) < 0.1 * errors.std()
    assert errors.std() == pytest.approx(1 / np.sqrt(number), rel=0.1)


def test_of_results() -> None:
    experiment = bb.Experiment("GC", num_mdps=100)
    result = bb.evaluate(bb.make_agent("random"), experiment)
    assert result.can_be_adjusted
    assert result.adjusted.returns.shape == (100,)
    assert result.adjusted.ci95 < 0.6 * result.ci95
    assert abs(result.adjusted.mean - 31.7) < 2 * result.adjusted.ci95  # the exact value
    few = bb.evaluate(bb.make_agent("random"), bb.Experiment("GC", num_mdps=5))
    assert not few.can_be_adjusted
    with pytest.raises(InvalidInput, match="has no adjusted score: it takes at least 20 MDPs"):
        _ = few.adjusted


def test_problems_that_are_too_large_have_none() -> None:
    large = bb.Experiment("Sparse:states=1000", num_mdps=20, horizon=200)
    result = bb.evaluate(bb.make_agent("random"), large)
    assert not result.can_be_adjusted
