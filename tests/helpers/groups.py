"""Groups of tests: each runs in one process of pytest-xdist."""

import re

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from brlbench.agents import AGENTS

_AGENT = "|".join(sorted(map(re.escape, AGENTS), key=len, reverse=True))
_OF_AGENTS = "agents/|test_benchmarks|reproduction/test_shipped_returns"
_OF_AN_AGENT = re.compile(rf"tests/(?:{_OF_AGENTS}).*\[({_AGENT})[-\]]")
_FILE_OF_AN_AGENT = re.compile(rf"tests/agents/(?:({_AGENT})/|test-({_AGENT})\.py)")


def group_of(nodeid: str) -> str:
    """Name of a test's group: an agent, SLURM, Dask, or the test's file.

    One process compiles an agent's code, and one cluster serves all tests of SLURM, or of Dask.
    """
    path = nodeid.partition("::")[0]
    for cluster in ("slurm", "dask"):
        if cluster in nodeid:
            return cluster
    match = _OF_AN_AGENT.match(nodeid) or _FILE_OF_AN_AGENT.match(path.replace("_", "-"))
    return next(filter(None, match.groups())) if match else path


class Groups(LoadScopeScheduling):  # type: ignore[misc]
    """Gives a process one group after the other, in the order of the first test of each."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
