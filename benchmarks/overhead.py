"""What the protocol itself takes, with timing on: agents that do nothing.

"Recorded" is what is added to the times of every agent, "in all" also has the environment's step
and the record. The bound of what is recorded is two intervals between readings of the clock; in
all there are three, and one random word for the next state.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

import brlbench as bb
from brlbench.agents.base import CompiledAgent, Task, new_rng
from brlbench.execution import train
from brlbench.kernels.rng import Words
from brlbench.kernels.trajectory import register
from brlbench.playing import play
from brlbench.prior import FlatDirichlet

from .bounds import random_words, two_intervals
from .measure import Case, decision_microseconds, own_seconds

_MOST = 0.15  # microseconds a decision


class IdleArrays(NamedTuple):
    """The state of an agent that has none."""

    rng: Words


def start(agent: IdleArrays, x: int) -> None:
    """Nothing to forget."""


def act(agent: IdleArrays, x: int) -> int:
    """Always the first action."""
    return 0


def observe(agent: IdleArrays, x: int, u: int, y: int, r: float) -> None:
    """Nothing to learn."""


register(IdleArrays, start=start, act=act, observe=observe)


@dataclass
class Idle(CompiledAgent):
    """Does nothing, compiled."""

    name: ClassVar[str] = "idle"

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Nothing to learn."""
        return IdleArrays(new_rng())


class PlainIdle:
    """Does nothing, in Python."""

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        """Nothing to learn."""

    def start(self, state: int, rng: np.random.Generator) -> None:
        """Nothing to forget."""

    def act(self, state: int) -> int:
        """Always the first action."""
        return 0

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Nothing to learn."""


def cases(quick: bool) -> Iterator[Case]:
    """A compiled agent, and one in Python."""
    horizon = 10 if quick else 250
    few = bb.Experiment("GC", "GC", num_mdps=2 if quick else 20, horizon=horizon)
    many = bb.Experiment("GC", "GC", num_mdps=2 if quick else 1000, horizon=horizon)
    idle, plain = Idle(), PlainIdle()
    train(idle, many.prior, many.task, seed=0)
    one_word = random_words(1)

    def in_all_bound() -> float:
        return 1.5 * two_intervals() + one_word()

    yield Case(
        "overhead",
        "idle, recorded",
        "µs",
        lambda: decision_microseconds(idle, many),
        bound=two_intervals,
        plain=lambda: decision_microseconds(plain, few),
        most=_MOST,
    )
    yield Case(
        "overhead",
        "idle, in all",
        "µs",
        lambda: _in_all(idle, many),
        bound=in_all_bound,
        plain=lambda: _in_all(plain, few),
        most=_MOST,
    )
    yield Case(
        "overhead",
        "idle in Python, recorded",
        "µs",
        lambda: decision_microseconds(plain, few),
        bound=two_intervals,
    )
    yield Case(
        "overhead",
        "idle in Python, in all",
        "µs",
        lambda: _in_all(plain, few),
        bound=in_all_bound,
    )


def _in_all(agent: bb.Agent, experiment: bb.Experiment) -> float:
    trajectories = experiment.num_trajectories
    seconds = own_seconds(lambda: play(agent, experiment, 0, trajectories))
    return seconds / (trajectories * experiment.horizon) * 1e6
