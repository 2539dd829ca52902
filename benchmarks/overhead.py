"""What the protocol itself takes: agents that do next to nothing, with timing on.

The compiled one is `random`, with one random word per decision.

"Recorded" is added to the times of every agent; "in all" includes the environment's step and the
record. The bound of "recorded" is two intervals between readings of the clock and one random word.
That of "in all" is three intervals and another word, for the next state.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

import brlbench as bb
from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.protocol.playing import Part, play
from brlbench.protocol.training import train

from .bounds import random_words, two_intervals
from .measure import Case, decision_microseconds, own_seconds

_MOST = 0.15  # microseconds per decision


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
    compiled, idle = bb.make_agent("random"), PlainIdle()
    train(compiled, many.prior, many.task, seed=0)
    one_word, two_words = random_words(1), random_words(2)
    for kind, measured, bound in (
        ("recorded", decision_microseconds, lambda: two_intervals() + one_word()),
        ("in all", _in_all, lambda: 1.5 * two_intervals() + two_words()),
    ):
        sample, plain = partial(measured, compiled, many), partial(measured, idle, few)
        yield Case("overhead", f"random, {kind}", "µs", sample, bound, plain, most=_MOST)
        yield Case("overhead", f"idle in Python, {kind}", "µs", plain, bound)


def _in_all(agent: bb.Agent, experiment: bb.Experiment) -> float:
    trajectories = experiment.num_trajectories
    seconds = own_seconds(lambda: play(agent, experiment, Part(0, trajectories)))
    return seconds / (trajectories * experiment.horizon) * 1e6
