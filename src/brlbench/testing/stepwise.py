"""Agents that are played step by step as they are: not compiled, not copied."""

from functools import partial
from typing import Any, cast

from ..agents import describe
from ..agents.base import Agent, Task
from ..beliefs.base import Family
from ..beliefs.copying import private_copy
from ..mdps.mdp import MDP
from ..protocol.isolation import global_states

_METHODS = ("train", "start", "start_known", "act", "observe")


class StepByStep:
    """Passes every call on; it has the name, the parameters and so the streams of the agent."""

    def __init__(self, inner: Agent) -> None:
        self.inner: Any = inner
        self.name, self.parameters = describe(inner)

    def __getattr__(self, name: str) -> Any:
        """A method of the agent; nothing else, above all not its compiled form."""
        if name in _METHODS and hasattr(self.inner, name):
            return partial(self._call, name)
        raise AttributeError(name)

    def _call(self, method: str, *arguments: Any) -> Any:
        return getattr(self.inner, method)(*arguments)


class Watch(StepByStep):
    """Also notes the arguments and the global random states that the agent changes.

    A copy is the same object, so the agent itself plays. It can play only one trajectory.
    """

    def __init__(self, inner: Agent) -> None:
        super().__init__(inner)
        self.uses_global: dict[str, str] = {}  # the first method that draws, by generator
        self.changed: list[str] = []
        self._arguments: list[tuple[str, Any, Any]] = []  # name, argument, copy

    def __deepcopy__(self, memo: dict[int, Any]) -> "Watch":
        return self

    def _call(self, method: str, *arguments: Any) -> Any:
        for argument in arguments:
            for kind, name in _NAMES.items():
                if isinstance(argument, kind):
                    self._arguments.append((name, argument, private_copy(argument)))
        before = global_states()
        value = super()._call(method, *arguments)
        for name, state in global_states().items():
            if state != before[name]:
                self.uses_global.setdefault(name, method)
        for name, argument, copied in self._arguments:
            if name not in self.changed and _content(argument) != _content(copied):
                self.changed.append(name)
        return value


def step_by_step(agent: Agent) -> Agent:
    """The agent in Python: played step by step, never in the compiled loop."""
    return cast(Agent, StepByStep(agent))


_NAMES = {Family: "the prior", Task: "the task", MDP: "the MDP"}


def _content(thing: Any) -> Any:
    """The content that must not change: all of a task, and the tables of a prior or an MDP."""
    try:
        if isinstance(thing, Family):
            return (thing.content(), thing.name, thing.description)
        if isinstance(thing, MDP):
            return thing.transitions.content() + thing.rewards.content() + thing.start.tobytes()
    except Exception as error:  # what an agent left of it can't be read
        return repr(error)
    return thing
