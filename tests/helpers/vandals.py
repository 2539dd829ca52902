"""Agents that ruin all they can reach, for the tests of what others notice of it."""

from typing import Any

import numpy as np

from brlbench.agents.base import Task
from brlbench.agents.random import Random
from brlbench.beliefs.flat import FlatDirichlet
from helpers.own_agents import Scripted


def parts_of(thing: Any) -> list[Any]:
    """What can be reached from an object of this package, an array or a container in one step."""
    if isinstance(thing, np.ndarray):
        return [] if thing.base is None else [thing.base]
    if isinstance(thing, dict):
        return list(thing.values())
    if isinstance(thing, list | tuple | set):
        return list(thing)
    if type(thing).__module__.startswith("brlbench."):
        return list(getattr(thing, "__dict__", {}).values())
    return []


def reachable(thing: Any) -> list[Any]:
    """All that can be reached from an object, each once."""
    found, waiting = {}, [thing]
    while waiting:
        one = waiting.pop(0)
        if id(one) not in found:
            found[id(one)] = one
            waiting += parts_of(one)
    return list(found.values())


def arrays_in(thing: Any) -> list[Any]:
    """The arrays that can be reached from an object."""
    return [one for one in reachable(thing) if isinstance(one, np.ndarray)]


def vandalise(*things: Any) -> None:
    """Change all that can be reached from some objects, even if it says that it is read-only."""
    for one in [one for thing in things for one in reachable(thing)]:
        if isinstance(one, np.ndarray):
            _fill(one)
        elif isinstance(one, np.random.Generator):
            one.bit_generator.state = type(one.bit_generator)(666).state
        elif isinstance(one, dict | list | set):
            one.clear()
        elif type(one).__module__.startswith("brlbench."):
            for name in list(getattr(one, "__dict__", {})):
                object.__delattr__(one, name)


def _fill(array: Any) -> None:
    try:
        array.flags.writeable = True
    except ValueError:  # a view of something that is read-only itself, such as bytes
        return
    array[...] = 7


class Vandal(Scripted):
    """Ruins what it is given, as soon as it has looked at all of it."""

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        super().train(prior, task, rng)
        mdp = prior.sample(rng)
        given = (prior, task, rng, mdp, mdp.solve(task.discount), prior.mean(), prior.posterior([]))
        assert prior.digest
        vandalise(*given)

    def start(self, state: int, rng: np.random.Generator) -> None:
        super().start(state, rng)
        vandalise(rng)


class ToldVandal(Vandal):
    """Ruins the MDP that it is told."""

    def start_known(self, mdp: Any, state: int, rng: np.random.Generator) -> None:
        mdp.solve(0.5)
        vandalise(mdp, rng)


class CompiledVandal(Random):
    """Ruins what it is given, and plays compiled."""

    def prepare(self, prior: Any, task: Task, rng: np.random.Generator) -> Any:
        arrays = super().prepare(prior, task, rng)
        vandalise(prior, task, rng)
        return arrays


class SavingVandal(Scripted):
    """Ruins what it has saved, and what it has loaded."""

    saved: dict[str, Any]

    def save(self) -> dict[str, Any]:
        self.saved = {"table": np.arange(4.0), "script": [0, 1]}
        return self.saved

    def load(self, saved: dict[str, Any]) -> None:
        vandalise(saved)
