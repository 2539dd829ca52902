"""Checks of the rules for agents: for the command line, Python and tests of other projects.

A project with an agent of its own tests it in three lines, one test per rule:

    from brlbench.testing import keeps_rules
    from my_agent import MyAgent

    test_my_agent = keeps_rules(MyAgent, every=20)
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from ..agents.base import Agent
from ..protocol.experiment import Experiment
from .examination import Checked, Examination, check_rules
from .findings import BROKEN, DOUBTFUL, UNKNOWN, Finding
from .rules import RULES
from .stepwise import step_by_step

__all__ = [
    "RULES",
    "Checked",
    "Examination",
    "Finding",
    "check_rules",
    "keeps_rules",
    "step_by_step",
]


def keeps_rules(
    make: Callable[..., Agent], *, experiment: Experiment | None = None, **parameters: Any
) -> Callable[[str], None]:
    """A test for pytest that runs once per rule; give it a name that starts with `test_`.

    A broken rule fails, a doubtful one warns, and one that can't be judged is skipped.

    Args:
        make: the agent's class, or a function that makes the agent.
        experiment: where it is played; by default four MDPs of GC, 25 decisions each.
        parameters: the parameters of the agent.
    """
    import pytest

    @cache
    def examination() -> Examination:
        return Examination(make(**parameters), experiment)

    @pytest.mark.parametrize("rule", RULES)
    def test(rule: str) -> None:
        verdict, seen, remedy = examination()[rule]
        if verdict == BROKEN:
            pytest.fail(f"{seen}: {remedy}", pytrace=False)
        if verdict == DOUBTFUL:
            warnings.warn(f"{seen}: {remedy}", stacklevel=2)
        if verdict == UNKNOWN:
            pytest.skip(seen)

    return test
