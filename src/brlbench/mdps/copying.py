"""Copies that share no memory, for code that might change what it is given."""

import copy
from typing import TypeVar

import numpy as np

from .dirichlet import FlatDirichlet
from .mdp import MDP, Rewards
from .sparse import SparseTable

_Given = TypeVar("_Given")


def private_copy(given: _Given) -> _Given:
    """A copy of a distribution, an MDP or plain data; its read-only arrays stay read-only."""
    copied: _Given
    if isinstance(given, np.ndarray):
        copied = given.copy()
        copied.flags.writeable = given.flags.writeable
        return copied
    if isinstance(given, FlatDirichlet | MDP | Rewards | SparseTable):
        copied = copy.copy(given)
        vars(copied).update({name: private_copy(part) for name, part in vars(given).items()})
        return copied
    return copy.deepcopy(given)
