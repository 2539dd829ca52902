"""Built-in agents that are quick enough for tests of what all agents share."""

from typing import Any

from brlbench.agents import AGENTS


def make_quick(name: str, **parameters: Any) -> Any:
    """An agent with its quick parameters, unless others are given."""
    return AGENTS[name](**{**AGENTS[name].quick, **parameters})
