"""Each limit alone and every combination of them, for all agents of a study and for one."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from brlbench.executors import Dask, Executor, Local
from brlbench.study.folder import Folder
from brlbench.study.plan import read_study
from brlbench.study.run import Run
from brlbench.study.status import read_status
from helpers.made_studies import AGENTS, write_study

LIMITS = {"training": "1h", "decision": "1h", "trajectory": "50d", "memory": "100GB"}
COMBINATIONS = [
    names for size in range(1, 5) for names in itertools.combinations(LIMITS, size)
]  # fmt: skip
STUDY = """
[defaults]
num_mdps = 2
horizon = 3

[[experiments]]
test = "GC"
"""
PLAIN = '[[agents]]\nalgorithm = "study_agents:Plain"\n'

assert "class Plain" in AGENTS


@pytest.fixture(scope="module", params=["local", pytest.param("dask", marks=pytest.mark.dask)])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with Local(2) if request.param == "local" else Dask(workers=2) as executor:
        yield executor


def run(path: Path, executor: Executor) -> list[str]:
    """Run a study; the reasons of its failures."""
    study, folder = read_study(path), Folder(path.parent / f"{path.stem}-out")
    folder.open(study)
    folder.write_plan(study)
    assert Run(study, folder, executor, part_seconds=10)()
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
        ("long training", 'training = "0.5s"', "training: took more than 0.5 s"),
        ("hang", 'trajectory = "0.5s"', "took more than 0.5 s"),
        ("hang", 'decision = "0.2s"', "took more than 0.6 s"),
        ("memory", 'memory = "600MB"', "of memory, more than 600 MB"),
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
