"""A study of distributions of a user, in a module beside it, and the comparison of its agents."""

from pathlib import Path

import numpy as np
import pytest

import brlbench as bb
from brlbench.storage import read_result
from helpers.own_problems import KnownRiver
from helpers.shell import Shell

RIVERS = """
from helpers.own_problems import KnownRiver, River


class Greedy:
    def train(self, prior, task, rng):
        self.prior, self.discount = prior, task.discount

    def start(self, state, rng):
        self.belief = self.prior.belief()
        self.belief.begin(state)

    def act(self, state):
        return int(self.belief.mean().solve(self.discount).policy[state])

    def observe(self, state, action, next_state, reward):
        self.belief.observe(state, action, next_state, reward)
"""

STUDY = """
[defaults]
num_mdps = 8
horizon = 4

[[experiments]]
test = "own_rivers:KnownRiver:slips=3.0"

[[experiments]]
test = "own_rivers:River:slips=1.0"
prior = "own_rivers:River:slips=5.0,particles=20"

[[agents]]
algorithm = "own_rivers:Greedy"

[[agents]]
algorithm = "random"
"""


@pytest.mark.usefixtures("in_process")
def test_a_study_and_a_comparison(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "own_rivers.py").write_text(RIVERS)
    (tmp_path / "study.toml").write_text(STUDY)
    out = tmp_path / "out"
    done = shell("run", tmp_path / "study.toml", "--results", out, "--workers", 1)
    assert (done.code, "4 of 4 jobs done" in done.out) == (0, True), done
    results = [read_result(path) for path in out.rglob("results/*/*.parquet")]
    assert {result.settings.get("particles") for result in results} == {1000, 20}
    prior = KnownRiver(slips=3.0)
    alone = bb.evaluate(
        bb.make_agent("random"), bb.Experiment(prior, num_mdps=8, horizon=4), workers=1
    )
    [same] = [
        result
        for result in results
        if result.algorithm == "random" and result.experiment_hash == alone.experiment_hash
    ]
    np.testing.assert_array_equal(same.returns, alone.returns)
    told = shell("compare", out)
    assert told.code == 0
    for name in ("own_rivers:KnownRiver:slips=3.0", "River:slips=1.0", "Greedy", "random"):
        assert name in told.out
