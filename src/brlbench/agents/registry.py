"""The built-in agents by name, and agents made from their names.

To add an agent, list its folder and class. Tests, benchmarks, documentation and README take all
else from the attributes of the class (see `CompiledAgent`).
"""

import dataclasses
import inspect
import json
import re
from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any, cast

import numpy as np

from ..arguments import check_names, import_guest
from ..errors import InvalidInput, did_you_mean, reason, said, short
from .base import Agent, CompiledAgent
from .parameters import declarations

_CLASSES = (
    "random.Random",
    "optimal.Optimal",
    "epsilon_greedy.EpsilonGreedy",
    "soft_max.SoftMax",
    "vdbe.Vdbe",
    "beb.Beb",
    "bolt.Bolt",
    "vbrb.Vbrb",
    "mbie_eb.MbieEb",
    "bonus.Bonus",
    "eubrl.Eubrl",
    "spread.Spread",
    "sparse_prior.SparsePrior",
    "formula.FormulaAgent",
    "opps_ds.OppsDs",
    "opps_cs.OppsCs",
    "ann.Ann",
    "bamcp.Bamcp",
    "bfs3.Bfs3",
    "lookahead.Lookahead",
    "boss.Boss",
    "sboss.Sboss",
    "vpi.Vpi",
    "hindsight.Hindsight",
    "psrl.Psrl",
    "opsrl.Opsrl",
    "gittins.Gittins",
    "q_learning.QLearning",
    "r_max.RMax",
    "ucrl2.Ucrl2",
    "random_mix.RandomMix",
)
"""Folder and class of each built-in agent, in the order of tables."""

_METHODS = ("train", "start", "act", "observe")


AGENTS: dict[str, type[CompiledAgent]] = {
    agent.name: agent
    for agent in (resolve_name(f"{__package__}.{path.replace('.', ':')}") for path in _CLASSES)
}
"""The classes of the built-in agents by name."""


def make_agent(algorithm: str, **parameters: Any) -> Agent:
    """Make an agent from its name, or a user's own from `"my_module:MyAgent"`."""
    if ":" in algorithm:
        return _make_own(algorithm, parameters)
    kind = built_in(algorithm, ', or "module:Class"')
    check_names(parameters, kind.declarations_with(parameters), algorithm)
    return kind(**parameters)


def built_in(algorithm: str, or_else: str = "") -> type[CompiledAgent]:
    """The class of a built-in agent; `or_else` names what else the text could have been."""
    if algorithm not in AGENTS:
        raise InvalidInput(
            f'unknown agent "{algorithm}"{did_you_mean(algorithm, AGENTS)}: '
            f"must be one of {', '.join(AGENTS)}{or_else}"
        )
    return AGENTS[algorithm]


def _make_own(path: str, parameters: dict[str, Any]) -> Agent:
    kind = import_guest(path, "agent")
    try:
        agent = kind(**parameters)
        if type(agent).__module__ == "builtins":  # a function's value, such as print's None
            check_agent(agent)
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


def identity(agent: Agent) -> str:
    """A text that differs between agents with different parameters."""
    algorithm, parameters = describe(agent)
    return f"{algorithm} {json.dumps(parameters, sort_keys=True, default=str)}"


def _parameters(agent: Agent) -> dict[str, Any]:
    if dataclasses.is_dataclass(agent):
        fields = [field.name for field in dataclasses.fields(agent) if field.init]
        return {field: getattr(agent, field) for field in fields}
    if hasattr(agent, "parameters"):
        return dict({} if agent.parameters is None else agent.parameters)
    kept = {
        argument.name: getattr(agent, attribute)
        for argument in constructor_parameters(type(agent))
        for attribute in (f"_{argument.name}", argument.name)  # the public one, if it has both
        if hasattr(agent, attribute)
    }
    return _plain_values(kept)


def default_parameters(
    agent: Agent | str, parameters: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The defaults of the parameters of an agent, or of a built-in one by its name.

    Some defaults depend on other `parameters`, which an agent knows and a name does not. Those of
    a user's agent are in its constructor; a name alone says nothing about them.
    """
    kind: Any = AGENTS.get(agent) if isinstance(agent, str) else type(agent)
    if kind is None:
        return {}
    if kind in AGENTS.values():
        values = parameters or {} if isinstance(agent, str) else describe(agent)[1]
        try:
            declared = kind.declarations_with(values)
        except InvalidInput:  # a result of another version, whose base is unknown here
            declared = declarations(kind)
        return {name: each.default for name, each in declared.items() if not each.variant}
    arguments = constructor_parameters(kind)
    return _plain_values({a.name: a.default for a in arguments if a.default is not a.empty})


def constructor_parameters(kind: type) -> list[inspect.Parameter]:
    """The parameters of a class's constructor, without * and **."""
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):  # a class that is not written in Python may have no signature
        return []
    return [each for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]


def _is_text(text: str) -> bool:
    """False if a text has halves of characters (surrogates), which no file can hold."""
    return not re.search(r"[\ud800-\udfff]", text)


def _plain_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are plain data; arrays become lists."""
    plain = {
        name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
        for name, value in values.items()
    }
    return {name: value for name, value in plain.items() if _is_plain(value)}


def _is_plain(value: Any) -> bool:
    """Whether a value is a number, a text, nothing, or made of these."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(value[key]) for key in value)
    return value is None or isinstance(value, bool | int | float | str)
