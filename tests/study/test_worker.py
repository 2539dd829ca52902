"""Values that workers return are checked before they are used."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench.executors import wire
from brlbench.protocol.playing import Part, play_part
from brlbench.protocol.recording import make_part
from brlbench.protocol.training import train
from brlbench.results.files import pack_part, pack_result
from brlbench.results.result import Result, join
from brlbench.study.plan import Job, read_study
from brlbench.study.status import read_status
from brlbench.study.worker import PartFile, WrongValue
from helpers.made_studies import TINY, run, write_study

STUDY = TINY.replace("num_mdps = 2", "num_mdps = 5\ntrajectories_per_mdp = 2")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    path = tmp_path_factory.mktemp("study") / "study.toml"
    path.write_text(STUDY)
    return read_study(path).jobs[0]


@pytest.fixture(scope="module")
def played(job: Job) -> Result:
    """Trajectories 3 and 4."""
    experiment = job.experiment
    trained = train(job.agent.agent, experiment.prior, experiment.task, 0)
    part = play_part(trained.agent, experiment, Part(3, 5), True, False)
    return make_part(trained.agent, experiment, trained.training, part, {"processor": "made up"})


def sent(part: Result, data: bytes | None = None) -> list[Any]:
    return [[3, 5], 0.5, data or pack_part(part), False, part.columns["return"].tobytes(), b""]


def read(value: Any, job: Job) -> PartFile:
    return PartFile.read(value, Part(3, 9), job.experiment, job.keep_paths)


def test_a_played_part_comes_back(job: Job, played: Result) -> None:
    file = read(wire.unpack(wire.pack(sent(played))), job)
    assert (file.part, file.seconds, file.is_whole_result) == (Part(3, 5), 0.5, False)
    np.testing.assert_array_equal(file.returns, played.columns["return"])


VALUES: dict[str, tuple[Callable[[list[Any]], Any], str]] = {
    "text": (lambda value: "a lot of money", "no played part"),
    "too few": (lambda value: value[:4], "no played part"),
    "returns as text": (lambda value: [*value[:4], "12", b""], "no played part"),
    "odd bytes": (lambda value: [*value[:4], b"12345", b""], "no played part"),
    "no file": (lambda value: [*value[:2], b"no file", *value[3:]], "a damaged file"),
    "one return": (lambda value: [*value[:4], value[4][:8], b""], "times or returns"),
    "infinity": (lambda value: [*value[:4], np.full(2, np.inf).tobytes(), b""], "times or returns"),
    "NaN": (lambda value: [value[0], float("nan"), *value[2:]], "times or returns"),
    "before": (lambda value: [value[0], -1.0, *value[2:]], "times or returns"),
    "elsewhere": (lambda value: [[4, 6], *value[1:]], "another part than"),
    "other returns": (
        lambda value: [*value[:4], np.ones(2).tobytes(), b""],
        "others than those it",
    ),
    "actions as a number": (lambda value: [*value[:5], 10**12], "no played part"),
    "a result": (lambda value: [*value[:3], True, *value[4:]], "kind 'part': must be 'result'"),
}


@pytest.mark.parametrize("what", VALUES)
def test_anything_else_is_refused(what: str, job: Job, played: Result) -> None:
    change, message = VALUES[what]
    with pytest.raises(WrongValue, match=message):
        read(change(sent(played)), job)


def with_column(name: str, change: Callable[[Any], Any]) -> Callable[[Result], Result]:
    return lambda part: dataclasses.replace(
        part, columns={**part.columns, name: change(part.columns[name])}
    )


PARTS: dict[str, tuple[Callable[[Result], Result], str]] = {
    "a clock that went back": (with_column("nanoseconds", lambda x: -x), "column nanoseconds has"),
    "processor time": (with_column("cpu_nanoseconds", lambda x: x * 0 - 1), "column cpu_nano"),
    "endless times": (with_column("nanoseconds", lambda x: x * 0 + 2**62), "column nanoseconds"),
    "other rewards": (with_column("rewards", lambda x: x + 1), "don't add up"),
    "fewer decisions": (
        lambda part: dataclasses.replace(
            part,
            columns={
                **part.columns,
                "rewards": part.columns["rewards"][:, :-1],
                "nanoseconds": part.columns["nanoseconds"][:, :-1],
            },
        ),
        "its trajectories have 4 decisions",
    ),
    "other trajectories": (with_column("mdp", lambda x: x + 1), "it has trajectories 5 to 6"),
    "more columns": (
        lambda part: dataclasses.replace(
            part, columns={**part.columns, "actions": np.zeros((2, 5), np.int64)}
        ),
        "it has the columns",
    ),
    "another experiment": (
        lambda part: dataclasses.replace(part, experiment_hash="0"),
        "of another experiment",
    ),
    "other settings": (
        lambda part: dataclasses.replace(part, settings={**part.settings, "seed": 7}),
        "of another experiment",
    ),
    "a negative median": (
        lambda part: dataclasses.replace(part, measured={**part.measured, "median_seconds": -1.0}),
        r"a wrong file: measured\.median_seconds = -1\.0: must be a number at least 0 and at most",
    ),
    "no times": (lambda part: dataclasses.replace(part, measured={}), "it lacks times"),
}


@pytest.mark.parametrize("what", PARTS)
def test_a_part_that_could_not_be_read_later_is_refused(
    what: str, job: Job, played: Result
) -> None:
    change, message = PARTS[what]
    with pytest.raises(WrongValue, match=message):
        read(sent(played, pack_part(change(played))), job)


def test_a_result_must_be_whole(job: Job, played: Result) -> None:
    value = sent(played, pack_result(join([played])))
    with pytest.raises(WrongValue, match="its rows are not those of its experiment"):
        read([*value[:3], True, *value[4:]], job)


BACKWARDS = """
import itertools
import brlbench.protocol.stepping
from study_agents import Plain

class Backwards(Plain):
    def start(self, state, rng):
        super().start(state, rng)
        ticks = itertools.count(10**9, -1000)
        brlbench.protocol.stepping.perf_counter_ns = lambda: next(ticks)
"""


@pytest.mark.slow
def test_an_agent_with_impossible_times_does_not_stop_a_study(tmp_path: Path) -> None:
    agents = '[[agents]]\nalgorithm = "backwards:Backwards"\n'
    path = write_study(tmp_path, STUDY + agents + "[execution]\nworkers = 1\npart = '1us'\n")
    (tmp_path / "backwards.py").write_text(BACKWARDS)
    for _ in range(2):
        _, output = run("run", path, "-r", tmp_path / "out")
        assert "error" not in output
    status = read_status(tmp_path / "out")
    [failure] = status.failures
    assert status.done == 1
    assert "a wrong file: column nanoseconds has numbers that no" in failure.reason


@pytest.mark.slow
def test_limits_do_not_count_what_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment is compiled anew, which takes several seconds."""
    monkeypatch.setenv("BRLBENCH_CACHE_DIR", str(tmp_path / "cache"))
    limits = 'limits.trajectory = "1s"\nlimits.decision = "100ms"\n'
    path = write_study(tmp_path, TINY.replace('"random"', '"study_agents:Plain"') + limits)
    code, output = run("run", path, "-r", tmp_path / "out", "--workers", "1")
    assert code == 0, output
    assert read_status(tmp_path / "out").failures == []
