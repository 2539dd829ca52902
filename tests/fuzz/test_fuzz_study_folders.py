"""What `status`, `report` and a resumed run read from a study's folder: plan, state, failures."""

import fcntl
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brlbench.cli.running import print_status
from brlbench.errors import BrlbenchError, StoreError
from brlbench.study.failures import failures_in, is_failure, read_failure
from brlbench.study.status import read_status
from helpers.fuzzing import changed, damaged, fuzzing, outcome

FAILURE = {
    "agent": "a",
    "experiment": "GC",
    "reason": "it raised",
    "limits": "",
    "is_interruption": False,
}
JOB = {
    "agent": "random",
    "experiment": "GC",
    "trajectories": 5,
    "result": "results/GC/a.parquet",
    "failure": "failures/a.json",
    "parts": "parts/a",
    "stopped": [],
}
PLAN: dict[str, Any] = {
    "title": "A study",
    "jobs": [JOB, {**JOB, "failure": "failures/b.json", "parts": "parts/b"}],
    "skipped": [["random", "why"]],
}
RUNNING = [["random on GC", 31.5, 0.75, 20], ["training beb"]]
NOW = {"seconds_left": 3.5, "running": RUNNING, "at": 1e9}


def show_status(plan: bytes, now: bytes, failure: bytes, part: str = "000000-000002") -> Any:
    """The status of a study with these files, as it is printed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for place in ("failures", "parts/b"):
            (folder / place).mkdir(parents=True)
        (folder / "plan.json").write_bytes(plan)
        (folder / "now.json").write_bytes(now)
        (folder / "failures/a.json").write_bytes(failure)
        (folder / f"parts/b/{part}.parquet").touch()
        with (folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # as of a run, whose state is shown
            status = outcome(lambda: read_status(folder))
        if not isinstance(status, BrlbenchError):
            print_status(status)
        list(failures_in(folder))
        return status


def packed(content: Any) -> bytes:
    return json.dumps(content).encode()


def test_the_originals_can_be_read() -> None:
    status = show_status(packed(PLAN), packed(NOW), packed(FAILURE))
    assert (status.begun, status.num_played) == (1, 2)
    assert status.running == [("random on GC", 31.5, 0.75, 20), ("training beb", None, None, 0)]
    assert status.failures[0].reason == "it raised"


@fuzzing(60)
@given(changed(PLAN))
def test_other_plans(plan: Any) -> None:
    show_status(packed(plan), packed(NOW), packed(FAILURE))


@fuzzing(60)
@given(changed(NOW) | changed([]) | changed(NOW, most=1))
def test_other_states(now: Any) -> None:
    show_status(packed(PLAN), packed(now), packed(FAILURE))


@fuzzing(60)
@given(changed(FAILURE))
def test_other_failures(failure: Any) -> None:
    show_status(packed(PLAN), packed(NOW), packed(failure))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.json")
        path.write_bytes(packed(failure))
        found = outcome(lambda: read_failure(path))
        assert is_failure(path) != isinstance(found, StoreError)


@fuzzing(60)
@given(st.data(), st.sampled_from(["plan", "now", "failure"]))
def test_damaged_files(data: st.DataObject, which: str) -> None:
    files = {"plan": packed(PLAN), "now": packed(NOW), "failure": packed(FAILURE)}
    files[which] = data.draw(damaged(files[which]) | st.binary(max_size=50))
    show_status(files["plan"], files["now"], files["failure"])


@fuzzing(30)
@given(st.text(st.characters(exclude_characters="/\x00", codec="utf-8"), min_size=1, max_size=20))
def test_other_names_of_parts(part: str) -> None:
    show_status(packed(PLAN), packed(NOW), packed(FAILURE), part)
