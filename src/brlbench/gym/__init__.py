"""Bridges to and from Gymnasium, which `pip install 'brlbench[gym]'` installs.

Importing this module registers every problem as an environment: `gymnasium.make("brlbench/GC-v1")`,
`gymnasium.make_vec("brlbench/uniform-GC-v1", num_envs=1000)`. `brlbench/MDP-v1` takes any
distribution: a name, a file or an object. In the other direction, a tabular environment
becomes a problem, and a policy with a `predict` like Stable-Baselines3's becomes an agent.
"""

from importlib.util import find_spec
from typing import Any

from ..arguments import require
from ..beliefs.flat import FlatDirichlet
from ..problems import PROBLEMS
from .policy import PolicyAgent

if find_spec("gymnasium"):
    import gymnasium

    from ..problems.formats.gymnasium_tables import from_gym
    from .env import MdpEnv
    from .vector import MdpVectorEnv

    def _register(name: str, **settings: str) -> None:
        gymnasium.register(
            f"brlbench/{name}-v1",
            entry_point="brlbench.gym.env:MdpEnv",
            vector_entry_point="brlbench.gym.vector:MdpVectorEnv",
            kwargs=settings,
        )

    _register("MDP")
    for _problem, _build in PROBLEMS.items():
        _register(_problem, distribution=_problem)
        if isinstance(_build(), FlatDirichlet):
            _register(f"uniform-{_problem}", distribution=f"uniform:{_problem}")

__all__ = ["MdpEnv", "MdpVectorEnv", "PolicyAgent", "from_gym"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        require("gym", "gymnasium")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
