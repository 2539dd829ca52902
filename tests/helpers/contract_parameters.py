"""Parameters that make expensive agents quick enough for tests of what all agents share."""

from typing import Any

SMALL: dict[str, dict[str, Any]] = {
    "bamcp": {"simulations": 30, "depth": 5},
    "bfs3": {"simulations": 5, "branching": 2, "depth": 4},
    "boss": {"samples": 2},
    "opps-ds": {"formulas": "F2", "draws": 60},
    "opps-cs": {"evaluations": 5},
}
