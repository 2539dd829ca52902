from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.arguments import parse_seconds
from brlbench.errors import InvalidInput
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.results.summary import summarise
from brlbench.results.times import (
    FEATURES,
    all_features,
    decision_features,
    processor_times,
    time_of,
    users_feature,
)


class Idle:
    """Takes the first action, and does nothing else."""

    def train(self, prior: Any, task: Any, rng: Any) -> None: ...

    def start(self, state: int, rng: Any) -> None: ...

    def act(self, state: int) -> int:
        return 0

    def observe(self, *transition: Any) -> None: ...


DECISIONS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 15.0]])  # two trajectories


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("offline", 7), ("mean", 5), ("median", 3.5), ("p95", 12.5), ("max", 15), ("total", 15),
        ("max_with_training", 15),
    ],
)  # fmt: skip
def test_features_by_hand(name: str, seconds: float) -> None:
    times = {"offline": 7.0, **decision_features((DECISIONS * 1e9).astype(np.int64))}
    assert all_features(times)[name] == pytest.approx(seconds)
    assert name in FEATURES


@pytest.mark.parametrize(("number", "ends"), [(1, (0, 0)), (5, (0, 4)), (100, (40, 59))])
def test_processor_time_is_the_median_over_trajectories(number: int, ends: tuple[int, int]) -> None:
    nanoseconds = np.random.default_rng(0).permutation(number) * 10
    median, low, high = processor_times(nanoseconds, horizon=10)
    assert median == pytest.approx((number - 1) / 2 * 1e-9)
    assert (low, high) == pytest.approx([end * 1e-9 for end in ends])


def test_the_interval_of_processor_time_holds_the_median() -> None:
    """In 1,000 experiments of 60 trajectories; the share's standard error is 0.7%."""
    rng = np.random.default_rng(1)
    drawn = (rng.lognormal(size=(1000, 60)) * 1e6).astype(np.int64)
    intervals = np.array([processor_times(row, 1)[1:] for row in drawn])
    assert ((intervals[:, 0] <= 1e-3) & (1e-3 <= intervals[:, 1])).mean() > 0.94


def test_time_of_the_environment_does_not_count() -> None:
    """`random` does next to nothing; its steps and clocks take ten times as long."""
    for agent in (make_agent("random"), Idle()):
        result = evaluate(agent, Experiment("Grid", num_mdps=50))
        assert result.online_seconds["processor"] < 0.6 * result.online_seconds["median"]


def test_training_can_be_the_longest_of_all() -> None:
    assert all_features({"offline": 16.0, "mean": 1.0, "max": 15.0})["max_with_training"] == 16.0
    result = evaluate(make_agent("random"), Experiment("GC", num_mdps=2, horizon=3))
    for training in (1e-12, 1e3):
        times = summarise(
            replace(result, measured={**result.measured, "offline_seconds": training})
        ).seconds
        assert times["max_with_training"] == max(training, times["max"])


def test_a_feature_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def first(offline, decisions):\n    return offline + decisions[:, 0].mean()\n"
    Path(tmp_path, "own_feature_module.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    [own] = users_feature("own_feature_module:first").values()
    assert time_of(own, "first", 7.0, DECISIONS) == 9.5


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("meen", "unknown time feature 'meen' .did you mean 'mean'"),
        ("no_such_module:f", "can't be imported .No module named 'no_such_module'"),
        ("math:no_such_function", "can't be imported .module 'math' has no attribute"),
    ],
)
def test_unknown_features_are_refused(name: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        users_feature(name)


def test_a_result_is_summarised() -> None:
    result = evaluate(make_agent("beb"), Experiment("uniform:GC", "GC", num_mdps=5, horizon=20))
    summary = summarise(result)
    assert (summary.algorithm, summary.label) == (result.algorithm, result.label)
    assert summary.returns.tolist() == result.returns.tolist()
    assert summary.score == (result.mean, result.ci95)
    assert summary.seconds["offline"] == result.offline_seconds
    assert summary.seconds["mean"] == pytest.approx(result.decision_seconds.mean())
    assert tuple(summary.seconds) == FEATURES


def test_a_feature_that_fails_or_gives_nonsense_is_named() -> None:
    with pytest.raises(InvalidInput, match="time feature 'mine' failed: division by zero"):
        time_of(lambda offline, decisions: 1 / 0, "mine", 1.0, DECISIONS)
    for nonsense in (float("nan"), -1.0, float("inf")):
        with pytest.raises(InvalidInput, match=r"time feature 'mine' gave .*: must be seconds"):
            time_of(lambda offline, decisions, it=nonsense: it, "mine", 1.0, DECISIONS)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5ms", 0.005), ("1m", 60), ("1min", 60), ("2h", 7200), ("1d", 86400), ("300us", 3e-4),
        ("300µs", 3e-4), ("300μs", 3e-4), ("20ns", 2e-8), ("1.5s", 1.5), (" 5 MS ", 0.005),
        ("5 microseconds", 5e-6), ("2 Hours", 7200), ("1 second", 1),
        ("0.25", 0.25), ("1e-3", 1e-3), ("1e2ms", 0.1), ("0", 0),
    ],
)  # fmt: skip
def test_durations(text: str, seconds: float) -> None:
    assert parse_seconds(text) == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize(
    "text", ["", "ms", "-1s", "5 parsecs", "1h30m", "nan", "inf", "1e400", "1..2s", "five"]
)
def test_nonsense_is_no_duration(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"online = .*: must be a duration like 300us, 5ms"):
        parse_seconds(text, "online")
