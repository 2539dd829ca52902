"""Agents that come with the package, disguised as plain Python agents."""

from typing import Any

import numpy as np

from brlbench.agents import describe
from brlbench.agents.base import Agent, Task
from brlbench.mdps.dirichlet import FlatDirichlet
from brlbench.mdps.mdp import MDP


class StepByStep:
    """Passes every call on; it has the name, the parameters and so the streams of the other."""

    def __init__(self, inner: Agent) -> None:
        self.inner: Any = inner
        self.name, self.parameters = describe(inner)

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        self.inner.train(prior, task, rng)

    def start(self, state: int, rng: np.random.Generator) -> None:
        self.inner.start(state, rng)

    def act(self, state: int) -> int:
        return int(self.inner.act(state))

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        self.inner.observe(state, action, next_state, reward)


class ToldStepByStep(StepByStep):
    """The same for an agent that is told the MDP."""

    def start_known(self, mdp: MDP, state: int, rng: np.random.Generator) -> None:
        self.inner.start_known(mdp, state, rng)


def step_by_step(agent: Agent) -> StepByStep:
    """The disguise that fits."""
    return ToldStepByStep(agent) if hasattr(agent, "start_known") else StepByStep(agent)
