"""The problems as registered environments."""

import gymnasium

from ..problems import PROBLEMS

NAMESPACE = "brlbench"
VERSION = 1


def register_problems() -> None:
    """Register `brlbench/GC-v1`, `brlbench/uniform-GC-v1` and so on.

    `brlbench/MDP-v1` takes any distribution: a name, a file or an object.
    """
    _register("MDP", {})
    for problem in PROBLEMS:
        _register(problem, {"distribution": problem})
        _register(f"uniform-{problem}", {"distribution": f"uniform:{problem}"})


def _register(name: str, settings: dict[str, str]) -> None:
    gymnasium.register(
        f"{NAMESPACE}/{name}-v{VERSION}",
        entry_point="brlbench.gym.env:MdpEnv",
        vector_entry_point="brlbench.gym.vector:MdpVectorEnv",
        kwargs=settings,
    )
