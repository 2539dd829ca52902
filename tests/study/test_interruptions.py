"""Runs that are killed, interrupted or out of space: nothing is lost or counted twice."""

import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from brlbench.executors import Local
from brlbench.study.folder import Folder
from brlbench.study.plan import read_study
from brlbench.study.run import Run, look
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
from helpers.processes import children_of, is_running, wait_for


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
