"""Parameters of agents: each is declared once, with its default, its meaning and its kind."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..mdps.task import EPISODE, STEP
from ..values import Kind, check, words


@dataclasses.dataclass(frozen=True)
class Declaration:
    """The declaration of a parameter; None is allowed too if it is the default."""

    default: Any
    meaning: str
    kind: Kind[Any]
    # Selects a variant of the algorithm. The default is the published form, which an agent's
    # description does not mention.
    variant: bool = False
    # Finds a file that the value names from a study's folder; None: values name no files.
    locate: Callable[[str, Path], str] | None = None


def parameter(default: Any, meaning: str, kind: Kind[Any], **options: Any) -> Any:
    """Declare a parameter, as a field of an agent's dataclass; see `Declaration`."""
    declaration = Declaration(default, meaning, kind, **options)
    return dataclasses.field(default=default, metadata={"declaration": declaration})


def replan_parameter() -> Any:
    """Declare how often an agent plans in episodes."""
    meaning = "when it plans in episodes: at each step, or once per episode"
    return parameter(STEP, meaning, words(STEP, EPISODE), variant=True)


def declarations(agent: Any) -> dict[str, Declaration]:
    """The declarations of an agent's (or its class's) parameters by name."""
    return {field.name: field.metadata["declaration"] for field in dataclasses.fields(agent)}


def described(agent: Any) -> dict[str, Any]:
    """The parameters of an agent that its description mentions."""
    return {
        name: getattr(agent, name)
        for name, declared in declarations(agent).items()
        if not declared.variant or getattr(agent, name) != declared.default
    }


def check_parameters(agent: Any, name: str) -> None:
    """Check the parameters of an agent, and convert them to plain Python data."""
    for parameter, declared in declarations(agent).items():
        value = getattr(agent, parameter)
        if value is not None or declared.default is not None:
            setattr(agent, parameter, check(value, f"{name}: {parameter}", declared.kind))
