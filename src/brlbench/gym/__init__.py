"""Bridges to and from Gymnasium, which `pip install 'brlbench[gym]'` installs.

Importing this module registers every problem as an environment: `gymnasium.make("brlbench/GC-v1")`,
`gymnasium.make_vec("brlbench/GC-v1", num_envs=1000)`. In the other direction, a tabular environment
becomes a problem, and a policy with a `predict` like Stable-Baselines3's becomes an agent.
"""

from importlib.util import find_spec
from typing import Any

from ..arguments import require
from .policy import PolicyAgent

if find_spec("gymnasium"):
    from ..problems.formats.gymnasium_tables import from_gym
    from .env import MdpEnv
    from .registration import register_problems
    from .vector import MdpVectorEnv

    register_problems()

__all__ = ["MdpEnv", "MdpVectorEnv", "PolicyAgent", "from_gym"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        require("gym", "gymnasium")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
