import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench.results.times import TimeHistogram, decision_features
from helpers.strategies import reproducible


def drawn(rows: int, seed: int = 0) -> np.ndarray:
    """Times from nanoseconds to hours."""
    return np.exp(np.random.default_rng(seed).uniform(0, 30, size=(rows, 40))).astype(np.int64)


def test_counted_times_have_the_features_of_the_times_themselves() -> None:
    nanoseconds = drawn(200)
    found, expected = TimeHistogram.of(nanoseconds, None).features(), decision_features(nanoseconds)
    assert found.keys() == expected.keys()
    for name in ("mean", "max", "total"):
        assert found[name] == pytest.approx(expected[name], rel=1e-12)
    for name in ("median", "p95"):
        assert found[name] == pytest.approx(expected[name], rel=1e-3)


@reproducible
@given(st.lists(st.integers(0, 2047), min_size=1, max_size=30))
def test_short_times_are_counted_exactly(nanoseconds: list[int]) -> None:
    times = np.array([nanoseconds])
    assert TimeHistogram.of(times, None).features() == pytest.approx(decision_features(times))


@reproducible
@given(st.integers(0, 2**62))
def test_any_time_is_counted_to_a_thousandth(nanoseconds: int) -> None:
    found = TimeHistogram.of(np.array([[nanoseconds, nanoseconds]]), None).features()
    assert found["median"] == pytest.approx(nanoseconds * 1e-9, rel=1e-3)


def test_parts_are_counted_like_the_whole() -> None:
    nanoseconds = drawn(30)
    whole = TimeHistogram.of(nanoseconds, 1e-3)
    parts = [TimeHistogram.of(nanoseconds[rows], 1e-3) for rows in (slice(7), slice(7, 30))]
    stored = [TimeHistogram(**json.loads(json.dumps(vars(part)))) for part in parts]
    joined = stored[0] + stored[1]
    assert joined == whole
    assert joined.features() == whole.features()
    assert (joined.late, joined.decisions) == (int((nanoseconds > 10**6).sum()), 1200)


@pytest.mark.parametrize(
    "change",
    [
        {"late": -1},
        {"slots": [-1]},
        {"slots": [10**6]},
        {"counts": []},
        {"counts": [0]},
        {"trajectories": 0},
    ],
)
def test_impossible_histograms_are_refused(change: dict[str, Any]) -> None:
    sound = vars(TimeHistogram.of(np.array([[5, 5]]), None))
    with pytest.raises(ValueError, match="no decisions lead to"):
        TimeHistogram(**{**sound, **change})
