"""Agents that each break one rule, in a module that other processes can import."""

import itertools
import math
import os
import threading
import time
from typing import Any, ClassVar

import numpy as np

from brlbench.agents.base import Task
from brlbench.agents.random import Random
from brlbench.beliefs.flat import FlatDirichlet

FIRST_PROCESS = os.environ.setdefault("RULE_BREAKERS_PROCESS", str(os.getpid()))  # inherited


class Good:
    """Keeps all rules: it prefers one action per state, and sometimes takes a random one."""

    def __init__(self, share: float = 0.5) -> None:
        self.share = share

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        self.num_actions, self.deadline = prior.num_actions, task.deadline
        self.preferred = rng.integers(prior.num_actions, size=prior.num_states)

    def start(self, state: int, rng: np.random.Generator) -> None:
        self.rng, self.seen = rng, 0

    def act(self, state: int) -> Any:
        if self.rng.random() < self.share:
            return int(self.rng.integers(self.num_actions))
        return int(self.preferred[state] + self.seen) % self.num_actions

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        self.seen += 1


class Saving(Good):
    """Keeps all rules, and can be saved."""

    def save(self) -> dict[str, Any]:
        return {"preferred": self.preferred, "num_actions": self.num_actions}

    def load(self, saved: dict[str, Any]) -> None:
        self.preferred, self.num_actions = saved["preferred"], saved["num_actions"]


class Fractional(Good):
    """Returns actions that are none."""

    def act(self, state: int) -> Any:
        return 0.5


class HidesParameter(Good):
    """Keeps a parameter under another name."""

    def __init__(self, share: float = 0.5, weight: float = 2.0) -> None:
        super().__init__(share)
        self.importance = weight


class DoublesParameter(Good):
    """Does not keep its parameter as it was given."""

    def __init__(self, share: float = 0.25) -> None:
        super().__init__(2 * share)


class LearnsParameter(Good):
    """Changes its parameter while it plays."""

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        self.share *= 0.9


class Unseeded(Good):
    """Draws from a generator of its own."""

    def start(self, state: int, rng: np.random.Generator) -> None:
        super().start(state, np.random.default_rng())


class Remembers(Good):
    """Remembers all MDPs in its class."""

    memory: ClassVar[list[int]] = []

    def act(self, state: int) -> Any:
        return (super().act(state) + len(self.memory) // 7) % self.num_actions

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        self.memory.append(next_state)


class TrainsOnAndOn(Good):
    """Counts its trainings in its class."""

    trainings: ClassVar[Any] = itertools.count()

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        super().train(prior, task, rng)
        self.preferred += next(self.trainings)


class KnowsItsProcess(Good):
    """Plays differently in processes that others started."""

    def act(self, state: int) -> Any:
        return super().act(state) if str(os.getpid()) == FIRST_PROCESS else 0


class SharesWithCopies(Good):
    """Its copies write to one array."""

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        super().train(prior, task, rng)
        self.visits = {"all": np.zeros(prior.num_states)}

    def __deepcopy__(self, memo: dict[int, Any]) -> "SharesWithCopies":
        other = type(self)(self.share)
        vars(other).update(vars(self))
        return other

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        super().observe(state, action, next_state, reward)
        self.visits["all"][state] += 1


class SharesUnchanged(SharesWithCopies):
    """Its copies share what none of them changes."""

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        self.seen += 1


class LosesTraining(Good):
    """Its copies have forgotten what training found."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "LosesTraining":
        other = type(self)(self.share)
        if hasattr(self, "preferred"):
            other.num_actions, other.deadline = self.num_actions, self.deadline
            other.preferred = np.zeros_like(self.preferred)
        return other


class Uncopyable(Good):
    """Holds what can't be copied, once it is trained."""

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        super().train(prior, task, rng)
        self.lock = threading.Lock()


class SavesHalf(Saving):
    """Loads less than was saved."""

    def load(self, saved: dict[str, Any]) -> None:
        super().load(saved)
        self.preferred = np.zeros_like(self.preferred)


class OnlySaves(Good):
    """Can be saved, but not loaded."""

    def save(self) -> dict[str, Any]:
        return {}


class NeedsTwoActions(Good):
    """Always wants another action than the first."""

    def act(self, state: int) -> Any:
        return 1 + int(self.rng.integers(self.num_actions - 1))


class NeedsPositiveRewards(Good):
    """Takes the logarithm of rewards."""

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        self.seen += int(math.log(1 + reward))


class NeedsReachableStates(Good):
    """Looks up where each state can be entered from."""

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        super().train(prior, task, rng)
        into = prior.counts.to_dense().sum(axis=1)
        self.entries = [int(np.flatnonzero(column)[0]) for column in into.T]


class ChangesPrior(Good):
    """Sets counts of the prior that it is given."""

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        super().train(prior, task, rng)
        prior.counts.values.flags.writeable = True
        prior.counts.values[0] += 1


class ChangesTask(Good):
    """Sets the horizon that it is given, while it plays."""

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        super().train(prior, task, rng)
        self.task = task

    def act(self, state: int) -> Any:
        object.__setattr__(self.task, "horizon", 1)
        return super().act(state)


class DrawsGlobally(Good):
    """Draws from NumPy's global generator."""

    def act(self, state: int) -> Any:
        return int(np.random.randint(self.num_actions))  # noqa: NPY002


class IgnoresDeadlines(Good):
    """Says that it keeps deadlines, and computes for 4 ms."""

    anytime = True

    def act(self, state: int) -> Any:
        end = time.thread_time() + 4e-3
        while time.thread_time() < end:
            pass
        return super().act(state)


class KeepsDeadlines(Good):
    """Computes for half of the time."""

    anytime = True

    def act(self, state: int) -> Any:
        end = time.thread_time() + min(4e-3, (self.deadline or 1) / 2)
        while time.thread_time() < end:
            pass
        return super().act(state)


class CompiledForgetful(Random):
    """Compiled, and different step by step."""

    name: ClassVar[str] = "forgetful"

    def act(self, state: int) -> int:
        return 0
