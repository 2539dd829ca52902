"""Deadlines of decisions: agents that can stop early do, and only then."""

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from brlbench.agents import AGENTS, make_agent
from brlbench.agents.base import Task
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.testing import step_by_step
from helpers.quick import make_quick

MANY: dict[str, dict[str, Any]] = {
    "bamcp": {"simulations": 10**7, "depth": 15},
    "bfs3": {"simulations": 10**7, "branching": 3, "depth": 15},
}
KEEPING = {**MANY["bamcp"], "reuse_tree": True}
CASES = [("bamcp", MANY["bamcp"]), ("bamcp", KEEPING), ("bfs3", MANY["bfs3"])]
MILLISECOND = 1e-3


def make_experiment(deadline: float | None) -> Experiment:
    return Experiment("uniform:GC", "GC", num_mdps=2, horizon=20, seed=5, deadline=deadline)


def test_agents_say_if_they_can_stop_early() -> None:
    assert {name for name, agent in AGENTS.items() if agent.anytime} == set(MANY)


@pytest.mark.parametrize("stepwise", [False, True])
@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_decisions_end_before_all_simulations_are_made(
    name: str, parameters: dict[str, Any], stepwise: bool
) -> None:
    """All of them would take hours."""
    agent: Any = make_agent(name, **parameters)
    experiment = make_experiment(2 * MILLISECOND)
    result = evaluate(step_by_step(agent) if stepwise else agent, experiment)
    assert result.rewards.shape == (2, 1, 20)
    assert not result.reproducible


@pytest.mark.parametrize("name", [*MANY, "psrl", "random"])
def test_a_deadline_that_is_not_reached_changes_nothing(name: str) -> None:
    """Neither for agents that look at the clock nor for others."""
    free = evaluate(make_quick(name), make_experiment(None))
    bound = evaluate(make_quick(name), make_experiment(1e15))
    assert free.label + " within 2.78e+11 h" == bound.label
    assert bound.overruns == 0
    for field in ("actions", "states", "rewards"):
        np.testing.assert_array_equal(getattr(free, field), getattr(bound, field))


def started(name: str, deadline: float, **parameters: Any) -> Any:
    agent: Any = make_agent(name, **parameters)
    agent.train(distribution("Grid"), Task(0.95, 100, deadline), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(1))
    return agent


# Without a compiler, on a clock that moves by 50 µs whenever it is read.
TICKING = """
import itertools, json, sys, time
import numpy as np
import brlbench as bb
from brlbench.agents.base import Task
from brlbench.kernels.loop.trajectory import act

ticks = itertools.count(step=50_000)
time.clock_gettime_ns = lambda clock: next(ticks)
made = []
for name, parameters in json.loads(sys.argv[1]).items():
    for deadline in (0.001, 0.01):
        agent = bb.make_agent(name, **parameters)
        agent.train(bb.distribution("GC"), Task(0.95, 100, deadline), np.random.default_rng(0))
        with np.errstate(over="ignore"):  # of the random generators
            agent.start(0, np.random.default_rng(1))
            before = next(ticks)
            act(agent.arrays, 0)
        arrays = agent.arrays
        number = arrays.tree.nodes["visits"][0] if name == "bamcp" else arrays.made[0]
        made.append((name, int(number), (next(ticks) - before) / (deadline * 1e9)))
print(json.dumps(made))
"""


@pytest.mark.slow
def test_more_time_gives_more_simulations() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TICKING, json.dumps(MANY)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    for (name, few, short), (_, many, long) in (made[:2], made[2:]):
        assert many > 5 * few, name
        assert 0.6 < short <= 1  # of the time there was
        assert 0.9 < long <= 1


@pytest.mark.parametrize("name", MANY)
def test_a_deadline_that_can_not_be_kept(name: str) -> None:
    """Each bound has one roll-out, or the tree one simulation."""
    agent = started(name, 1e-9, **MANY[name])
    agent.act(0)
    if name == "bfs3":
        assert agent.arrays.made[0] == 4 * agent.branching
        assert (agent.arrays.q < agent.arrays.constants.value_max).all()
    else:
        assert agent.arrays.tree.nodes["visits"][0] == 1


def test_without_a_deadline_all_simulations_are_made() -> None:
    agent: Any = make_agent("bamcp", simulations=123)
    agent.train(distribution("Grid"), Task(0.95, 100), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(1))
    agent.act(0)
    assert agent.arrays.tree.nodes["visits"][0] == 123


def test_agents_that_can_not_stop_are_measured() -> None:
    result = evaluate(make_agent("psrl"), make_experiment(1e-9))
    assert result.overruns == 1
