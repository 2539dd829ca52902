"""The agents in short and obvious Python with NumPy, to compare with.

They follow the protocol of users' agents. Tests compare those that plan or sample with the compiled
ones. A search with many simulations is timed with a few, and the time multiplied.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brlbench.agents import describe
from brlbench.agents.base import Agent, Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.formulas import parse
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.training import train

from .measure import Measurement, decision_microseconds
from .plain_planners import PlainBamcp, PlainBfs3
from .plain_sampling import PlainBoss, PlainPsrl, PlainSboss

Floats = NDArray[np.float64]

_ENOUGH = 0.3  # seconds to play at least, unless a trajectory is shorter
_SIMULATIONS = 20  # of bamcp
_ROLLOUTS = 1  # of bfs3, in each of its trees
_RESAMPLE = 0.05  # psrl's default with a discount of 0.95


def plain_of(compiled: Agent, experiment: Experiment) -> Measurement | None:
    """The time of a plain agent's decision, in microseconds; None if there is no plain agent."""
    name, parameters = describe(compiled)
    if name not in PLAIN:
        return None
    factor, agent = 1.0, PLAIN[name](parameters)
    if name == "bamcp":
        factor = parameters["simulations"] / _SIMULATIONS
    elif name == "bfs3":
        factor = max(1, parameters["simulations"] // parameters["branching"]) / _ROLLOUTS
    return lambda: factor * _decision_microseconds(agent, experiment)


def _decision_microseconds(agent: Agent, experiment: Experiment) -> float:
    """The mean time of a trajectory's first decisions; more of them until there is time enough."""
    decisions = 1
    while True:
        short = Experiment(experiment.prior, experiment.test, 1, experiment.discount, decisions)
        train(agent, short.prior, short.task, seed=0)
        microseconds = decision_microseconds(agent, short)
        if decisions == experiment.horizon or microseconds * decisions > _ENOUGH * 1e6:
            return microseconds
        decisions = min(4 * decisions, experiment.horizon)


class PlainRandom:
    """Draws an action."""

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        """Learn how many actions there are."""
        self.num_actions = prior.num_actions

    def start(self, state: int, rng: np.random.Generator) -> None:
        """Take the generator."""
        self.rng = rng

    def act(self, state: int) -> int:
        """Draw."""
        return int(self.rng.integers(self.num_actions))

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Nothing to learn."""


class PlainModels:
    """Solves the mean MDPs of some models anew at every decision, by policy iteration."""

    def __init__(self, num_models: int, beta: float = 0.0) -> None:
        self.num_models, self.beta = num_models, beta

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        """Keep the prior."""
        self.prior, self.rewards = prior.counts.to_dense(), prior.rewards.mean.to_dense()
        self.discount = task.discount

    def start(self, state: int, rng: np.random.Generator) -> None:
        """Reset to the prior."""
        self.counts = [self.prior.copy() for _ in range(self.num_models)]
        self.policies = [np.zeros(len(self.prior), np.int64) for _ in range(self.num_models)]

    def act(self, state: int) -> int:
        """Solve every model; combining their Q-values costs next to nothing."""
        q = [self.solve(model)[state] for model in range(self.num_models)]
        return int(np.sum(q, axis=0).argmax())

    def solve(self, model: int) -> Floats:
        """The optimal values [S, A], starting from the last policy."""
        total = self.counts[model].sum(axis=2)
        transitions = self.counts[model] / total[:, :, None]
        expected = (transitions * self.rewards).sum(axis=2) + self.beta / (1 + total)
        states, policy = np.arange(len(total)), self.policies[model]
        while True:
            matrix = np.eye(len(total)) - self.discount * transitions[states, policy]
            q = expected + self.discount * transitions @ np.linalg.solve(
                matrix, expected[states, policy]
            )
            better = q.max(axis=1) > q[states, policy] + 1e-9
            if not better.any():
                self.policies[model] = policy
                return np.asarray(q)
            policy = np.where(better, q.argmax(axis=1), policy)

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Count."""
        for counts in self.counts:
            counts[state, action, next_state] += 1


class PlainSearch:
    """BAMCP or BFS3, with few simulations."""

    def __init__(self, name: str, parameters: dict[str, Any]) -> None:
        self.algorithm, self.settings = name, parameters

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        """Keep the prior."""
        self.prior, self.discount = prior, task.discount

    def start(self, state: int, rng: np.random.Generator) -> None:
        """Reset to the prior."""
        depth = self.settings["depth"]
        self.planner: PlainBamcp | PlainBfs3
        if self.algorithm == "bamcp":
            self.planner = PlainBamcp(self.prior, self.discount, _SIMULATIONS, depth)
        else:
            branching = self.settings["branching"]
            rollouts = _ROLLOUTS * branching
            self.planner = PlainBfs3(self.prior, self.discount, rollouts, branching, depth)

    def act(self, state: int) -> int:
        """Search."""
        return self.planner.search(state)

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Count."""
        self.planner.observe(state, action, next_state)


def _models(parameters: dict[str, Any]) -> Agent:
    return PlainModels(1, parameters.get("beta", 0.0))


def _psrl(parameters: dict[str, Any]) -> Agent:
    given = {key: value for key, value in parameters.items() if value is not None}
    return PlainPsrl(**{"resample": _RESAMPLE} | given)


PLAIN: dict[str, Callable[[dict[str, Any]], Agent]] = {
    "random": lambda parameters: PlainRandom(),
    "epsilon-greedy": _models,
    "soft-max": _models,
    "vdbe": _models,
    "beb": _models,
    "formula": lambda parameters: PlainModels(len(parse(parameters["formula"]).features) or 1),
    "bamcp": lambda parameters: PlainSearch("bamcp", parameters),
    "bfs3": lambda parameters: PlainSearch("bfs3", parameters),
    "boss": lambda parameters: PlainBoss(**parameters),
    "sboss": lambda parameters: PlainSboss(**parameters),
    "psrl": _psrl,
}
"""What makes the plain form of a compiled agent from its parameters."""
