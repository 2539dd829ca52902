"""BFS3 agents for tests."""

from typing import Any

from brlbench.agents.bfs3 import Bfs3
from brlbench.beliefs.base import Family
from helpers.made_planners import started

LONG = 1e9  # seconds, a deadline with which all actions are searched to the end


def trained(
    prior: Family, discount: float = 0.8, deadline: float | None = None, **parameters: Any
) -> Bfs3:
    return started(Bfs3(**parameters), prior, discount, deadline)
