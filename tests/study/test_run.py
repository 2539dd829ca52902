import json
import re
import time
from pathlib import Path

import pytest

import brlbench.study.run as running
from brlbench.errors import StoreError
from brlbench.executors.local import Local
from brlbench.protocol.evaluate import evaluate
from brlbench.results.score import Score
from brlbench.storage import read_result
from brlbench.study.folder import Folder
from brlbench.study.plan import read_study
from brlbench.study.run import StudyRun
from brlbench.study.status import read_status
from brlbench.study.tally import Progress, Running
from helpers.inline import in_this_process
from helpers.made_studies import (
    GATED,
    SMALL,
    TINY,
    assert_complete,
    assert_tidy,
    open_gate,
    returns_in,
    run,
    write_study,
)
from helpers.processes import wait_for
from helpers.shell import Shell, assert_error
from helpers.sizes import sizes


def test_results_are_those_of_evaluating_agents_one_by_one(finished_small: Path) -> None:
    out = finished_small / "out"
    assert_tidy(out)
    assert_complete(finished_small / "study.toml", out)
    for path in out.rglob("results/*/*"):
        result = read_result(path)
        assert result.states is None
        assert "waiting_share" in result.machine


def test_what_is_written_can_be_read_without_this_package(finished_small: Path) -> None:
    plan = json.loads((finished_small / "out/plan.json").read_text())
    assert plan["title"] == "A small one"
    assert all((finished_small / "out" / job["result"]).exists() for job in plan["jobs"])


def test_a_finished_study_is_not_run_again(small: Path, shell: Shell) -> None:
    results = {path: path.stat().st_mtime_ns for path in (small / "out").rglob("*.parquet")}
    assert len(results) == 10 + 2
    done = shell("run", small / "study.toml", "--results", small / "out")
    assert done.code == 0
    assert "10 done, 0 failed, 0 to do" in done.out
    assert {path: path.stat().st_mtime_ns for path in results} == results
    # Nor is it if an experiment has another name.
    renamed = SMALL.replace('test = "GC"', 'test = "GC"\nname = "mine"', 1)
    (small / "study.toml").write_text(renamed)
    done = shell("run", small / "study.toml", "--results", small / "out")
    assert "10 done, 0 failed, 0 to do" in done.out


@pytest.mark.usefixtures("in_process")
def test_a_changed_study_uses_what_still_applies(small: Path, shell: Shell) -> None:
    path = small / "study.toml"
    path.write_text(SMALL.replace("[0.0, 0.5]", "[0.0, 0.25, 0.5]"))
    assert "10 done, 0 failed, 2 to do" in shell("run", path, "-r", small / "out").out
    path.write_text(SMALL.replace("num_mdps = 6", "num_mdps = 7"))
    assert "0 done, 0 failed, 10 to do" in shell("run", path, "-r", small / "out").out
    assert {len(rewards) for rewards in returns_in(small / "out").values()} == {6, 7}


@pytest.mark.usefixtures("in_process")
def test_results_of_another_version_of_an_agent_are_not_used(small: Path, shell: Shell) -> None:
    agents = small / "study_agents.py"
    agents.write_text(agents.read_text().replace("self.rng.integers(self.actions)", "0"))
    done = shell("run", small / "study.toml", "--results", small / "out")
    assert done.code == 0, done
    assert "6 done, 0 failed, 4 to do" in done.out
    assert " ".join(done.out.split()).count("from another version of the agent's code") == 4
    assert len(returns_in(small / "out")) == 10
    assert len(list((small / "out/results").rglob("*.outdated"))) == 4


@pytest.mark.slow  # compiles
@pytest.mark.usefixtures("in_process")
def test_overruns_of_a_deadline_are_told(tmp_path: Path, shell: Shell) -> None:
    """Nobody decides within a nanosecond."""
    text = """
[defaults]
num_mdps = 3
horizon = 20
[[experiments]]
test = "GC"
deadline = "0.001us"
[[agents]]
algorithm = "bamcp"
parameters.simulations = 10_000_000
[[agents]]
algorithm = "study_agents:Plain"
"""
    done = shell("run", write_study(tmp_path, text), "-r", tmp_path / "out")
    assert done.code == 0, done
    found = {r.algorithm: r for r in map(read_result, (tmp_path / "out").rglob("results/*/*"))}
    assert found["study_agents:Plain"].overruns == 1.0
    assert found["bamcp"].overruns == 1.0
    assert found["bamcp"].label.endswith(" within 1 ns")
    assert not found["bamcp"].reproducible
    done = shell("compare", tmp_path / "out", "--notes")
    assert "depend on the machine's speed: they are not reproducible" in done.err
    assert "within 1 ns: 100.0% of its decisions missed the deadline" in done.err


@pytest.mark.slow  # starts processes
@pytest.mark.parametrize("workers", sizes(2, 1))
def test_parts_make_the_same_results(workers: int, tmp_path: Path, shell: Shell) -> None:
    """Also with states and actions, and whatever the number of workers."""
    path = write_study(tmp_path, GATED + "\n[output]\nkeep_paths = true\n")
    open_gate(tmp_path)
    done = shell("run", path, "-r", tmp_path / "out", "--workers", workers)
    assert done.code == 0, done
    assert_tidy(tmp_path / "out")
    assert_complete(path, tmp_path / "out")
    result = read_result(next((tmp_path / "out/results").rglob("*.parquet")))
    assert result.states is not None
    assert result.states.shape == (8, 1, 6)


# Limits that end processes have tests of their own.
TROUBLE = """
[defaults]
num_mdps = 2
horizon = 1000  # so that the limit of a decision does not limit a trajectory

[[experiments]]
test = "GC"

[limits]
memory = "600MB"

[[agents]]
algorithm = "study_agents:Troubled"
parameters.trouble = ["none", "training", "raise", "nonsense", "exit"]

[[agents]]
algorithm = "study_agents:Troubled"
parameters.trouble = "slow"
limits.decision = "0.1s"

[execution]
workers = 2
"""


REASONS = {
    "training": "training: study_agents:Troubled failed while training: RuntimeError: no idea",
    "raise": "failed on MDP 0 at step 0: ValueError: lost",
    "nonsense": "failed on MDP 0 at step 0: act returned 99: must be from 0 to 2",
    "exit": "its process ended with exit code 3",
    "slow": "s, more than limits.decision = 100 ms",
}


@pytest.mark.slow
def test_failures_are_results(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = write_study(tmp_path, TROUBLE), tmp_path / "out"
    done = shell("run", path, "-r", out)
    assert done.code == 1
    assert "1 of 6 jobs done, 5 failed" in done.out
    found = {failure.agent: failure.reason for failure in read_status(out).failures}
    for trouble, reason in REASONS.items():
        [told] = [text for agent, text in found.items() if f"trouble={trouble})" in agent]
        assert reason in told
    for failure in read_status(out).failures:
        if any(f"trouble={name})" in failure.agent for name in ("training", "raise")):
            [place] = re.findall(r" \((.*study_agents.py, line \d+), in \w+\)$", failure.reason)
            assert any(place.rpartition(", ")[2] in line for line in failure.traceback)
            assert failure.traceback[0] == "Traceback (most recent call last):"
    assert len(returns_in(out)) == 1
    # Reports tell of them as well.
    done = shell("compare", out)
    assert done.code == 0, done
    assert done.err.count("\n") == 1
    assert re.search(r"and \d more notes \(--notes lists all\)$", done.err)
    assert shell("compare", out, "--notes").err.count("failed: ") == 5
    # They are not tried again.
    assert "1 done, 5 failed, 0 to do" in shell("run", path, "-r", out).out
    # They are tried again with other limits, or if that is asked for.
    few = TROUBLE.replace('"training", "raise", "nonsense", "exit"', '"raise"')
    path.write_text(few.replace('"0.1s"', '"1h"'))
    in_this_process(monkeypatch)
    done = shell("run", path, "-r", out)
    assert "1 done, 1 failed, 1 to do" in done.out
    assert "2 of 3 jobs done, 1 failed" in done.out
    assert "2 done, 0 failed, 1 to do" in shell("run", path, "-r", out, "--retry-failed").out
    # A damaged note of a failure is set aside.
    [note] = [note for note in out.glob("failures/*.json") if "trouble=raise)" in note.read_text()]
    note.write_text("{")
    done = shell("run", path, "-r", out)
    assert "is damaged: set aside" in done.out
    assert "2 of 3 jobs done, 1 failed" in done.out


@pytest.mark.slow  # starts processes
def test_a_run_in_the_background(tmp_path: Path) -> None:
    code, output = run("run", write_study(tmp_path, TINY), "-r", tmp_path / "out", "--detach")
    assert code == 0
    assert "brlbench status" in output
    # The last line is written after the folder is given free.
    log = tmp_path / "out/run.log"
    wait_for(lambda: "\n  brlbench report " in log.read_text())
    _, scores, commands = re.split(r"1 of 1 job done\n|Next:\n", log.read_text())
    assert scores.count("score ± 95%") == len(read_status(tmp_path / "out").by_experiment)
    assert f"  brlbench compare {tmp_path / 'out'} " in commands
    assert read_status(tmp_path / "out").done == 1
    assert read_status(tmp_path / "out").owner is None


def test_folder_errors_are_sentences(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "file").write_text("")
    study = read_study(write_study(tmp_path, SMALL))
    with pytest.raises(StoreError, match="can't be used as a folder"):
        Folder(tmp_path / "file").open()
    assert_error(shell("status", tmp_path / "nothing"), "has no study in it")
    for results in ("file", "file/x"):
        done = shell("run", study.path, "-r", tmp_path / results, "--detach")
        assert_error(done, "can't be written")
    done = shell("run", tmp_path / "none.toml", "-r", tmp_path / "out", "--detach")
    assert_error(done, "can't be read")
    (tmp_path / "out/.lock").mkdir(parents=True)
    with pytest.raises(StoreError, match="lock can't be written"):
        Folder(tmp_path / "out").open()


TWELVE = TINY.replace("num_mdps = 2", "num_mdps = 12")


@pytest.mark.slow  # starts processes
def test_the_score_so_far_is_that_of_the_mdps_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "POLL_SECONDS", 0.0)  # so that nothing is left untold
    study, folder = read_study(write_study(tmp_path, TWELVE)), Folder(tmp_path / "out")
    [job] = study.jobs
    returns = evaluate(job.agent.agent, job.experiment).returns
    told: dict[int, Running] = {}

    def show(progress: Progress) -> None:
        for unit in progress.running:
            told[unit.num_mdps] = unit
        if max(told) >= 4:
            running_study.stop()

    folder.open()
    with Local(1) as executor:
        running_study = StudyRun(study.jobs, folder, executor, 1e-9, show)
        assert not running_study()
    # What was played counts in the next run too.
    tally = folder.tally(job)
    folder.close()
    assert tally.score == Score.of(returns[: tally.num_mdps])
    assert 4 <= tally.num_mdps < 12
    scored = {number: unit for number, unit in told.items() if number}
    assert min(scored) >= 2
    for number, unit in scored.items():
        assert (unit.mean, unit.ci95) == Score.of(returns[:number])
        assert unit.what.startswith("random on GC, trajectories ")


def test_the_status_of_a_run_has_scores_so_far(tmp_path: Path, shell: Shell) -> None:
    study, folder = read_study(write_study(tmp_path, TINY)), Folder(tmp_path / "out")
    folder.open()
    folder.write_plan(study)
    units = [Running("training beb on GC"), Running("psrl on GC", 38.25, 1.5, 40)]
    folder.write_now(Progress(running=units, at=time.time()))
    told = shell("status", tmp_path / "out").out
    folder.close()
    assert "  training beb on GC\n  mean return 38.25 ± 1.50 in 40 MDPs: psrl on GC\n" in told
