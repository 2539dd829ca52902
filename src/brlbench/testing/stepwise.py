"""Agents that are played step by step as they are: not compiled, not copied."""

import pickle
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..agents import describe
from ..agents.base import Agent, Task
from ..mdps.copying import private_copy
from ..mdps.dirichlet import FlatDirichlet
from ..mdps.mdp import MDP


class StepByStep:
    """Passes every call on; it has the name, the parameters and so the streams of the other."""

    def __init__(self, inner: Agent) -> None:
        self.inner: Any = inner
        self.name, self.parameters = describe(inner)

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        """Pass on."""
        self.inner.train(prior, task, rng)

    def start(self, state: int, rng: np.random.Generator) -> None:
        """Pass on."""
        self.inner.start(state, rng)

    def act(self, state: int) -> Any:
        """Pass on."""
        return self.inner.act(state)

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Pass on."""
        self.inner.observe(state, action, next_state, reward)


class ToldStepByStep(StepByStep):
    """The same for an agent that is told the MDP."""

    def start_known(self, mdp: MDP, state: int, rng: np.random.Generator) -> None:
        """Pass on."""
        self.inner.start_known(mdp, state, rng)


def step_by_step(agent: Agent) -> StepByStep:
    """The disguise that fits."""
    return ToldStepByStep(agent) if hasattr(agent, "start_known") else StepByStep(agent)


class Watched(StepByStep):
    """Also notes what the agent changes: what it is given, and the global random states.

    A copy is the same object, so the agent itself plays. It can play only one trajectory.
    """

    def __init__(self, inner: Agent) -> None:
        super().__init__(inner)
        self.uses_global: dict[str, str] = {}  # the first method that draws, by generator
        self.changed: list[str] = []
        self._given: list[tuple[str, Any, Any]] = []  # what it is called, itself, a copy

    def __deepcopy__(self, memo: dict[int, Any]) -> "Watched":
        return self

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        """Pass on, and keep what is given."""
        self._give("the prior", prior)
        self._give("the task", task)
        with self._watching("train"):
            super().train(prior, task, rng)

    def start(self, state: int, rng: np.random.Generator) -> None:
        """Pass on."""
        with self._watching("start"):
            super().start(state, rng)

    def act(self, state: int) -> Any:
        """Pass on."""
        with self._watching("act"):
            return super().act(state)

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Pass on."""
        with self._watching("observe"):
            super().observe(state, action, next_state, reward)

    def _give(self, name: str, thing: Any) -> None:
        self._given.append((name, thing, private_copy(thing)))

    @contextmanager
    def _watching(self, method: str) -> Iterator[None]:
        before = _global_states()
        yield
        for name, state in _global_states().items():
            if state != before[name]:
                self.uses_global.setdefault(name, method)
        for name, thing, copied in self._given:
            if name not in self.changed and _content(thing) != _content(copied):
                self.changed.append(name)


class ToldWatched(Watched):
    """The same for an agent that is told the MDP."""

    def start_known(self, mdp: MDP, state: int, rng: np.random.Generator) -> None:
        """Pass on, and keep what is given."""
        self._give("the MDP", mdp)
        with self._watching("start_known"):
            self.inner.start_known(mdp, state, rng)


def watched(agent: Agent) -> Watched:
    """The watch that fits."""
    return ToldWatched(agent) if hasattr(agent, "start_known") else Watched(agent)


def _global_states() -> dict[str, Any]:
    of_numpy = np.random.get_state(legacy=False)  # noqa: NPY002
    return {"random": random.getstate(), "numpy.random": pickle.dumps(of_numpy)}


def _content(thing: Any) -> Any:
    """What must stay as it is: all of a task, and the tables of a prior or an MDP."""
    try:
        if isinstance(thing, FlatDirichlet):
            tables = thing.counts.content() + thing.rewards.content() + thing.start.tobytes()
            return (tables, thing.name, thing.description)
        if isinstance(thing, MDP):
            return thing.transitions.content() + thing.rewards.content() + thing.start.tobytes()
    except Exception as error:  # what an agent left of it can't be read
        return repr(error)
    return thing
