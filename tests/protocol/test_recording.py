"""Experiments with so many decisions that only their totals are kept."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.errors import InvalidInput
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.playing import Part, PlayedPart, play
from brlbench.protocol.recording import keeps_decisions, make_part, rows_of
from brlbench.protocol.training import train
from brlbench.report.loading import load
from brlbench.results import result as results
from brlbench.results.result import Result, join
from brlbench.results.summary import summarise
from brlbench.storage import read_result, write_result
from brlbench.study.folder import Folder
from brlbench.study.plan import read_study
from brlbench.study.run import StudyRun
from helpers.inline import Inline
from helpers.own_agents import Scripted


def build(**changes: Any) -> Experiment:
    settings: dict[str, Any] = {"prior": "GC", "num_mdps": 7, "horizon": 30}
    return Experiment(**{**settings, "trajectories_per_mdp": 2, **changes})


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep single decisions of 100 at most."""
    monkeypatch.setattr(results, "MOST_DECISIONS", 100)


def assert_same_returns(result: Result, kept: Result) -> None:
    assert result.trajectory_returns.tobytes() == kept.trajectory_returns.tobytes()
    assert result.trajectory_returns.shape == (7, 2)
    assert (result.score, result.experiment_hash) == (kept.score, kept.experiment_hash)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("agent", [make_agent("psrl"), Scripted([1, 0, 2])], ids=["psrl", "own"])
def test_returns_are_those_of_single_decisions(
    agent: Any, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = evaluate(agent, build())
    monkeypatch.setattr(results, "MOST_DECISIONS", 100)
    result = evaluate(agent, build(), workers)
    assert "nanoseconds" not in result.columns
    assert (result.states, result.actions) == (None, None)
    assert_same_returns(result, kept)


@pytest.mark.usefixtures("few")
def test_single_decisions_that_are_not_kept_are_refused_with_a_remedy() -> None:
    result = evaluate(make_agent("random"), build())
    for read in (
        lambda: result.rewards,
        lambda: result.nanoseconds,
        lambda: result.decision_seconds,
    ):
        with pytest.raises(InvalidInput, match=r"no (rewards|nanoseconds) of single .* keep_paths"):
            read()


@pytest.mark.usefixtures("few")
def test_all_is_kept_if_asked_for() -> None:
    result = evaluate(make_agent("random"), build(), keep_paths=True)
    assert result.rewards.shape == (7, 2, 30)
    assert result.states is not None
    few_decisions = evaluate(make_agent("random"), build(num_mdps=1, horizon=50))
    assert few_decisions.rewards.shape == (1, 2, 50)


def test_totals_are_those_of_the_same_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = build(deadline=1e-6)
    trained = train(make_agent("psrl"), experiment.prior, experiment.task, 0)
    records = {at: play(trained.agent, experiment, Part(at, end)) for at, end in ((0, 5), (5, 14))}
    for record in records.values():
        record.nanoseconds[:, ::7] += 1000  # some are late, whatever the machine

    def joined() -> Result:
        kept = keeps_decisions(experiment, keep_paths=False)
        rows = [
            rows_of(record, experiment, at, decisions=kept, paths=False)
            for at, record in records.items()
        ]
        whole, *parts = (
            make_part(
                trained.agent,
                experiment,
                trained.training,
                PlayedPart(Part(0, 14), some, 1.0, None),
                {},
            )
            for some in (rows, rows[:1], rows[1:])
        )
        result, at_once = join(parts), join([whole])
        assert result.to_polars().equals(at_once.to_polars())
        assert result.measured == {**at_once.measured, "playing_seconds": 2.0}
        return result

    kept = joined()
    monkeypatch.setattr(results, "MOST_DECISIONS", 100)
    result = joined()
    assert_same_returns(result, kept)
    assert result.cpu_nanoseconds.tobytes() == kept.cpu_nanoseconds.tobytes()
    assert result.overruns == kept.overruns
    assert result.online_seconds == pytest.approx(kept.online_seconds, rel=1e-3)


@pytest.mark.usefixtures("few")
def test_totals_come_back_from_files_and_make_reports(tmp_path: Path) -> None:
    result = evaluate(make_agent("random"), build(deadline=1.0))
    write_result(tmp_path / "a.parquet", result)
    again = read_result(tmp_path / "a.parquet")
    assert_same_returns(again, result)
    assert (again.online_seconds, again.overruns) == (result.online_seconds, 0.0)
    [experiment] = load(tmp_path).experiments
    assert experiment.summaries[0].seconds == summarise(result).seconds
    with pytest.raises(InvalidInput, match=r"has no single decisions, from which math:hypot"):
        load(tmp_path, feature="math:hypot")


STUDY = """
[defaults]
num_mdps = 7
horizon = 30
trajectories_per_mdp = 2
[[experiments]]
test = "GC"
[[agents]]
algorithm = "psrl"
"""


@pytest.mark.parametrize("part_seconds", [1e-9, 60.0], ids=["in parts", "at once"])
@pytest.mark.parametrize("keep_paths", [False, True])
def test_studies_keep_totals(
    tmp_path: Path, part_seconds: float, keep_paths: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = evaluate(make_agent("psrl"), build())
    monkeypatch.setattr(results, "MOST_DECISIONS", 100)
    output = f"\n[output]\nkeep_paths = {str(keep_paths).lower()}\n"
    (tmp_path / "study.toml").write_text(STUDY + output)
    study, folder = read_study(tmp_path / "study.toml"), Folder(tmp_path / "out")
    folder.open()
    assert StudyRun(study.jobs, folder, Inline(), part_seconds)()
    folder.close()
    [path] = (tmp_path / "out/results").rglob("*.parquet")
    result = read_result(path)
    assert_same_returns(result, kept)
    assert ("nanoseconds" in result.columns) == (result.states is not None) == keep_paths
    assert not list((tmp_path / "out/parts").iterdir())


def test_reports_do_not_read_single_decisions(tmp_path: Path) -> None:
    result = evaluate(make_agent("random"), build())
    write_result(tmp_path / "a.parquet", result, keep_paths=True)
    outline = read_result(tmp_path / "a.parquet", decisions=False)
    assert "nanoseconds" not in outline.columns
    one, other = summarise(result), summarise(outline)
    np.testing.assert_array_equal(one.returns, other.returns)
    assert (one.seconds, one.label, one.machine) == (other.seconds, other.label, other.machine)
