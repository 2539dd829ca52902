"""Trained agents and experiments on disk, and the files of results: written whole or not at all.

Storage serialises what `protocol` made; it never trains and never plays.
"""

from ..results.files import read_result, write_result
from .agents import read_agent, write_agent
from .experiments import read_experiment, write_experiment
from .frozen import frozen_set

__all__ = [
    "frozen_set",
    "read_agent",
    "read_experiment",
    "read_result",
    "write_agent",
    "write_experiment",
    "write_result",
]
