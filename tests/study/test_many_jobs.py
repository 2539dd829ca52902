"""Studies of many jobs: nothing compares every job with every other."""

import json
from pathlib import Path
from typing import Any

import pytest

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
