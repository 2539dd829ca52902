import json
import signal
from pathlib import Path

import numpy as np
import pytest

from brlbench.errors import StoreError
from brlbench.protocol.evaluate import evaluate
from brlbench.storage import read_result
from brlbench.study.folder import Folder
from brlbench.study.schema import read_study
from brlbench.study.status import read_status
from helpers.made_studies import (
    LONG,
    SMALL,
    assert_same_results,
    assert_tidy,
    command,
    returns_in,
    run,
    write_study,
)
from helpers.processes import wait_for


def test_results_are_those_of_evaluating_agents_one_by_one(tmp_path: Path) -> None:
    path = write_study(tmp_path, SMALL)
    code, output = run("run", path, "--results", tmp_path / "out")
    assert code == 0, output
    assert "10 of 10 jobs done" in output
    assert_tidy(tmp_path / "out")
    folder, study = Folder(tmp_path / "out"), read_study(path)
    for job in study.jobs:
        result = read_result(folder.result(job))
        expected = evaluate(job.agent.agent, job.experiment)
        assert (result.label, result.experiment_hash) == (expected.label, expected.experiment_hash)
        np.testing.assert_array_equal(result.rewards, expected.rewards)
        assert result.states is None
        assert "waiting_share" in result.machine


def test_a_finished_study_is_not_run_again(tmp_path: Path) -> None:
    path = write_study(tmp_path, SMALL)
    run("run", path, "--results", tmp_path / "out")
    files = {p: p.stat().st_mtime_ns for p in (tmp_path / "out/results").rglob("*.parquet")}
    code, output = run("run", path, "--results", tmp_path / "out")
    assert code == 0
    assert "10 done, 0 failed, 0 to do" in output
    assert {p: p.stat().st_mtime_ns for p in files} == files


def test_a_changed_study_uses_what_still_applies(tmp_path: Path) -> None:
    path = write_study(tmp_path, SMALL)
    run("run", path, "--results", tmp_path / "out")
    path.write_text(SMALL.replace("[0.0, 0.5]", "[0.0, 0.25, 0.5]"))
    _, output = run("run", path, "--results", tmp_path / "out")
    assert "10 done, 0 failed, 2 to do" in output
    path.write_text(SMALL.replace("num_mdps = 6", "num_mdps = 7"))
    _, output = run("run", path, "--results", tmp_path / "out")
    assert "0 done, 0 failed, 10 to do" in output
    for (_, experiment), rewards in returns_in(tmp_path / "out").items():
        assert len(rewards) in (6, 7)
        del experiment


def test_results_of_another_version_of_an_agent_are_not_used(tmp_path: Path) -> None:
    path = write_study(tmp_path, SMALL)
    run("run", path, "--results", tmp_path / "out")
    agents = tmp_path / "test_agents.py"
    agents.write_text(agents.read_text().replace("self.rng.integers(self.actions)", "0"))
    code, output = run("run", path, "--results", tmp_path / "out")
    assert code == 0, output
    assert "6 done, 0 failed, 4 to do" in output
    assert " ".join(output.split()).count("of another version of the agent's code") == 4
    assert len(returns_in(tmp_path / "out")) == 10
    assert len(list((tmp_path / "out/results").rglob("*.outdated"))) == 4


def test_a_deadline_is_used_up_or_its_overruns_are_told(tmp_path: Path) -> None:
    text = """
[defaults]
num_mdps = 3
horizon = 20
[[experiments]]
test = "GC"
deadline = "2ms"
[[agents]]
algorithm = "bamcp"
parameters.simulations = 10_000_000
[[agents]]
algorithm = "test_agents:Slow"
parameters.seconds = 0.004
"""
    code, output = run("run", write_study(tmp_path, text), "-r", tmp_path / "out")
    assert code == 0, output
    found = {r.algorithm: r for r in map(read_result, (tmp_path / "out").rglob("results/*/*"))}
    assert found["test_agents:Slow"].overruns == 1.0
    assert 0.0002 < np.median(found["bamcp"].decision_seconds) < 0.02
    assert found["bamcp"].label.endswith(" within 2 ms")
    assert not found["bamcp"].reproducible
    _, output = run("compare", tmp_path / "out")
    output = " ".join(output.split())
    assert "depend on the machine's speed: they are not reproducible" in output
    assert "within 2 ms on GC: 100.0% of its decisions took longer" in output


def test_parts_make_the_same_results(tmp_path: Path) -> None:
    """Also with states and actions, and whatever the number of workers."""
    kept = LONG + "\n[output]\ntrajectories = true\n"
    path = write_study(tmp_path, kept)
    for workers in (1, 3):
        code, output = run("run", path, "-r", tmp_path / str(workers), "--workers", str(workers))
        assert code == 0, output
        assert_tidy(tmp_path / str(workers))
    assert_same_results(tmp_path / "1", tmp_path / "3")
    result = read_result(next((tmp_path / "1/results").rglob("*.parquet")))
    assert result.states is not None
    assert result.states.shape == (15, 1, 11)


TROUBLE = """
[defaults]
num_mdps = 2
horizon = 3

[[experiments]]
test = "GC"

[limits]
training = "3s"
trajectory = "15s"
memory = "600MB"

[[agents]]
algorithm = "test_agents:Troubled"
parameters.trouble = [
    "none", "training", "long training", "raise", "nonsense", "hang", "memory", "exit",
]

[[agents]]
algorithm = "test_agents:Troubled"
parameters.trouble = ["slow"]
limits.decision = "0.2s"

[execution]
workers = 2
"""


REASONS = {
    "training": "training: test_agents:Troubled failed while training: RuntimeError: no idea",
    "long training": "training: took more than 3 s",
    "raise": "failed on MDP 0 at step 0: ValueError: lost",
    "nonsense": "failed on MDP 0 at step 0: act returned 99: must be from 0 to 2",
    "hang": "took more than 15 s",
    "memory": "of memory, more than 600 MB",
    "exit": "its process ended 3 times: exit code 3",
    "slow": "s, more than 0.2 s",
}


def test_failures_are_results(tmp_path: Path) -> None:
    path = write_study(tmp_path, TROUBLE)
    code, output = run("run", path, "-r", tmp_path / "out")
    assert code == 1
    assert "1 of 9 jobs done, 8 failed" in output
    status = read_status(tmp_path / "out")
    found = {failure.agent: failure.reason for failure in status.failures}
    for trouble, reason in REASONS.items():
        [told] = [text for agent, text in found.items() if f"trouble={trouble})" in agent]
        assert reason in told
    assert len(returns_in(tmp_path / "out")) == 1
    # Reports tell of them as well.
    code, output = run("compare", tmp_path / "out")
    assert code == 0, output
    assert output.count("failed: ") == 8
    # They are not tried again, unless that is asked for.
    _, output = run("run", path, "-r", tmp_path / "out")
    assert "1 done, 8 failed, 0 to do" in output
    # They are tried again with other limits, or if that is asked for.
    text = TROUBLE.replace('"none", "training", "long training", "raise", "nonsense", "hang", '
                           '"memory", "exit",', '"none", "raise",')  # fmt: skip
    path.write_text(text.replace('"0.2s"', '"5s"'))
    _, output = run("run", path, "-r", tmp_path / "out")
    assert "1 done, 1 failed, 1 to do" in output
    assert "2 of 3 jobs done, 1 failed" in output
    _, output = run("run", path, "-r", tmp_path / "out", "--retry-failed")
    assert "2 done, 0 failed, 1 to do" in output
    # A damaged note of a failure is set aside.
    [note] = [path for path in (tmp_path / "out/failures").glob("*.json") if "raise" in
              path.read_text()]  # fmt: skip
    note.write_text("{")
    _, output = run("run", path, "-r", tmp_path / "out")
    assert "is damaged: set aside" in output
    assert "2 of 3 jobs done, 1 failed" in output


def test_a_renamed_experiment_keeps_its_results(tmp_path: Path) -> None:
    path = write_study(tmp_path, SMALL)
    run("run", path, "-r", tmp_path / "out")
    path.write_text(SMALL.replace('test = "GC"', 'test = "GC"\nname = "mine"', 1))
    _, output = run("run", path, "-r", tmp_path / "out")
    assert "10 done, 0 failed, 0 to do" in output


def test_parts_without_states_make_no_result_with_them(tmp_path: Path) -> None:
    path = write_study(tmp_path, LONG)
    process = command("run", path, "-r", tmp_path / "out")
    wait_for(lambda: any((tmp_path / "out").glob("parts/*/*.parquet")))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    path.write_text(LONG + "\n[output]\ntrajectories = true\n")
    code, output = run("run", path, "-r", tmp_path / "out")
    assert code == 0, output
    results = list(map(read_result, (tmp_path / "out").rglob("results/*/*.parquet")))
    assert len(results) == 16
    assert any(result.states is not None for result in results)


def test_a_run_in_the_background(tmp_path: Path) -> None:
    path = write_study(tmp_path, SMALL)
    code, output = run("run", path, "-r", tmp_path / "out", "--detach")
    assert code == 0
    assert "brlbench status" in output
    plan = tmp_path / "out/plan.json"
    wait_for(lambda: plan.exists() and read_status(tmp_path / "out").done == 10, seconds=60)
    wait_for(lambda: read_status(tmp_path / "out").owner is None)
    # The last line is written after the folder is given free.
    wait_for(lambda: "10 of 10 jobs done" in (tmp_path / "out/run.log").read_text())


def test_folder_errors_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    study = read_study(write_study(tmp_path, SMALL))
    with pytest.raises(StoreError, match="can't be made a folder"):
        Folder(tmp_path / "file").open(study)
    code, output = run("status", tmp_path / "nothing")
    assert code == 1
    assert "has no study in it" in output
    for results, message in [("file", "can't be written"), ("file/x", "can't be written")]:
        code, output = run("run", study.path, "-r", tmp_path / results, "--detach")
        assert code == 1
        assert message in output
    code, output = run("run", tmp_path / "none.toml", "-r", tmp_path / "out", "--detach")
    assert code == 1
    assert "can't be read" in output
    (tmp_path / "out/.lock").mkdir(parents=True)
    with pytest.raises(StoreError, match="lock can't be written"):
        Folder(tmp_path / "out").open(study)


def test_what_is_written_can_be_read_without_this_package(tmp_path: Path) -> None:
    run("run", write_study(tmp_path, SMALL), "-r", tmp_path / "out")
    plan = json.loads((tmp_path / "out/plan.json").read_text())
    assert plan["title"] == "A small one"
    assert all((tmp_path / "out" / job["result"]).exists() for job in plan["jobs"])
