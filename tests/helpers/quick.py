"""Built-in agents that are quick enough for tests of what all agents share."""

from typing import Any

import pytest

from brlbench.agents import AGENTS

SOON_COMPILED = ("epsilon-greedy", "optimal", "random", "soft-max")
GENERAL = [name for name, agent in AGENTS.items() if agent.example == "GC"]
"""The names of the agents that are not made for one kind of problem."""
PLAYERS = [
    pytest.param(name, marks=[] if name in SOON_COMPILED else pytest.mark.slow) for name in GENERAL
]
"""The same, for tests that play: most are slow, as they are compiled first."""


def make_quick(name: str, **parameters: Any) -> Any:
    """An agent with its quick parameters, unless others are given."""
    return AGENTS[name](**{**AGENTS[name].quick, **parameters})
