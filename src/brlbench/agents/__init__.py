"""The agents by name, and how to make one."""

import dataclasses
import importlib
import sys
from pathlib import Path
from typing import Any, cast

from ..errors import InvalidInput, did_you_mean
from .bamcp import Bamcp
from .base import Agent, CompiledAgent, Task
from .beb import Beb
from .bfs3 import Bfs3
from .boss import Boss
from .epsilon_greedy import EpsilonGreedy
from .formula import FormulaAgent
from .opps_cs import OppsCs
from .opps_ds import OppsDs
from .optimal import Optimal
from .parameters import rules
from .psrl import Psrl
from .random import Random
from .sboss import Sboss
from .soft_max import SoftMax
from .vdbe import Vdbe

AGENTS: dict[str, type[CompiledAgent]] = {
    "random": Random,
    "optimal": Optimal,
    "epsilon-greedy": EpsilonGreedy,
    "soft-max": SoftMax,
    "vdbe": Vdbe,
    "beb": Beb,
    "formula": FormulaAgent,
    "opps-ds": OppsDs,
    "opps-cs": OppsCs,
    "bamcp": Bamcp,
    "bfs3": Bfs3,
    "boss": Boss,
    "sboss": Sboss,
    "psrl": Psrl,
}

__all__ = ["AGENTS", "Agent", "CompiledAgent", "Task", "describe", "make_agent"]


def make_agent(algorithm: str, **parameters: Any) -> Agent:
    """Make an agent from its name, or a user's own from `"my_module:MyAgent"`."""
    if ":" in algorithm:
        return _make_own(algorithm, parameters)
    if algorithm not in AGENTS:
        raise InvalidInput(
            f'unknown agent "{algorithm}"{did_you_mean(algorithm, AGENTS)}: '
            f'must be one of {", ".join(AGENTS)}, or "module:Class"'
        )
    known = rules(AGENTS[algorithm])
    for parameter in parameters:
        if parameter not in known:
            has = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
            raise InvalidInput(
                f"{algorithm}: unknown parameter {parameter!r}"
                f"{did_you_mean(parameter, known)}: {has}"
            )
    return AGENTS[algorithm](**parameters)


def describe(agent: Agent) -> tuple[str, dict[str, Any]]:
    """The algorithm's name and the parameters of an agent; a user's own may have a `name`."""
    own_name = f"{type(agent).__module__}:{type(agent).__qualname__}"
    name = str(getattr(agent, "name", own_name))
    if dataclasses.is_dataclass(agent):
        fields = [field.name for field in dataclasses.fields(agent) if field.init]
        return name, {field: getattr(agent, field) for field in fields}
    return name, dict(getattr(agent, "parameters", None) or {})


def _make_own(path: str, parameters: dict[str, Any]) -> Agent:
    module_name, _, class_name = path.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except Exception as error:  # a user's module can raise anything
        raise InvalidInput(
            f'agent "{path}" can\'t be imported ({error}): module and class must be importable '
            "from the current folder, the study's, or the environment"
        ) from error
    try:
        agent = found(**parameters)
        if parameters and not dataclasses.is_dataclass(agent) and not hasattr(agent, "parameters"):
            agent.parameters = parameters  # so that `describe` knows them
    except Exception as error:
        raise InvalidInput(f'agent "{path}" refuses its parameters: {error}') from error
    return cast(Agent, agent)
