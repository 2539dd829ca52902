"""Bridges to and from Gymnasium, which `pip install 'brlbench[gym]'` installs.

Importing this module registers every problem as an environment: `gymnasium.make("brlbench/GC-v1")`,
`gymnasium.make_vec("brlbench/GC-v1", num_envs=1000)`. In the other direction, a tabular environment
becomes a problem, and a policy with a `predict` like Stable-Baselines3's becomes an agent.
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
    "MdpEnv": ".env",
    "MdpVectorEnv": ".vector",
    "PolicyAgent": ".policy",
    "from_gym": "..problems.formats.gymnasium_tables",
}

__all__ = ["MdpEnv", "MdpVectorEnv", "PolicyAgent", "from_gym"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name != "PolicyAgent":  # which works without Gymnasium
        require("gym", "gymnasium")
    return getattr(importlib.import_module(_MODULES[name], __name__), name)


if importlib.util.find_spec("gymnasium"):
    from .registration import register_problems

    register_problems()
