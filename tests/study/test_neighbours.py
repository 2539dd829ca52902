"""An agent that does harm reaches neither its next setting nor the results of others."""

from pathlib import Path

import pytest

import brlbench as bb
from brlbench.cli import running
from brlbench.results.files import read_result
from brlbench.study import worker
from brlbench.study.folder import Folder
from brlbench.study.status import Status
from helpers.made_studies import TINY, write_study
from helpers.processes import address_of, can_mount
from helpers.shell import Shell

pytestmark = pytest.mark.slow  # starts processes

STUDY = TINY[: TINY.index("[[agents]]")] + "[output]\nkeep_paths = true\n"
AGENT = """
import ctypes
import os
import shutil
import subprocess
from pathlib import Path

class Agent:
    action = 0

    def __init__(self, harm, place=""):
        self.harm, self.place = harm, place

    def train(self, prior, task, rng):
        pass

    def start(self, state, rng):
        pass

    def act(self, state):
        if self.harm:
            Agent.action = 1
            HARM
        return Agent.action

    def observe(self, state, action, next_state, reward):
        pass
"""
FORGE = """from brlbench.study import worker
            genuine = worker.PartFile
            worker.PartFile = lambda *them: genuine(*them)._replace(seconds=-1.0)"""
FALSE = """from brlbench.study import worker
            genuine = worker.make_part
            def forged(*them):
                part = genuine(*them)
                for name in ("rewards", "return"):
                    part.columns[name] = 2 * part.columns[name]
                return part
            worker.make_part = forged"""
SLOW = """from brlbench.protocol import stepping
            for name in ("thread_time_ns", "perf_counter_ns", "others_nanoseconds"):
                clock = getattr(stepping, name)
                slow = lambda clock=clock, now=clock(): now + (clock() - now) // 1000
                setattr(stepping, name, slow)
            sum(range(10**7))"""
# Looks at all that frames name, wherever its code runs.
PEEPING = """
import sys

SECRETS = {"Experiment", "MDP", "MDPs", "Record", "Environment", "generator", "bytes"}

def parts_of(value):
    yield value
    yield from value if isinstance(value, (list, tuple)) else ()
    yield from getattr(value, "args", ())
    yield from [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]

class Peeping:
    def look(self, *_):
        frame = sys._getframe(1)
        while frame is not None:
            for name, value in frame.f_locals.items():
                kinds = {type(part).__name__ for part in parts_of(value)}
                assert not kinds & SECRETS, f"{name} of {frame.f_code.co_name}"
            frame = frame.f_back

    train = start = observe = load = look

    def act(self, state):
        self.look()
        return 0

    def __deepcopy__(self, memo):
        self.look()
        return self

    def save(self):
        self.look()
        return {}
"""
# As much as it can, and a file that tells how much it tried.
DESTROY = """
            os.chdir(self.place)
            tried = [
                lambda: Path("plan.json").unlink(),
                lambda: Path("plan.json").write_text("{}"),
                lambda: Path("new").touch(),
                lambda: os.truncate("plan.json", 0),
                lambda: shutil.rmtree("results"),
                lambda: subprocess.run(["umount", self.place], check=True, capture_output=True),
            ]
            done = []
            for number, attempt in enumerate(tried):
                try:
                    attempt()
                    done.append(number)
                except (OSError, subprocess.CalledProcessError):
                    pass
            Path("../tried").write_text(f"{len(tried)} {done}")"""


def study_of(folder: Path, harm: str, parameters: str) -> Path:
    (folder / "harmful.py").write_text(AGENT.replace("HARM", harm))
    return write_study(folder, f'{STUDY}[[agents]]\nalgorithm = "harmful:Agent"\n{parameters}\n')


def check_the_harmless(status: Status, out: Path) -> None:
    """The setting that does no harm has its result, with its own actions."""
    assert (status.done, len(status.failures)) == (1, 1)
    [result] = [read_result(path) for path in (out / "results").rglob("*.parquet")]
    assert result.actions is not None
    assert (result.actions == 0).all()


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        ("raise ValueError('after the harm')", "after the harm"),
        (FORGE, "times or returns that can't be"),
        (FALSE, "a wrong file: its actions don't lead to its return"),
        (SLOW, "s: it changed clocks, or worked where no time is measured"),
    ],
    ids=["raises", "forges", "forges consistently", "slows clocks"],
)
def test_a_setting_that_fails_does_not_reach_the_next(
    tmp_path: Path, harm: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_SECONDS_PER_PART", "_SECONDS_PER_TRAJECTORY"):
        monkeypatch.setattr(worker, name, 0.1)
    path, out = study_of(tmp_path, harm, "parameters.harm = [true, false]"), tmp_path / "out"
    status = bb.run(path, out, workers=1)
    assert reason in status.failures[0].reason
    check_the_harmless(status, out)


def test_frames_above_an_agent_hold_nothing_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / "peeping.py").write_text(PEEPING)
    path = write_study(tmp_path, TINY.replace("random", "peeping:Peeping"))
    status = bb.run(path, tmp_path / "out", workers=1)
    assert (status.done, status.failures) == (1, [])


@pytest.mark.dask
@pytest.mark.skipif(not can_mount(), reason="this system allows no mounts")
@pytest.mark.parametrize("place", ["local", "dask"])
def test_results_of_others_are_read_only(
    place: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out with 'quotes'"
    parameters = f'parameters.harm = true\nparameters.place = "{out}"\n'
    path = study_of(tmp_path, DESTROY, f"{parameters}\n[[agents]]\nalgorithm = 'random'")
    scheduler = address_of(request.getfixturevalue("dask_executor")) if place == "dask" else None
    status = bb.run(path, out, scheduler=scheduler, workers=None if scheduler else 1)
    assert (tmp_path / "tried").read_text() == "6 []"
    assert (status.done, status.failures) == (2, [])
    assert not Folder(out).set_aside_damaged()


def test_a_run_says_that_results_are_not_protected(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = "note: this system does not let brlbench protect results from"
    path = write_study(tmp_path, TINY.replace("random", "study_agents:Plain"))
    done = shell("run", path, "-r", tmp_path / "out", "--workers", 1)
    assert (note not in done.out) == can_mount()
    monkeypatch.setattr(running, "can_make_read_only", lambda folder: False)
    done = shell("run", path, "-r", tmp_path / "out 2", "--workers", 1)
    assert note in done.out
    done = shell("run", write_study(tmp_path, TINY), "-r", tmp_path / "out 3", "--workers", 1)
    assert note not in done.out
