"""The registry, what its classes tell others, and how users' agents are described."""

import runpy
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.agents import AGENTS, describe, identity, make_agent
from brlbench.agents.parameters import declarations
from brlbench.errors import InvalidInput
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment

ROOT = Path(__file__).parents[2]
SWEEPS = runpy.run_path(str(ROOT / "docs/sweeps.py"))["SWEEPS"]


@pytest.mark.parametrize("name", AGENTS)
def test_quick_parameters_and_sweeps_are_allowed(name: str) -> None:
    agent = AGENTS[name]
    assert set(agent.quick) <= set(declarations(agent))
    small = agent().small()
    assert {key: getattr(small, key) for key in agent.quick} == agent.quick
    for sweep in SWEEPS.get(name, ()):
        for value in sweep.values:
            agent(**{**sweep.others, sweep.parameter: value})
    page = (ROOT / f"docs/algorithms/{name}.md").read_text()
    assert (name in SWEEPS) == (f"figures/{name}.svg" in page)


@pytest.mark.parametrize("name", AGENTS)
def test_editors_know_the_classes(name: str) -> None:
    kind = AGENTS[name]
    assert getattr(bb.agents, kind.__name__) is kind
    assert kind.__name__ in bb.agents.__all__
    assert f"import {kind.__name__}\n" in (ROOT / "src/brlbench/agents/__init__.py").read_text()


def test_listing_the_agents_loads_no_compiler() -> None:
    code = """
import sys
from brlbench.cli.listings import agents
agents()
agents("bamcp")
print([name for name in ("numba", "polars", "pydantic") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")


class Plain:
    """Keeps some of its parameters."""

    def __init__(self, every: int = 3, weights: Any = (1, 2), rule: Any = None, seed: int = 0):
        self.every, self.weights, self.rule = every, np.asarray(weights), rule
        self.steps = seed


@dataclass
class Fields:
    """Has fields."""

    every: int = 3


class Private:
    """Keeps its parameter as a private attribute, and takes others that it forgets."""

    def __init__(self, beta: float, *rest: Any, **more: Any):
        self._beta, self.rest, self.more = beta, rest, more


class Named(Plain):
    """Says itself what to show."""

    name, parameters = "named", {"shown": 1}


@pytest.mark.parametrize(
    ("agent", "parameters"),
    [
        (Plain(), {"every": 3, "weights": [1, 2], "rule": None}),
        (Plain(every=5, rule=print), {"every": 5, "weights": [1, 2]}),  # a function has no text
        (Fields(4), {"every": 4}),
        (Private(5.0, 1, other=2), {"beta": 5.0}),
        (Named(), {"shown": 1}),
    ],
)
def test_users_agents_show_the_parameters_they_keep(agent: Any, parameters: dict[str, Any]) -> None:
    assert describe(agent)[1] == parameters


def test_users_agents_show_the_parameters_they_are_given() -> None:
    path = f"{__name__}:Plain"
    assert identity(make_agent(path, every=5)) == identity(Plain(every=5))  # type: ignore[arg-type]
    assert describe(make_agent(path, seed=1))[1]["seed"] == 1  # which it hides


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (Plain, r"^the agent is the class Plain: must be an object of it, such as Plain\(\)$"),
        ("bamcp", '^the agent is the text "bamcp": use make_agent\\("bamcp"\\)$'),
        (7, "^the agent is of class int, which has no method train: must have train, start, "),
    ],
)
def test_what_is_no_agent_is_named(agent: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        evaluate(agent, Experiment("GC", num_mdps=1, horizon=1))
