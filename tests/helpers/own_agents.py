"""Plain Python agents, as users write them, in a module that other processes can import."""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet


class Scripted:
    """Takes given actions over and over, and learns nothing. The base of the agents below."""

    def __init__(self, script: list[Any] | None = None, name: str = "scripted") -> None:
        self.script = script or [0]
        self.name = name
        self.parameters: dict[str, Any] = {} if script is None else {"script": script}
        self.steps = 0

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        self.num_actions = prior.num_actions

    def start(self, state: int, rng: np.random.Generator) -> None:
        self.steps = 0

    def act(self, state: int) -> Any:
        return self.script[self.steps % len(self.script)]

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        self.steps += 1


class Failing(Scripted):
    """Fails in one of its methods, if in the trajectory then at its fourth step."""

    def __init__(self, where: str, what: Any = None) -> None:
        super().__init__([0], name="failing")
        self.where, self.what = where, what

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        super().train(prior, task, rng)
        self._fail("train")

    def start(self, state: int, rng: np.random.Generator) -> None:
        super().start(state, rng)
        self._fail("start")

    def act(self, state: int) -> Any:
        if self.where == "return" and self.steps == 3:
            return self.what
        if self.steps == 3:
            self._fail("act")
        return super().act(state)

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        if self.steps == 3:
            self._fail("observe")
        super().observe(state, action, next_state, reward)

    def _fail(self, here: str) -> None:
        if here == self.where:
            raise RuntimeError(f"no luck in {here}")


class Learner(Scripted):
    """Trains with random numbers and acts by them, by its own stream and by what it sees."""

    def __init__(self) -> None:
        super().__init__(name="learner")

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        super().train(prior, task, rng)
        self.table = rng.random(prior.num_states)

    def start(self, state: int, rng: np.random.Generator) -> None:
        self.rng, self.seen = rng, 0.0

    def act(self, state: int) -> int:
        wish = self.table[state] + self.rng.random() + self.seen
        return int(wish * 1000) % self.num_actions

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        self.seen += reward


class Leaking(Learner):
    """Keeps what it saw in one MDP for the next one."""

    seen = 0.0

    def start(self, state: int, rng: np.random.Generator) -> None:
        self.rng = rng


class Saving(Learner):
    """Knows how to save itself, and refuses to be trained in a process that others started."""

    def save(self) -> dict[str, Any]:
        return {"table": self.table, "num_actions": self.num_actions}

    def load(self, saved: dict[str, Any]) -> None:
        self.table, self.num_actions = saved["table"], saved["num_actions"]

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        if multiprocessing.parent_process() is not None:
            raise RuntimeError("trained in another process")
        super().train(prior, task, rng)


class BadLoading(Saving):
    """Can't be loaded again."""

    def load(self, saved: dict[str, Any]) -> None:
        raise KeyError("weights")


class BadSaving(Saving):
    """Can't be saved."""

    def save(self) -> dict[str, Any]:
        raise RuntimeError("nothing to save")


class Sleeping(Scripted):
    """Takes its time."""

    def __init__(self, start: float, act: float, observe: float) -> None:
        super().__init__(name="sleeping")
        self.pauses = {"start": start, "act": act, "observe": observe}

    def start(self, state: int, rng: np.random.Generator) -> None:
        time.sleep(self.pauses["start"])

    def act(self, state: int) -> Any:
        time.sleep(self.pauses["act"])
        return 0

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        time.sleep(self.pauses["observe"])


class Dying(Scripted):
    """Ends the process it plays in."""

    def act(self, state: int) -> Any:
        os._exit(3)


class Told(Scripted):
    """Is told the MDP, and takes an action that may lead to the lowest-numbered state."""

    def start_known(self, mdp: Any, state: int, rng: np.random.Generator) -> None:
        self.policy = mdp.transitions.to_dense()[:, :, 0].argmax(axis=1)

    def act(self, state: int) -> Any:
        return self.policy[state]


class Unpicklable(Scripted):
    """Holds something that other processes can't be sent."""

    def __init__(self) -> None:
        super().__init__(name="unpicklable")
        self.rule: Callable[[int], int] = lambda state: 0

    def act(self, state: int) -> Any:
        return self.rule(state)


class Uncopyable(Scripted):
    """Holds something that can't be copied."""

    def __init__(self) -> None:
        super().__init__(name="uncopyable")
        self.lock = threading.Lock()
