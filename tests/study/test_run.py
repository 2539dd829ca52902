import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from brlbench.errors import StoreError
from brlbench.execution import evaluate
from brlbench.executors import Local
from brlbench.store import read_result
from brlbench.study.file import read_study
from brlbench.study.folder import Folder
from brlbench.study.run import Run, look
from brlbench.study.status import read_status
from made_studies import assert_same_results, assert_tidy, command, returns_in, run, write_study
from processes import children_of, is_running, wait_for

SMALL = """
title = "A small one"

[defaults]
num_mdps = 6
horizon = 5

[[experiments]]
test = "GC"

[[experiments]]
test = "GC"
prior = "uniform:GC"
trajectories = 2

[[agents]]
algorithm = "epsilon-greedy"
parameters.epsilon = [0.0, 0.5]

[[agents]]
algorithm = "opps-ds"
parameters.draws = 20

[[agents]]
algorithm = "test_agents:Slow"
parameters.luck = [1, 2]
"""

# Some seconds of work in small parts.
LONG = """
[defaults]
num_mdps = 15
horizon = 10

[[experiments]]
test = "GC"

[[experiments]]
test = "GDL"

[[agents]]
algorithm = "test_agents:Slow"
parameters.luck = [1, 2, 3]
parameters.seconds = [0.002, 0.01]

[[agents]]
algorithm = "epsilon-greedy"
parameters.epsilon = [0.0, 0.5]

[execution]
part = "0.2s"
workers = 2
"""


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


@pytest.mark.slow
def test_kill_at_any_moment(tmp_path: Path) -> None:
    """Twenty times, the main process or a worker: nothing is lost, doubled or left behind."""
    path = write_study(tmp_path, LONG)
    code, output = run("run", path, "-r", tmp_path / "undisturbed")
    assert code == 0, output
    rng = np.random.default_rng(0)
    kills = finished = 0
    while kills < 20:
        process = command("run", path, "-r", tmp_path / f"killed{finished}")
        time.sleep(rng.uniform(0.3, 3.0))
        victims = children_of(process.pid)
        if rng.random() < 0.5 and victims and process.poll() is None:
            os.kill(int(rng.choice(victims)), signal.SIGKILL)
            kills += 1
            time.sleep(rng.uniform(0.1, 0.5))
        if process.poll() is None:
            process.kill()
            kills += 1
            process.communicate()
            wait_for_the_end_of(victims)
        else:  # it was done before: begin another one
            process.communicate()
            assert_same_results(tmp_path / "undisturbed", tmp_path / f"killed{finished}")
            finished += 1
    code, output = run("run", path, "-r", tmp_path / f"killed{finished}")
    assert code == 0, output
    assert_tidy(tmp_path / f"killed{finished}")
    assert_same_results(tmp_path / "undisturbed", tmp_path / f"killed{finished}")


def wait_for_the_end_of(processes: list[int]) -> None:
    wait_for(lambda: not any(map(is_running, processes)))


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


def test_an_interrupt_ends_a_dry_run(tmp_path: Path) -> None:
    text = LONG.replace("[0.002, 0.01]", "30.0")
    process = command("run", write_study(tmp_path, text), "--dry-run", "-r", tmp_path / "out",
                      preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # fmt: skip
    wait_for(lambda: len(children_of(process.pid)) == 2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=25)
    assert process.returncode != 0


@pytest.mark.parametrize("damage", ["truncated", "emptied", "flipped"])
def test_damaged_files_are_set_aside_and_made_again(tmp_path: Path, damage: str) -> None:
    path = write_study(tmp_path, SMALL)
    for name in ("whole", "damaged"):
        run("run", path, "-r", tmp_path / name)
    victims = sorted((tmp_path / "damaged/results").rglob("*.parquet"))[:2]
    victims += sorted((tmp_path / "damaged/agents").glob("opps*.json"))[:1]
    victims += sorted((tmp_path / "damaged/experiments").glob("*.parquet"))[:1]
    for victim in victims:
        data = bytearray(victim.read_bytes())
        if damage == "flipped":
            data[len(data) // 2] ^= 8
        victim.write_bytes(data[: {"truncated": len(data) // 2, "emptied": 0}.get(damage)])
    code, output = run("run", path, "-r", tmp_path / "damaged")
    assert code == 0, output
    assert output.replace("\n", "").count("is damaged: set aside as") == 4
    assert_same_results(tmp_path / "whole", tmp_path / "damaged")
    assert len(list((tmp_path / "damaged").rglob("*.damaged"))) == 4


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    path = write_study(tmp_path, LONG)
    first = command("run", path, "-r", tmp_path / "out")
    wait_for(lambda: (tmp_path / "out/now.json").exists())
    code, output = run("run", path, "-r", tmp_path / "out")
    assert code == 1
    assert f"is in use by process {first.pid} on" in output
    status = read_status(tmp_path / "out")
    assert status.owner is not None
    assert str(first.pid) in status.owner
    _, shown = run("status", tmp_path / "out")
    assert "running: process" in shown
    output, _ = first.communicate(timeout=120)
    assert first.returncode == 0, output
    assert read_status(tmp_path / "out").owner is None


def test_an_interrupt_stops_cleanly(tmp_path: Path) -> None:
    path = write_study(tmp_path, LONG)
    process = command("run", path, "-r", tmp_path / "out")
    wait_for(lambda: any((tmp_path / "out").glob("parts/*/*.parquet")))
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "stopped; the same command goes on from here" in output
    status = read_status(tmp_path / "out")
    assert 0 < status.trajectories_done < status.trajectories
    assert status.failures == []
    run("run", path, "-r", tmp_path / "whole")
    assert run("run", path, "-r", tmp_path / "out")[0] == 0
    assert_same_results(tmp_path / "whole", tmp_path / "out")


def test_a_second_interrupt_stops_at_once(tmp_path: Path) -> None:
    text = LONG.replace("[0.002, 0.01]", "30.0")
    process = command("run", write_study(tmp_path, text), "-r", tmp_path / "out")
    now = tmp_path / "out/now.json"
    wait_for(lambda: now.exists() and now.read_text().count("trajectories") == 2)
    children = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None  # it waits for the trajectories that are being played
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == 130
    wait_for_the_end_of(children)


def test_a_run_in_the_background(tmp_path: Path) -> None:
    path = write_study(tmp_path, SMALL)
    code, output = run("run", path, "-r", tmp_path / "out", "--detach")
    assert code == 0
    assert "brlbench status" in output
    plan = tmp_path / "out/plan.json"
    wait_for(lambda: plan.exists() and read_status(tmp_path / "out").done == 10, seconds=60)
    wait_for(lambda: read_status(tmp_path / "out").owner is None)
    assert "10 of 10 jobs done" in (tmp_path / "out/run.log").read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a small disk")
def test_a_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)], check=True)
    try:
        text = LONG.replace("num_mdps = 15", "num_mdps = 300").replace("[0.002, 0.01]", "0.0")
        path = write_study(tmp_path, text.replace("horizon = 10", "horizon = 100"))
        code, output = run("run", path, "-r", disk / "out")
        assert code == 1
        assert "can't be written: No space left on device" in output
        assert "Traceback" not in output
        assert not list((disk / "out").rglob("*.tmp"))
        assert all(rewards.shape == (300, 1, 100) for rewards in returns_in(disk / "out").values())
    finally:
        subprocess.run(["umount", str(disk)], check=True)


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


def test_gaps_of_parts(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, SMALL))
    folder = Folder(tmp_path / "out")
    folder.open(study)
    job = study.jobs[1]  # of 12 trajectories
    assert folder.gaps(job) == [(0, 12)]
    for played in [(2, 5), (7, 8), (5, 7)]:
        folder.write_part(job, played, b"")
    assert folder.gaps(job) == [(0, 2), (8, 12)]
    folder.write_part(job, (8, 12), b"")
    folder.write_part(job, (0, 2), b"")
    assert folder.gaps(job) == []
    folder.close()


def test_a_run_that_was_killed_between_its_last_part_and_the_result(tmp_path: Path) -> None:
    text = LONG.replace("luck = [1, 2, 3]", "luck = 1").replace("[0.002, 0.01]", "0.01")
    path = write_study(tmp_path, text)
    study, folder = read_study(path), Folder(tmp_path / "out")
    folder.open(study)
    folder.write_plan(study)
    join, Folder.join_parts = Folder.join_parts, lambda self, job: None  # type: ignore[method-assign]
    try:
        with Local(2) as executor:
            Run(study, folder, executor, 0.2)()
    finally:
        Folder.join_parts = join  # type: ignore[method-assign]
    assert len(look(folder, study).missing) == 2
    with Local(1) as executor:
        Run(study, folder, executor, 0.2)()
    assert look(folder, study).missing == []
    folder.close()
    assert_tidy(tmp_path / "out")


def test_what_is_written_can_be_read_without_this_package(tmp_path: Path) -> None:
    run("run", write_study(tmp_path, SMALL), "-r", tmp_path / "out")
    plan = json.loads((tmp_path / "out/plan.json").read_text())
    assert plan["title"] == "A small one"
    assert all((tmp_path / "out" / job["result"]).exists() for job in plan["jobs"])
