"""Study files: other keys, values and types, damaged ones, and random bytes."""

import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench.agents import AGENTS
from brlbench.errors import BrlbenchError, InvalidInput
from brlbench.problems import PROBLEMS
from brlbench.study.plan import read_study
from helpers.fuzzing import changed, damaged, fuzzing, outcome, toml, values

STUDY: dict[str, Any] = tomllib.loads("""
title = "A study"
[defaults]
num_mdps = 3
horizon = 5
discount = 0.9
seed = 1
trajectories_per_mdp = 2
[limits]
training = "1m"
decision = 1.5
memory = "2GB"
[output]
keep_paths = true
[execution]
executor = "local"
workers = 1
part = "2s"
slurm = { partition = "main" }
[[experiments]]
test = "GC"
prior = "uniform:GC"
name = "first"
deadline = "1ms"
[[experiments]]
test = "Chain"
horizon = 7
[[experiments]]
frozen = "GC/accurate/v1"
[[agents]]
algorithm = "epsilon-greedy"
parameters.epsilon = [0.0, 0.5]
experiments = ["first"]
[[agents]]
algorithm = "opps-ds"
parameters.draws = [20, 30]
limits.trajectory = "10s"
[[agents]]
algorithm = "opps-cs"
parameters = { strategy = "w*Qmean + Qself", ranges = { w = [0, 1] } }
""")
SOURCES = [
    *PROBLEMS,
    "Dense:states=3",
    "Sparse:states=9",
    "uniform:Grid",
    "around:5:Chain",
    "mixed:0.5:Chain",
    "scaled:0.1:Chain",
    "a.json",
]


@pytest.fixture(autouse=True)
def _same_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", sys.path.copy())


def used(content: bytes) -> Any:
    """Read a study file, and plan all of its jobs."""
    before = sys.path.copy()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "study.toml")
        path.write_bytes(content)
        study = outcome(lambda: read_study(path))
    sys.path[:] = before
    if isinstance(study, BrlbenchError):
        assert isinstance(study, InvalidInput)
        assert str(path) in str(study)
    else:
        assert [str(job) + job.key + job.training_key for job in study.jobs]
    return study


def test_the_original_can_be_read() -> None:
    assert len(used(toml(STUDY).encode()).jobs) == 11


@fuzzing(80)
@given(changed(STUDY))
def test_other_values(study: Any) -> None:
    used(toml(study).encode())


@fuzzing(40)
@given(st.data())
def test_other_agents_and_experiments(data: st.DataObject) -> None:
    """Each parameter of each agent, and each setting of experiments, with any value."""
    name = data.draw(st.sampled_from([*AGENTS]))
    known = [*AGENTS[name].__dataclass_fields__, "x"]  # type: ignore[attr-defined]
    parameters = data.draw(st.dictionaries(st.sampled_from(known), values, max_size=2))
    keys = ["num_mdps", "discount", "horizon", "accuracy", "seed", "trajectories_per_mdp"]
    settings = data.draw(st.dictionaries(st.sampled_from([*keys, "deadline"]), values, max_size=2))
    source = data.draw(st.sampled_from(SOURCES))
    experiment = {"num_mdps": 2, "horizon": 3, "test": source, **settings}
    agent = {"algorithm": name, "parameters": parameters}
    used(toml({"experiments": [experiment], "agents": [agent]}).encode())


@fuzzing(60)
@given(damaged(toml(STUDY).encode()) | st.binary(max_size=100))
def test_damaged_files(content: bytes) -> None:
    used(content)
