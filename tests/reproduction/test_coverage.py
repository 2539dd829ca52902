import numpy as np
import pytest
from reproduction.coverage import Population, check

from brlbench.results.adjusted import StartValues


def test_luck_that_explains_half_of_the_variance() -> None:
    """Intervals hold the truth as often as they should, and are narrower by the root of two."""
    rng = np.random.default_rng(0)
    noise, start = rng.normal(size=(2, 50_000, 3))
    luck = noise[:, 0] + start[:, 1]
    returns = 5 + luck + np.sqrt(2) * rng.normal(size=len(luck))
    expected = StartValues(start.mean(axis=0).tolist(), [[0.0] * 3] * 3, len(start))
    population = Population(returns, noise - noise.mean(axis=0), start, expected)
    found = check(population, 200, experiments=400)
    error = np.sqrt(0.95 * 0.05 / 400)
    assert found.coverage == pytest.approx(0.95, abs=3 * error)
    assert found.plain_coverage == pytest.approx(0.95, abs=3 * error)
    assert abs(found.bias) < 3 / np.sqrt(400)
    assert found.gain == pytest.approx(np.sqrt(2), rel=0.03)
