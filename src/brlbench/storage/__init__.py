"""Results, trained agents and experiments on disk: written once, whole or not at all.

Storage serialises what `protocol` made; it never trains and never plays. `tables` has the file
format that all Parquet files share.
"""

from .agents import read_agent, write_agent
from .experiments import read_experiment, write_experiment
from .frozen import frozen_set
from .results import read_result, write_result

__all__ = [
    "frozen_set",
    "read_agent",
    "read_experiment",
    "read_result",
    "write_agent",
    "write_experiment",
    "write_result",
]
