"""The built-in agents, and how an agent is made from its name.

To add an agent, import its class and list it. Tests, benchmarks, documentation and README take all
else from the attributes of the class (see `CompiledAgent`).
"""

import dataclasses
import inspect
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np

from ..arguments import import_named
from ..errors import InvalidInput, did_you_mean, reason, said, short
from .ann import Ann
from .bamcp import Bamcp
from .base import Agent, CompiledAgent
from .beb import Beb
from .bfs3 import Bfs3
from .bolt import Bolt
from .bonus import Bonus
from .boss import Boss
from .epsilon_greedy import EpsilonGreedy
from .eubrl import Eubrl
from .formula import FormulaAgent
from .hindsight import Hindsight
from .lookahead import Lookahead
from .mbie_eb import MbieEb
from .opps_cs import OppsCs
from .opps_ds import OppsDs
from .optimal import Optimal
from .psrl import Psrl
from .random import Random
from .random_mix import RandomMix
from .sboss import Sboss
from .soft_max import SoftMax
from .sparse_prior import SparsePrior
from .spread import Spread
from .vbrb import Vbrb
from .vdbe import Vdbe
from .vpi import Vpi

CLASSES: list[type[CompiledAgent]] = [
    Random,
    Optimal,
    EpsilonGreedy,
    SoftMax,
    Vdbe,
    Beb,
    Bolt,
    Vbrb,
    MbieEb,
    Bonus,
    Eubrl,
    Spread,
    SparsePrior,
    FormulaAgent,
    OppsDs,
    OppsCs,
    Ann,
    Bamcp,
    Bfs3,
    Lookahead,
    Boss,
    Sboss,
    Vpi,
    Hindsight,
    Psrl,
    RandomMix,
]
"""In the order in which tables list them."""

_METHODS = ("train", "start", "act", "observe")
AGENTS: dict[str, type[CompiledAgent]] = {agent.name: agent for agent in CLASSES}
"""The classes of the built-in agents by name."""


def make_agent(algorithm: str, **parameters: Any) -> Agent:
    """Make an agent from its name, or a user's own from `"my_module:MyAgent"`."""
    if ":" in algorithm:
        return _make_own(algorithm, parameters)
    made = built_in(algorithm, ', or "module:Class"')
    known = made.rules_with(parameters)
    for parameter in parameters:
        if parameter not in known:
            has = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
            raise InvalidInput(
                f"{algorithm}: unknown parameter {parameter!r}"
                f"{did_you_mean(parameter, known)}: {has}"
            )
    return made(**parameters)


def built_in(algorithm: str, or_else: str = "") -> type[CompiledAgent]:
    """The class of a built-in agent; `or_else` names what else the text could have been."""
    if algorithm not in AGENTS:
        raise InvalidInput(
            f'unknown agent "{algorithm}"{did_you_mean(algorithm, AGENTS)}: '
            f"must be one of {', '.join(AGENTS)}{or_else}"
        )
    return AGENTS[algorithm]


def _make_own(path: str, parameters: dict[str, Any]) -> Agent:
    made = import_named(path, "agent")
    try:
        agent = made(**parameters)
        shown = describe(agent)[1]
        if not hasattr(agent, "parameters") and not parameters.keys() <= shown.keys():
            agent.parameters = shown | parameters  # results must show what the agent hides
    except InvalidInput as error:
        raise InvalidInput(f'agent "{path}": {error}') from error
    except (Exception, SystemExit) as error:  # a user's class can raise anything
        raise InvalidInput(f'agent "{path}" refuses its parameters: {said(error)}') from error
    return cast(Agent, agent)


def check_agent(agent: Agent) -> None:
    """Raise unless an agent is an object with the methods of `Agent`; say what it is instead."""
    if isinstance(agent, type):
        raise InvalidInput(
            f"the agent is the class {agent.__name__}: must be an object of it, such as "
            f"{agent.__name__}()"
        )
    if isinstance(agent, str):
        raise InvalidInput(f'the agent is the text "{agent}": use make_agent("{agent}")')
    missing = [name for name in _METHODS if not hasattr(agent, name)]
    if missing and not (missing == ["start"] and hasattr(agent, "start_known")):
        raise InvalidInput(
            f"the agent is of class {type(agent).__name__}, which has no method {missing[0]}: must "
            f"have {', '.join(_METHODS)}"
        )


def describe(agent: Agent) -> tuple[str, dict[str, Any]]:
    """An agent's name and its parameters.

    A user's agent may have a `name`. Its parameters are the fields of a dataclass, or its attribute
    `parameters`, or else those of its constructor that it keeps: `beta` as `beta` or `_beta`.
    """
    if isinstance(agent, CompiledAgent) and AGENTS.get(agent.name) is type(agent):
        return agent.name, agent.described()
    kind = f"{type(agent).__module__}:{type(agent).__qualname__}"
    try:
        name = getattr(agent, "name", kind)
    except Exception as error:
        raise InvalidInput(f"the name of {kind} can't be read: {reason(error)}") from error
    if not isinstance(name, str) or not name.strip() or not _is_text(name):
        raise InvalidInput(f"the name of {kind} is {short(name)}: must be a text")
    try:
        parameters = _parameters(agent)
        shown = json.dumps(parameters, default=str, ensure_ascii=False, sort_keys=True)
    except Exception as error:
        raise InvalidInput(f"the parameters of {kind} can't be read: {reason(error)}") from error
    if not _is_text(shown) or not all(isinstance(key, str) for key in parameters):
        raise InvalidInput(
            f"the parameters of {kind} are {short(parameters)}: must be a table of values by name"
        )
    return name, parameters


def _parameters(agent: Agent) -> dict[str, Any]:
    if dataclasses.is_dataclass(agent):
        fields = [field.name for field in dataclasses.fields(agent) if field.init]
        return {field: getattr(agent, field) for field in fields}
    if hasattr(agent, "parameters"):
        return dict({} if agent.parameters is None else agent.parameters)
    return _kept_parameters(agent)


def default_parameters(
    agent: Agent | str, parameters: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The defaults of the parameters of an agent, or of a built-in one by its name.

    Some have other defaults with other `parameters`, which an agent knows and a name does not.
    Those of a user's agent are found in its constructor; a name alone says nothing about them.
    """
    kind = AGENTS.get(agent) if isinstance(agent, str) else type(agent)
    if kind is not None and kind in CLASSES:
        named = describe(agent)[1] if not isinstance(agent, str) else parameters or {}
        return AGENTS[kind.name].defaults_with(named)
    defaults = {
        given.name: _to_plain(given.default)
        for given in ([] if kind is None else _constructor(kind))
        if given.default is not given.empty
    }
    return {name: value for name, value in defaults.items() if _is_plain(value)}


def _constructor(kind: type) -> Iterable[inspect.Parameter]:
    """The parameters of a class's constructor."""
    try:
        return inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):  # a class that is not written in Python may have no signature
        return ()


def _is_text(text: str) -> bool:
    """False if a text has halves of characters (surrogates), which no file can hold."""
    return not re.search(r"[\ud800-\udfff]", text)


def _kept_parameters(agent: Agent) -> dict[str, Any]:
    """The constructor's parameters that the agent keeps as plain data, as `beta` or `_beta`."""
    kept: dict[str, Any] = {}
    for given in _constructor(type(agent)):
        if given.kind in (given.VAR_POSITIONAL, given.VAR_KEYWORD):
            continue
        attribute = next((a for a in (given.name, f"_{given.name}") if hasattr(agent, a)), None)
        if attribute is not None:
            kept[given.name] = _to_plain(getattr(agent, attribute))
    return {name: value for name, value in kept.items() if _is_plain(value)}


def _to_plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _is_plain(value: Any) -> bool:
    """Whether a value is a number, a text, nothing, or made of these."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(value[key]) for key in value)
    return value is None or isinstance(value, bool | int | float | str)
