"""The leaves of a simulation's tree: a roll-out, or the mean MDP's optimal value.

Each kind has a module with the functions below: `rollout` and `mean_values`.
"""

from typing import Any

from ...kernels.dispatch import by_type
from ...kernels.types import Floats, Integers, Words
from .mean_values import MeanValues
from .rollout import RolloutPolicy
from .urn import Urn

Leaf = RolloutPolicy | MeanValues


@by_type
def reset(leaf: Leaf, x: int) -> None:
    """Back to the prior."""


@by_type
def learn(leaf: Leaf, discount: float, x: int, u: int, y: int, r: float) -> None:
    """Learn from a real transition."""


@by_type
def begin(leaf: Leaf) -> None:
    """Prepare for a search."""


@by_type
def value(  # type: ignore[empty-body]
    leaf: Leaf,
    urn: Urn,
    starts: Any,
    discount: float,
    x: int,
    states: Integers,  # [D]; after each step in the tree
    rewards: Floats,  # [D]; of each step
    length: int,  # the number of these steps
    rng: Words,
) -> float:
    """The value of x after the steps in the tree; all draws are taken back."""
