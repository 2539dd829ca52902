import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench import memory
from brlbench.agents import make_agent
from brlbench.errors import InvalidInput
from brlbench.protocol import needs
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.study.plan import read_study

GB = 10**9


def build(**changes: Any) -> Experiment:
    return Experiment(**{"prior": "Grid", "num_mdps": 100_000, **changes})


def only(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr(memory, "available", lambda: free)


def test_totals_of_many_mdps_need_little() -> None:
    assert sum(needs.needed(build()).values()) < GB / 4
    assert sum(needs.needed(build(prior="uniform:Grid", test="Grid")).values()) < GB / 4
    # Twice 32 bytes for each decision, while parts are joined.
    assert needs.needed(build(), keep_paths=True)["every decision"] == 64 * 100_000 * 250


@pytest.mark.parametrize(
    ("changes", "keep_paths", "message"),
    [
        ({}, True, r"needs about 1.69 GB of memory \(1.6 GB for every decision\), and 1 GB are "
                   r"available: use fewer MDPs or a shorter horizon, and no keep_paths$"),
        ({"horizon": 2 * 10**7, "num_mdps": 1}, False, r"1.28 GB for the .* shorter horizon$"),
        ({"num_mdps": 2 * 10**7}, False, r"1.28 GB for its trajectories\), and 1 GB are avail"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_before_it_starts(
    changes: dict[str, Any], keep_paths: bool, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, GB)
    with pytest.raises(InvalidInput, match=message):
        evaluate(make_agent("random"), build(**changes), keep_paths=keep_paths)


def test_a_study_that_does_not_fit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, 100_000_000)
    text = '[[experiments]]\ntest = "GC"\nhorizon = 25_000\n[[agents]]\nalgorithm = "random"\n'
    (tmp_path / "study.toml").write_text(text)
    assert len(read_study(tmp_path / "study.toml").jobs) == 1
    (tmp_path / "study.toml").write_text(text + "[output]\nkeep_paths = true\n")
    with pytest.raises(InvalidInput, match=r"experiments\[1\]: .*800 MB for every decision"):
        read_study(tmp_path / "study.toml")


# Its counts have room for what a horizon of 100,000 can add: 64 MB.
TOO_LARGE = """
import numpy as np
import brlbench as bb
from brlbench import memory
from brlbench.protocol import needs

rng = np.random.default_rng(0)
dense = rng.random((300, 4, 300)) * (rng.random((300, 4, 300)) < 0.9) + np.eye(300)[:, None, :]
experiment = bb.Experiment(bb.FlatDirichlet(dense, 0), num_mdps=1, horizon=100_000)
agent = bb.make_agent("epsilon-greedy", epsilon=0.1)
bb.evaluate(agent, bb.Experiment("GC", num_mdps=1, horizon=1))  # compiles
memory.available = lambda: 5_000_000
needs.check = lambda *_: None
try:
    bb.evaluate(agent, experiment)
except bb.AgentError as error:
    print(error)
memory.available = lambda: 10**9
with memory.bounded():
    np.ones(10**7)
"""


def test_an_agent_that_does_not_fit_is_refused() -> None:
    """In a process of its own: one that ran other tests has freed memory, which it can use."""
    done = subprocess.run([sys.executable, "-c", TOO_LARGE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.match(
        "epsilon-greedy failed while training: it needs more memory .*Unable to allocate",
        done.stdout,
    )


def test_copies_of_an_agent_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, 1000)
    needs.check_copies((np.zeros(50), (np.zeros(10), 3)), 2)
    with pytest.raises(InvalidInput, match=r"3 workers need 1.44 kB .* and 1 kB are available"):
        needs.check_copies((np.zeros(50), (np.zeros(10), 3)), 3)


def test_where_the_system_does_not_tell_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_lines", lambda path: [])
    needs.check(build(num_mdps=10**7), keep_paths=True)
    with memory.bounded():
        np.ones(1000)
