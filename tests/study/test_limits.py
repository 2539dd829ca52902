"""Each limit alone and every combination of them, for all agents of a study and for one."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brlbench.executors.base import Executor
from brlbench.executors.dask import Dask
from brlbench.executors.local import Local
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.playing import Part, play_part
from brlbench.protocol.recording import make_part
from brlbench.protocol.training import train
from brlbench.results.files import pack_part
from brlbench.study.failures import failures_in
from brlbench.study.folder import Folder
from brlbench.study.plan import read_study
from brlbench.study.run import StudyRun
from brlbench.study.status import read_status
from brlbench.study.worker import PartFile
from helpers.inline import Inline
from helpers.made_studies import AGENTS, write_study
from helpers.processes import address_of

pytestmark = pytest.mark.slow  # starts processes

LIMITS = {"training": "1h", "decision": "1h", "trajectory": "50d", "memory": "100GB"}
MORE_LIMITS = {"training_memory": "90GB", "playing": "1h", "playing_memory": "80GB"}
COMBINATIONS = [names for size in range(1, 5) for names in itertools.combinations(LIMITS, size)] + [
    tuple(MORE_LIMITS),
    (*LIMITS, *MORE_LIMITS),
]
LIMITS |= MORE_LIMITS
STUDY = """
[defaults]
num_mdps = 2
horizon = 3

[[experiments]]
test = "GC"
"""
PLAIN = '[[agents]]\nalgorithm = "study_agents:Plain"\n'

assert "class Plain" in AGENTS


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Local(2) as executor:
        yield executor


def run(path: Path, executor: Executor) -> list[str]:
    """Run a study; the reasons of its failures."""
    study, folder = read_study(path), Folder(path.parent / f"{path.stem}-out")
    folder.open()
    folder.write_plan(study)
    assert StudyRun(study.jobs, folder, executor, part_seconds=10)()
    folder.close()
    status = read_status(folder.path)
    assert status.done + len(status.failures) == len(study.jobs)
    return [failure.reason for failure in status.failures]


def test_limits_of_a_study_that_are_kept(
    executor: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, names in enumerate(COMBINATIONS):
        limits = "\n".join(f'{name} = "{LIMITS[name]}"' for name in names)
        text = f"{STUDY}[limits]\n{limits}\n{PLAIN}[[agents]]\nalgorithm = 'random'\n"
        assert run(write_study(tmp_path, text, f"{number}.toml"), executor) == [], limits


def test_limits_of_agents_that_are_kept(
    executor: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = STUDY
    for number, names in enumerate(COMBINATIONS):
        text += f"{PLAIN}parameters.luck = {number}\n"
        text += "".join(f'limits.{name} = "{LIMITS[name]}"\n' for name in names)
    assert run(write_study(tmp_path, text), executor) == []


@pytest.mark.parametrize(
    ("trouble", "limit", "reason"),
    [
        ("long training", 'training = "0.5s"', "training: took more than limits.training = 0.5s"),
        ("hang", 'trajectory = "0.5s"', "took more than limits.trajectory = 0.5s"),
        (
            "hang",
            'decision = "0.2s"',
            "took more than limits.decision = 0.2s for each of 3 decisions",
        ),
        ("hang", 'playing = "0.5s"', "took more than limits.playing = 0.5s"),
        ("memory", 'memory = "600MB"', "of memory, more than 600 MB"),
        ("memory", 'playing_memory = "600MB"', "of memory, more than 600 MB"),
        ("training memory", 'training_memory = "600MB"', "of memory, more than 600 MB"),
    ],
)
def test_each_limit_alone_is_enforced(
    trouble: str,
    limit: str,
    reason: str,
    executor: Executor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    text = f"{STUDY}[limits]\n{limit}\n[[agents]]\n"
    text += f'algorithm = "study_agents:Troubled"\nparameters.trouble = "{trouble}"\n'
    [told] = run(write_study(tmp_path, text), executor)
    assert told.endswith(reason)


@pytest.mark.dask
def test_limits_on_dask(
    dask_executor: Dask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    every = "".join(f'limits.{name} = "{limit}"\n' for name, limit in LIMITS.items())
    text = f"{STUDY}{PLAIN}{every}"
    for trouble, limit in ("hang", "trajectory = '0.5s'"), ("memory", "memory = '600MB'"):
        text += f'[[agents]]\nalgorithm = "study_agents:Troubled"\nlimits.{limit}\n'
        text += f'parameters.trouble = "{trouble}"\n'
    with Dask(address_of(dask_executor)) as executor:
        hung, grown = run(write_study(tmp_path, text), executor)
    assert hung.endswith("took more than limits.trajectory = 0.5s")
    assert grown.endswith("of memory, more than 600 MB")


def test_all_parts_of_a_job_count_towards_its_playing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part takes 40 s by the clock of its worker, so the third one is too much."""
    read = PartFile.read

    def slow(value: Any, wanted: Part, experiment: Experiment, keep_paths: bool) -> PartFile:
        return read(value, wanted, experiment, keep_paths)._replace(seconds=40.0)

    monkeypatch.setattr(PartFile, "read", slow)
    text = STUDY.replace("num_mdps = 2", "num_mdps = 5") + "[limits]\nplaying = '100s'\n"
    study = read_study(write_study(tmp_path, f"{text}[[agents]]\nalgorithm = 'random'\n"))
    folder = Folder(tmp_path / "out")
    folder.open()
    StudyRun(study.jobs, folder, Inline(), part_seconds=1e-9)()
    folder.close()
    [failure] = failures_in(tmp_path / "out")
    assert failure.reason == "took more than limits.playing = 100s"
    [gap] = folder.gaps(study.jobs[0])
    assert gap in [(3, 5), (4, 5)]  # the fourth part may have been submitted before


def test_time_for_playing_that_earlier_runs_used_counts(tmp_path: Path) -> None:
    text = STUDY.replace("num_mdps = 2", "num_mdps = 5") + "[limits]\nplaying = '1000s'\n"
    study = read_study(write_study(tmp_path, f"{text}[[agents]]\nalgorithm = 'random'\n"))
    [job], folder = study.jobs, Folder(tmp_path / "out")
    folder.open()
    trained = train(job.agent.agent, job.experiment.prior, job.experiment.task, 0)
    for first, seconds in (0, 600.0), (1, 400.0):
        part = Part(first, first + 1)
        played = play_part(trained.agent, job.experiment, part, True, False)
        played = played._replace(seconds=seconds)
        arguments = (trained.agent, job.experiment, trained.training)
        stored = make_part(*arguments, played, {"processor": "made up"})
        folder.write_part(job, part, pack_part(stored))
    assert folder.tally(job).seconds == 1000.0
    StudyRun(study.jobs, folder, Inline(), part_seconds=1e-9)()
    folder.close()
    [failure] = failures_in(tmp_path / "out")
    assert failure.reason == "took more than limits.playing = 1000s"
    assert folder.gaps(job) == [(3, 5)]
