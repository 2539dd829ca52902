"""Built-in agents that are quick enough for tests of what all agents share."""

from typing import Any

import pytest

from brlbench.agents import AGENTS
from helpers.sizes import thinned

SOON_COMPILED = ("epsilon-greedy", "optimal", "random", "soft-max")
GENERAL = [name for name, agent in AGENTS.items() if agent.example == "GC"]
"""The names of the agents that are not made for one kind of problem."""
PLAYERS = [
    pytest.param(name, marks=[] if name in SOON_COMPILED else pytest.mark.slow) for name in GENERAL
]
"""The same, for tests that play: most are slow, as they are compiled first."""

_ALIKE = (
    "opps-ds",
    "opps-cs",
    "vbrb",
    "mbie-eb",
    "bonus",
    "soft-max",
    "vdbe",
    "sparse-prior",
    "shift-prior",
)
_ABLE = [name for name, agent in AGENTS.items() if agent.episodes]
IN_EPISODES = thinned(_ABLE, [name for name in _ABLE if name not in _ALIKE])
"""Agents that play episodes; those whose code there is nearly another's are exhaustive."""


def make_quick(name: str, **parameters: Any) -> Any:
    """An agent with its quick parameters, unless others are given."""
    return AGENTS[name](**{**AGENTS[name].quick, **parameters})
