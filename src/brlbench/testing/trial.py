"""An agent on trial: it is trained and plays in several ways, each once."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..agents import check_agent
from ..agents.base import Agent
from ..errors import AgentError, BrlbenchError, InvalidInput
from ..protocol.evaluate import play_afresh
from ..protocol.experiment import Experiment
from ..protocol.playing import Part, play
from ..protocol.stepping import copy_agent
from ..protocol.training import TrainedAgent, train
from .stepwise import Watch

if TYPE_CHECKING:  # importing kernels takes long
    from ..kernels.loop.trajectory import Record


def first_difference(one: "Record", other: "Record") -> str:
    """The first difference between two plays of the same trajectories; empty if none."""
    differs = (one.actions != other.actions) | (one.rewards != other.rewards)
    differs |= one.states[:, 1:] != other.states[:, 1:]
    if not differs.any():
        return ""
    mdp, step = np.argwhere(differs)[0]
    actions = f"action {one.actions[mdp, step]}, then {other.actions[mdp, step]}"
    return f"MDP {mdp}, step {step}: {actions}"


class Trial:
    """An untrained agent, and its plays of an experiment."""

    def __init__(self, agent: Agent, experiment: Experiment) -> None:
        check_agent(agent)
        self.agent, self.experiment = agent, experiment

    @cached_property
    def trained(self) -> TrainedAgent:
        """The agent that was trained first."""
        where = self.experiment
        return train(copy_agent(self.agent), where.prior, where.task, where.seed)

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
    def first(self) -> "Record":
        """The play of the agent that was trained first."""
        return play_part(self.trained.agent, self.experiment)

    @cached_property
    def second(self) -> "Record":
        """The play of an agent that is trained anew."""
        return train_and_play(self.agent, self.experiment)

    @cached_property
    def backwards(self) -> "Record":
        """The play of the first agent, MDP by MDP, the last one first."""
        parts = list(Part(0, self.experiment.num_trajectories).divide(1))
        plays = [play_part(self.trained.agent, self.experiment, part) for part in parts[::-1]]
        return type(self.first)(*map(np.concatenate, zip(*plays[::-1], strict=True)))

    @cached_property
    def watched(self) -> tuple[Watch, "Record"]:
        """The watch on the agent itself, not on a copy, and its play of the first trajectory."""
        watch: Any = Watch(copy_agent(self.agent))
        train(watch, self.experiment.prior, self.experiment.task, self.experiment.seed)
        return watch, play_part(watch, self.experiment, Part(0, 1))

    @cached_property
    def is_random(self) -> bool | None:
        """True if plays in two new processes differ; None if other processes can't play it."""
        try:
            one, other = (play_afresh(self.agent, self.experiment) for _ in range(2))
        except BrlbenchError:  # its class can't be sent or imported there, or it fails there
            return None
        return any((one[name] != other[name]).any() for name in ("actions", "rewards", "states"))


def play_part(agent: Agent, experiment: Experiment, part: Part | None = None) -> "Record":
    """Play some trajectories, or all, with a trained agent."""
    return play(agent, experiment, part or Part(0, experiment.num_trajectories))


def train_and_play(agent: Agent, experiment: Experiment) -> "Record":
    """Train a copy of an agent, which plays the whole experiment."""
    agent = copy_agent(agent)
    train(agent, experiment.prior, experiment.task, experiment.seed)
    return play_part(agent, experiment)
