"""Runs that are killed, interrupted or out of space: nothing is lost or counted twice."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.protocol.playing import Part
from brlbench.storage import read_result
from brlbench.study.folder import Folder
from brlbench.study.plan import read_study
from brlbench.study.run import StudyRun, survey
from brlbench.study.start import opened
from brlbench.study.status import read_status
from helpers.inline import Inline
from helpers.made_studies import (
    GATED,
    ONLY_GATED,
    SMALL,
    TINY,
    assert_complete,
    assert_same_results,
    assert_tidy,
    command,
    ended,
    open_gate,
    returns_in,
    wait_at_gate,
    write_study,
)
from helpers.processes import children_of, wait_for, wait_for_the_end_of
from helpers.shell import Shell
from helpers.sizes import sizes

pytestmark = pytest.mark.slow  # starts processes
MISBEHAVING = ("Chatty", "Forger")


@pytest.mark.parametrize("moments", sizes((3,), (0, 2, 4, 6)))
@pytest.mark.usefixtures("in_process")
def test_killed_at_many_moments(moments: tuple[int, ...], tmp_path: Path, shell: Shell) -> None:
    """A worker and then the main process, again and again: nothing is lost or left behind."""
    path, out = write_study(tmp_path, GATED), tmp_path / "out"
    rng = np.random.default_rng(0)
    for written in moments:
        with command("run", path, "-r", out) as process:
            wait_for(lambda: children_of(process.pid))
            wait_for_files(out, written)
            workers = children_of(process.pid)
            os.kill(int(rng.choice(workers)), signal.SIGKILL)
            wait_for_files(out, 1)
            workers = children_of(process.pid)
            process.kill()
            process.communicate()
        wait_for_the_end_of(workers)
    open_gate(tmp_path)
    done = shell("run", path, "-r", out)
    assert done.code == 0, done
    assert_tidy(out)
    assert_complete(path, out)


@pytest.mark.usefixtures("in_process")
def test_a_job_whose_workers_are_ended_from_outside_is_tried_again(
    tmp_path: Path, shell: Shell
) -> None:
    path, out = write_study(tmp_path, GATED), tmp_path / "out"
    reached = tmp_path / "gate/reached"
    with command("run", path, "-r", out, "--workers", "1") as process:
        for _ in range(3):
            wait_for(reached.exists)
            [pid] = processes_at_gate(process.pid)
            reached.unlink()
            os.kill(pid, signal.SIGKILL)
        code, output = ended(process)
    assert code == 1
    assert "1 of 2 jobs done, 1 left" in output
    assert "interrupted: study_agents:Gated(" in output
    assert "its process was ended by SIGKILL, from outside or for lack of memory, 3 t" in output
    assert "the next brlbench run tries these again" in output
    status = read_status(out)
    assert (status.done, status.failures, len(status.interruptions)) == (1, [], 1)
    assert "interrupted: " in shell("status", out).out
    assert "interrupted" not in shell("compare", out).err
    open_gate(tmp_path)
    done = shell("run", path, "-r", out)
    assert done.code == 0, done
    assert read_status(out).interruptions == []
    assert_tidy(out)
    assert_complete(path, out)


def processes_at_gate(main: int) -> list[int]:
    """The process of a run's only worker: its guard is a child of the main process."""
    return [pid for guard in children_of(main) for pid in children_of(guard)]


def test_one_kill_is_made_up_for_in_the_same_run(tmp_path: Path) -> None:
    path, out = write_study(tmp_path, ONLY_GATED), tmp_path / "out"
    with command("run", path, "-r", out) as process:
        wait_at_gate(tmp_path)
        for pid in processes_at_gate(process.pid):
            os.kill(pid, signal.SIGKILL)
        open_gate(tmp_path)
        code, output = ended(process)
    assert code == 0, output
    assert_complete(path, out)


def test_agents_that_print_without_end_or_forge_results(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first do not fill the log; the others fail."""
    agents = "".join(f'[[agents]]\nalgorithm = "study_agents:{each}"\n' for each in MISBEHAVING)
    path, out = write_study(tmp_path, TINY + agents), tmp_path / "out"
    status = bb.run(path, out, workers=1)
    assert (status.done, [failure.reason for failure in status.failures]) == (
        2, ["its process returned no played part"]
    )  # fmt: skip
    output = capfd.readouterr().err
    assert "blah" in output
    assert "(more than 10000 bytes: the rest is dropped)" in output
    assert len(output) < 50_000  # of 10 MB
    assert_complete(path, out, failures=1)


def files(folder: Path) -> set[Path]:
    """The agents, parts and results of a study so far."""
    return {path for name in ("agents", "parts", "results") for path in folder.glob(f"{name}/**/*")}


def wait_for_files(folder: Path, number: int) -> None:
    """Wait for new files of a gated study, or until only the job at the gate is left."""
    before = files(folder)
    wait_for(
        lambda: (
            len(files(folder) - before) >= number
            or len(list(folder.glob("results/*/*.parquet"))) == 1
        )
    )


def test_an_interrupt_ends_a_dry_run(tmp_path: Path) -> None:
    arguments = ("run", write_study(tmp_path, ONLY_GATED), "--dry-run", "-r", tmp_path / "out")
    default = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    with command(*arguments, **default) as process:
        wait_at_gate(tmp_path)
        process.send_signal(signal.SIGINT)
        assert ended(process)[0] != 0


@pytest.mark.usefixtures("in_process")
def test_damaged_files_are_set_aside_and_made_again(
    small: Path, finished_small: Path, shell: Shell
) -> None:
    results = sorted((small / "out/results").rglob("*.parquet"))
    damage(results[0], lambda data: data[: len(data) // 2])
    damage(results[1], lambda data: b"")
    damage(results[2], flipped)
    [agent, *_] = (small / "out/agents").glob("opps*.json")
    damage(agent, lambda data: data[: len(data) // 2])
    [experiment, *_] = (small / "out/experiments").glob("*.parquet")
    damage(experiment, flipped)
    done = shell("run", small / "study.toml", "-r", small / "out")
    assert done.code == 0, done
    assert done.out.count("is damaged: set aside as") == 5
    assert_same_results(finished_small / "out", small / "out")
    assert len(list((small / "out").rglob("*.damaged"))) == 5


def damage(path: Path, change: Any) -> None:
    path.write_bytes(change(path.read_bytes()))


def flipped(data: bytes) -> bytes:
    """With one bit changed."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 8]) + data[middle + 1 :]


def test_two_runs_do_not_share_a_folder(tmp_path: Path, shell: Shell) -> None:
    path, out = write_study(tmp_path, TINY), tmp_path / "out"
    with opened(read_study(path), out):
        second = shell("run", path, "-r", out)
        assert second.code == 1
        assert f"is in use by process {os.getpid()} on" in second.err
        status = read_status(out)
        assert status.owner is not None
        assert str(os.getpid()) in status.owner
        assert "running: process" in shell("status", out).out
    assert read_status(out).owner is None


@pytest.mark.usefixtures("in_process")
def test_an_interrupt_stops_cleanly(tmp_path: Path, shell: Shell) -> None:
    text = GATED.replace("study_agents:Gated", "study_agents:GatedLater")
    path, out = write_study(tmp_path, text), tmp_path / "out"
    with command("run", path, "-r", out) as process:
        wait_at_gate(tmp_path)
        wait_for(lambda: any(out.glob("parts/*/*.parquet")))  # at least the free trajectory's
        process.send_signal(signal.SIGINT)
        wait_for(lambda: is_stopping(out))
        open_gate(tmp_path)
        code, output = ended(process)
    assert code == 1
    assert "stopped; the same command resumes it" in output
    status = read_status(out)
    assert 0 < status.num_played < status.num_trajectories
    assert status.failures == []
    shutil.copytree(out, tmp_path / "paths")
    done = shell("run", path, "-r", out)
    assert done.code == 0, done
    assert_complete(path, out)
    assert_tidy(out)
    # Parts without states and actions make no result with them.
    path.write_text(path.read_text() + "\n[output]\nkeep_paths = true\n")
    before = files(tmp_path / "paths")
    done = shell("run", path, "-r", tmp_path / "paths")
    assert done.code == 0, done
    assert_complete(path, tmp_path / "paths")
    for result in (tmp_path / "paths").glob("results/*/*"):
        assert (read_result(result).states is None) == (result in before)


def is_stopping(folder: Path) -> bool:
    """True if a run has noticed an interrupt."""
    try:
        return bool(json.loads((folder / "now.json").read_text())["stopping"])
    except FileNotFoundError:
        return False


def test_a_second_interrupt_stops_at_once(tmp_path: Path) -> None:
    with command("run", write_study(tmp_path, ONLY_GATED), "-r", tmp_path / "out") as process:
        wait_at_gate(tmp_path)
        children = children_of(process.pid)
        process.send_signal(signal.SIGINT)
        wait_for(lambda: is_stopping(tmp_path / "out"))
        assert process.poll() is None  # it waits for the trajectory at the gate
        process.send_signal(signal.SIGINT)
        assert ended(process)[0] == 130
    wait_for_the_end_of(children)


@pytest.mark.usefixtures("in_process")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a small disk")
def test_a_full_disk(tmp_path: Path, shell: Shell) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)], check=True)
    try:
        assert shell("run", write_study(tmp_path, TINY), "-r", disk / "out").code == 0
        large = "horizon = 99\ntrajectories_per_mdp = 3000\n"
        large = f'[[experiments]]\ntest = "GDL"\n{large}'
        done = shell("run", write_study(tmp_path, TINY + large), "-r", disk / "out")
        assert done.code == 1
        assert "can't be written: No space left on device" in done.err
        assert "Traceback" not in done.out + done.err
        assert not list((disk / "out").rglob("*.tmp"))
        assert [len(rewards) for rewards in returns_in(disk / "out").values()] == [2]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_gaps_of_parts(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, SMALL))
    folder = Folder(tmp_path / "out")
    folder.open()
    job = study.jobs[1]  # of 12 trajectories
    assert folder.gaps(job) == [(0, 12)]
    for played in [(2, 5), (7, 8), (5, 7)]:
        folder.write_part(job, Part(*played), b"")
    assert folder.gaps(job) == [(0, 2), (8, 12)]
    folder.write_part(job, Part(8, 12), b"")
    folder.write_part(job, Part(0, 2), b"")
    assert folder.gaps(job) == []
    folder.close()


def test_a_run_that_was_killed_between_its_last_part_and_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_study(tmp_path, GATED)
    open_gate(tmp_path)
    study, folder = read_study(path), Folder(tmp_path / "out")
    folder.open()
    folder.write_plan(study)
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "join_parts", lambda self, job: None)
        StudyRun(study.jobs, folder, Inline(), 1e-6)()
    assert len(survey(folder, study.jobs).missing) == len(study.jobs) == 2
    StudyRun(study.jobs, folder, Inline(), 1e-6)()
    assert survey(folder, study.jobs).missing == []
    folder.close()
    assert_tidy(tmp_path / "out")


@pytest.mark.usefixtures("in_process")
def test_what_a_kill_after_the_last_result_left_is_removed(tmp_path: Path, shell: Shell) -> None:
    path, out = write_study(tmp_path, TINY), tmp_path / "out"
    assert shell("run", path, "-r", out).code == 0
    folder, [job] = Folder(out), read_study(path).jobs
    folder.write_part(job, Part(0, 1), b"")
    [parts] = (out / "parts").iterdir()
    name = f".brlbench-{16 * '0'}.tmp"
    for place in (out, folder.result(job).parent, out / "agents", parts):
        (place / name).write_text("half")
    others = [tmp_path / name, out / "mine" / name, out / ".notes.tmp", out / "results/.0.tmp"]
    for each in others:
        each.parent.mkdir(exist_ok=True)
        each.touch()
    (out / "agents" / name[:-5] / "1.tmp").mkdir(parents=True)
    assert shell("run", path, "-r", out).code == 0
    assert all(each.exists() for each in others)
    others[0].unlink()
    assert sorted(out.rglob("*.tmp")) == sorted([*others[1:], out / "agents" / name[:-5] / "1.tmp"])
    assert not parts.exists()
    assert folder.result(job).exists()


@pytest.mark.usefixtures("in_process")
def test_a_pipe_in_place_of_a_result_is_refused(tmp_path: Path, shell: Shell) -> None:
    path, out = write_study(tmp_path, TINY), tmp_path / "out"
    assert shell("run", path, "-r", out).code == 0
    [result] = (out / "results").rglob("*.parquet")
    os.mkfifo(result.with_name("other.parquet"))
    for name, words in (("run", [path, "-r", out]), ("compare", [out])):
        done = shell(name, *words)
        assert "other.parquet can't be read: it is a pipe, not a file" in done.out + done.err
        assert done.code == (1 if name == "run" else 0)
    assert shell("status", out).code == 0
