"""Bridges to Gymnasium, which needs `pip install 'brlbench[gym]'`.

Outwards, importing this module registers every problem as an environment:
`gymnasium.make("brlbench/GC-v1")`, `gymnasium.make_vec("brlbench/GC-v1", num_envs=1000)`. Inwards,
a tabular environment becomes a problem, and a policy with Stable-Baselines3's `predict` an agent.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from ..arguments import require

if TYPE_CHECKING:
    from ..problems.formats.gymnasium_tables import from_gym
    from .env import MdpEnv
    from .policy import PolicyAgent
    from .vector import MdpVectorEnv

_MODULES = {
    "MdpEnv": "env",
    "MdpVectorEnv": "vector",
    "PolicyAgent": "policy",
    "from_gym": "tabular",
}

__all__ = ["MdpEnv", "MdpVectorEnv", "PolicyAgent", "from_gym"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name != "PolicyAgent":  # which is all that works without
        require("gym", "gymnasium")
    return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)


if importlib.util.find_spec("gymnasium"):
    from .registration import register_problems

    register_problems()
