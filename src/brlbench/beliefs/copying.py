"""Copies that share no memory, for code that might change its arguments."""

import copy
from typing import TypeVar

import numpy as np

from ..mdps.batch import MDPs
from ..mdps.mdp import MDP, Rewards
from ..mdps.sparse import SparseTable
from .base import Family
from .rewards import RewardPrior

Value = TypeVar("Value")


def private_copy(value: Value) -> Value:
    """A copy of a distribution, an MDP or plain data; its read-only arrays stay read-only."""
    copied: Value
    if isinstance(value, np.ndarray):
        copied = value.copy()
        copied.flags.writeable = value.flags.writeable
        return copied
    if isinstance(value, Family | MDP | MDPs | Rewards | RewardPrior | SparseTable):
        copied = copy.copy(value)
        vars(copied).update({name: private_copy(part) for name, part in vars(value).items()})
        return copied
    return copy.deepcopy(value)
