"""Adjusted scores: their law in simulated experiments, and cases with known answers."""

from pathlib import Path

import numpy as np
import pytest

import brlbench as bb
from brlbench.errors import InvalidInput
from brlbench.mdps.sparse import Floats
from brlbench.protocol import luck
from brlbench.results.adjusted import LEAST_MDPS, StartValues, adjust
from brlbench.results.score import ci95

EXACT = StartValues([0.0] * 3, [[0.0] * 3] * 3, 10**9)
COEFFICIENTS = np.array([2.0, -1.0, 0.5])


def simulated(
    rng: np.random.Generator, number: int, noise_share: float = 1.0
) -> tuple[Floats, Floats, Floats]:
    """Returns with mean 7 that depend on luck, with skewed residuals."""
    noise, start = rng.normal(size=(2, number, 3))
    residual = rng.exponential(size=number) - 1
    return 7 + (noise + start) @ COEFFICIENTS + noise_share * residual, noise, start


@pytest.mark.parametrize("number", [50, LEAST_MDPS, 199, 200, 1000])
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


def test_a_baseline_that_varies_by_rounding_alone() -> None:
    """As random actions where one slip is unknown: they are worth the same in every MDP."""
    rng = np.random.default_rng(2)
    returns, noise, start = simulated(rng, 300)
    returns = returns - start[:, 1] * COEFFICIENTS[1]
    scores = []
    for rounding in (0.0, 1e-13):
        start[:, 1] = 130 + rounding * rng.normal(size=300)
        covariance = np.diag([1e-4, 1e-17, 1e-4]).tolist()
        expected = StartValues([0.0, 130 + 1e-10, 0.0], covariance, 20_000)
        scores.append(adjust(returns, noise, start, expected).score)
    assert scores[1] == pytest.approx(scores[0], rel=1e-6)
    assert scores[1].ci95 < 0.8 * ci95(returns)


def test_uncertain_expectations_widen_the_interval() -> None:
    returns, noise, start = simulated(np.random.default_rng(3), 300)
    uncertain = StartValues([0.0] * 3, (0.001 * np.eye(3)).tolist(), 10)
    exact, wide = (adjust(returns, noise, start, each) for each in (EXACT, uncertain))
    assert wide.mean == exact.mean
    # The standard error of the expectations counts with the square of the coefficients.
    added = 0.001 * (COEFFICIENTS**2).sum()
    assert wide.ci95 == pytest.approx(np.hypot(exact.ci95, 1.97 * np.sqrt(added)), rel=0.1)


def test_an_interval_that_would_be_wider_leaves_the_returns() -> None:
    returns, noise, start = simulated(np.random.default_rng(3), 300)
    unknown = StartValues([0.0] * 3, np.eye(3).tolist(), 10)
    adjusted = adjust(returns, noise, start, unknown)
    np.testing.assert_array_equal(adjusted.returns, returns)
    assert adjusted.ci95 == ci95(returns)


@pytest.mark.parametrize("small", [0.0, 1e-12, 1e-6, 1e-3])
def test_baselines_that_nearly_coincide(small: float) -> None:
    """Without dropping directions, coefficients of 1 / small would multiply wrong expectations."""
    rng = np.random.default_rng(5)
    noise, start = rng.normal(size=(2, 1000, 3))
    start[:, 1:] = start[:, :1] + small * start[:, 1:]
    returns = 7 + (noise + 3 * start) @ COEFFICIENTS + rng.normal(size=1000)
    error = 0.02
    expected = StartValues([0.0, error, 0.0], (error**2 * np.eye(3)).tolist(), 1000)
    adjusted = adjust(returns, noise, start, expected)
    assert abs(adjusted.mean - 7) < adjusted.ci95 < 0.5 * ci95(returns)


@pytest.mark.parametrize("scale", [1e-90, 1e80, 1e100])
def test_rewards_of_any_size(scale: float) -> None:
    returns, noise, start = simulated(np.random.default_rng(6), 300)
    usual = adjust(returns, noise, start, EXACT)
    scaled = adjust(scale * returns, scale * noise, scale * start, EXACT)
    np.testing.assert_allclose(scaled.returns / scale, usual.returns)
    assert scaled.ci95 / scale == pytest.approx(usual.ci95)


def test_luck_beside_which_returns_vanish_leaves_them() -> None:
    returns, noise, start = simulated(np.random.default_rng(6), 50)
    noise[0, 0] = 1e140
    adjusted = adjust(returns, noise, start, EXACT)
    assert adjusted.mean == pytest.approx(returns.mean())
    assert adjusted.ci95 == pytest.approx(ci95(returns))


def test_start_values_need_a_covariance() -> None:
    for wrong in ([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[0.0, 1.0, 0.0]] * 3):
        with pytest.raises(ValueError, match="covariance"):
            StartValues([0.0] * 3, wrong, 10)


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
    with pytest.raises(InvalidInput, match="has no adjusted score: it takes at least 100 MDPs"):
        _ = few.adjusted


def test_mdps_of_unknown_origin_have_none() -> None:
    """MDPs of two states each that no draw of the prior gives: expected luck is not theirs."""
    prior = bb.distribution("Chain")
    mdps = np.tile(prior.mean().transitions.values, (100, 1))
    for origin in (None, "mine"):
        experiment = bb.Experiment(prior, num_mdps=100, mdps=mdps, origin=origin)
        result = bb.evaluate(bb.make_agent("random"), experiment)
        assert not result.can_be_adjusted
        np.testing.assert_array_equal(result.scored_returns, result.returns)
    same = bb.Experiment(prior, num_mdps=100).replace(horizon=50)
    assert bb.evaluate(bb.make_agent("random"), same).can_be_adjusted


def test_scores_do_not_depend_on_earlier_experiments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An experiment of more MDPs leaves a more precise expectation behind, which is not used."""
    monkeypatch.setattr(luck, "_FEWEST_MDPS", 200)
    monkeypatch.setattr(luck, "_MDPS_PER_MDP", 10)
    small, large = (bb.Experiment("Loop", num_mdps=n, horizon=20) for n in (100, 150))
    scores = []
    for name, history in (("empty", []), ("used", [large])):
        monkeypatch.setenv("BRLBENCH_CACHE_DIR", str(tmp_path / name))
        monkeypatch.setattr(luck, "_known", {})
        for experiment in [*history, small]:
            score = bb.evaluate(bb.make_agent("random"), experiment).adjusted.score
        monkeypatch.setattr(luck, "_known", {})  # as in a new process
        again = bb.evaluate(bb.make_agent("random"), small).adjusted.score
        scores += [score, again]
    assert len(set(scores)) == 1


def test_problems_that_are_too_large_have_none() -> None:
    large = bb.Experiment("Sparse:states=1000", num_mdps=100, horizon=200)
    result = bb.evaluate(bb.make_agent("random"), large)
    assert not result.can_be_adjusted


def test_agents_that_stop_early_are_adjusted_as_others_are() -> None:
    """Else, one dropped agent would leave mean returns to compare all others by."""
    result = bb.evaluate(bb.make_agent("random"), bb.Experiment("GC", num_mdps=100, horizon=20))
    assert result.first(25).can_be_adjusted
    assert not result.first(19).can_be_adjusted
    small = bb.Experiment("GC", num_mdps=99, horizon=20)
    assert not bb.evaluate(bb.make_agent("random"), small).can_be_adjusted
