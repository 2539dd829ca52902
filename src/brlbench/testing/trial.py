"""An agent on trial: it is trained and plays in several ways, each once."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..agents import check_agent
from ..agents.base import Agent
from ..errors import AgentError, InvalidInput
from ..mdps.sparse import Floats, Integers
from ..protocol.experiment import Experiment
from ..protocol.playing import Part, copy_agent, play
from ..protocol.training import TrainedAgent, train
from .stepwise import Watch


class Play(NamedTuple):
    """The paths, rewards and times of some trajectories."""

    actions: Integers  # [n, T]
    states: Integers  # [n, T + 1]
    rewards: Floats  # [n, T]
    nanoseconds: Integers  # [n, T]
    cpu_nanoseconds: Integers  # [n]

    def difference(self, other: "Play") -> str:
        """The first difference from another play of the same trajectories; empty if none."""
        differs = (self.actions != other.actions) | (self.rewards != other.rewards)
        differs |= self.states[:, 1:] != other.states[:, 1:]
        if not differs.any():
            return ""
        mdp, step = np.argwhere(differs)[0]
        actions = f"action {self.actions[mdp, step]}, then {other.actions[mdp, step]}"
        return f"MDP {mdp}, step {step}: {actions}"

    def of(self, part: Part) -> "Play":
        """Some of the trajectories."""
        return Play._make(array[slice(*part)] for array in self)


class Trial:
    """An untrained agent, and its plays of an experiment."""

    def __init__(self, agent: Agent, experiment: Experiment) -> None:
        check_agent(agent)
        self.agent, self.experiment = agent, experiment

    def new(self, experiment: Experiment | None = None) -> TrainedAgent:
        """A copy of the untrained agent, trained."""
        where = experiment or self.experiment
        return train(copy_agent(self.agent), where.prior, where.task, where.seed)

    @cached_property
    def trained(self) -> TrainedAgent:
        """The agent that was trained first."""
        return self.new()

    @cached_property
    def copy_error(self) -> str:
        """Why the agent can't be copied; empty if it can."""
        try:
            copy_agent(self.agent)
            copy_agent(self.trained.agent)
        except InvalidInput as error:
            return str(error)
        except AgentError:  # training failed, which is another matter
            pass
        return ""

    @cached_property
    def first(self) -> Play:
        """The play of the agent that was trained first."""
        return play_part(self.trained.agent, self.experiment)

    @cached_property
    def second(self) -> Play:
        """The play of an agent that is trained anew."""
        return play_part(self.new().agent, self.experiment)

    @cached_property
    def backwards(self) -> Play:
        """The play of the first agent, MDP by MDP, the last one first."""
        parts = list(Part(0, self.experiment.num_trajectories).divide(1))
        plays = [play_part(self.trained.agent, self.experiment, part) for part in parts[::-1]]
        return Play(*map(np.concatenate, zip(*plays[::-1], strict=True)))

    @cached_property
    def watched(self) -> tuple[Watch, Play]:
        """The watch on the agent itself, not on a copy, and its play of the first trajectory."""
        watch: Any = Watch(copy_agent(self.agent))
        train(watch, self.experiment.prior, self.experiment.task, self.experiment.seed)
        return watch, play_part(watch, self.experiment, Part(0, 1))

    @cached_property
    def is_random(self) -> bool | None:
        """True if plays in two new processes differ; None if other processes can't play it."""
        arguments = (copy_agent(self.agent), self.experiment)
        context = multiprocessing.get_context("spawn")
        try:
            with ProcessPoolExecutor(2, context, max_tasks_per_child=1) as executor:
                one, other = (executor.submit(train_and_play, *arguments) for _ in range(2))
                return one.result().difference(other.result()) != ""
        except Exception:  # its class can't be sent or imported there, or it fails there
            return None


def play_part(agent: Agent, experiment: Experiment, part: Part | None = None) -> Play:
    """Play some trajectories, or all, with a trained agent."""
    record = play(agent, experiment, part or Part(0, experiment.num_trajectories))
    return Play(*(getattr(record, name) for name in Play._fields))


def train_and_play(agent: Agent, experiment: Experiment) -> Play:
    """Train an agent and play the whole experiment."""
    train(agent, experiment.prior, experiment.task, experiment.seed)
    return play_part(agent, experiment)
