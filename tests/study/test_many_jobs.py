"""Studies of many jobs: nothing compares every job with every other."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import brlbench as bb
from brlbench.results.files import pack_result
from brlbench.results.result import Stopped
from brlbench.study import status
from brlbench.study.folder import Folder
from brlbench.study.plan import read_study
from brlbench.study.status import read_status
from helpers.made_studies import write_study

STUDY = """
[defaults]
num_mdps = 1
horizon = 1
[[experiments]]
test = "GC"
[[experiments]]
test = "GDL"
[[agents]]
algorithm = "study_agents:Plain"
parameters.luck = [1, 2, 3, 4, 5]
"""


def test_failed_jobs_are_not_searched_for_every_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "failures").mkdir()
    jobs = [
        {
            "agent": "a",
            "experiment": "GC",
            "trajectories": 1,
            "result": f"results/{i}",
            "failure": f"failures/{i}.json",
            "parts": f"parts/{i}",
            "stopped": [],
        }
        for i in range(4)
    ]
    for job in jobs[:3]:
        failure = {"agent": "a", "experiment": "GC", "reason": "none"}
        (tmp_path / str(job["failure"])).write_text(json.dumps(failure))
    (tmp_path / "plan.json").write_text(json.dumps({"title": "", "jobs": jobs, "skipped": []}))

    def refuse(*_: object) -> bool:
        raise AssertionError("two jobs are compared")

    monkeypatch.setattr(status._Job, "__eq__", refuse)
    found = read_status(tmp_path)
    assert (found.total, len(found.failures), found.left) == (4, 3, 1)


def test_the_status_of_many_jobs_reads_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each folder is listed once, and of a result the last bytes are read."""
    result = bb.evaluate(bb.make_agent("random"), bb.Experiment("GC", num_mdps=4, horizon=3))
    short = replace(result.first(2), stopped=Stopped("race", "dropped"))
    (tmp_path / "results/GC").mkdir(parents=True)
    for i in range(30):
        path = tmp_path / f"results/GC/{i}"
        path.with_suffix(".parquet").write_bytes(pack_result(result))
        path.with_suffix(".race.parquet").write_bytes(pack_result(short))
    jobs = [
        {
            "agent": f"agent {i}",
            "experiment": "GC",
            "trajectories": 4,
            "result": f"results/GC/{i}.parquet" if i < 20 else f"results/none/{i}.parquet",
            "failure": f"failures/{i}.json",
            "parts": f"parts/{i}",
            "stopped": [f"results/GC/{i}.race.parquet"] if i < 30 else [],
        }
        for i in range(60)
    ]
    (tmp_path / "plan.json").write_text(json.dumps({"title": "", "jobs": jobs, "skipped": []}))
    listed: list[str] = []
    listdir = os.listdir

    def counted(path: Any) -> list[str]:
        listed.append(str(path))
        return listdir(path)

    monkeypatch.setattr(os, "listdir", counted)
    monkeypatch.setattr(Path, "glob", refuse)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    monkeypatch.setattr("brlbench.results.sealed.read_table", refuse)
    monkeypatch.setattr("brlbench.results.files.read_table", refuse)
    found = read_status(tmp_path)
    assert (found.done, len(found.stopped), found.left) == (30, 10, 30)
    assert found.stopped[0] == ("agent 20", "GC", "dropped")
    assert len(listed) == len({*listed}) == 4


@pytest.mark.parametrize("damage", [lambda _: b"x", lambda data: data[:-1], lambda _: b"PAR1"])
def test_a_result_that_is_cut_off_is_not_done(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    """The next run sets it aside, and makes it again."""
    text = STUDY.replace("[1, 2, 3, 4, 5]", "1").replace('[[experiments]]\ntest = "GDL"\n', "")
    study, folder = read_study(write_study(tmp_path, text)), Folder(tmp_path / "out")
    [job] = study.jobs
    result = bb.evaluate(bb.make_agent("random"), bb.Experiment("GC", num_mdps=1, horizon=1))
    folder.open()
    folder.write_plan(study)
    folder.write_result(job, pack_result(result))
    assert read_status(tmp_path / "out").done == 1
    whole = folder.result(job).read_bytes()
    folder.result(job).write_bytes(damage(whole))
    assert (read_status(tmp_path / "out").done, read_status(tmp_path / "out").left) == (0, 1)
    folder.result(job).rename(folder.stopped(job, "race"))
    assert read_status(tmp_path / "out").done == 0
    folder.close()


def refuse(*_: object) -> Any:
    raise AssertionError("this takes long, for many jobs")


def test_folders_are_listed_once_to_find_outdated_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = read_study(write_study(tmp_path, STUDY))
    folder = Folder(tmp_path / "out")
    folder.open()
    for job in study.jobs:
        path = folder.result(job)
        path.parent.mkdir(exist_ok=True)
        path.touch()
        path.with_stem(path.stem[:-8] + "01234567").touch()
    listed: list[Path] = []
    glob = Path.glob

    def counted(self: Path, pattern: str) -> Any:
        listed.append(self)
        return glob(self, pattern)

    monkeypatch.setattr(Path, "glob", counted)
    messages = folder.set_aside_outdated(study)
    folder.close()
    assert len(messages) == len(study.jobs) == 10
    assert sorted(path.name for path in listed) == ["GC", "GDL", "failures"]
    assert all(folder.result(job).exists() for job in study.jobs)
