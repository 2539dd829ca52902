"""Built-in agents that are quick enough for tests of what all agents share."""

from typing import Any

import pytest

from brlbench.agents import AGENTS

SOON_COMPILED = ("epsilon-greedy", "optimal", "random", "soft-max")
PLAYERS = [
    pytest.param(name, marks=[] if name in SOON_COMPILED else pytest.mark.slow) for name in AGENTS
]
"""The names of all agents, for tests that play: most are slow, as they are compiled first."""


def make_quick(name: str, **parameters: Any) -> Any:
    """An agent with its quick parameters, unless others are given."""
    return AGENTS[name](**{**AGENTS[name].quick, **parameters})
