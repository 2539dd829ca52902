"""The original library's arithmetic: the agents of the paper's tables, as their library plays them.

brlbench solves models exactly and takes a random one of several best actions, where differences
of 1e-9 of the values' scale count as none. The original library

- iterates values from zero after every transition, to an accuracy of 1e-2 (BEB: 1e-4, in norm);
- compares them exactly, so that rounding often decides between actions that are equal on paper;
- takes a random one of exactly equal actions (BEB: the first one).

The agents here do that in short, plain code, to find out what it is worth. `tolerance` makes close
values ties, and a small `accuracy` solves models as good as exactly: what brlbench's agents do. All
play in brlbench's own loop, on the same MDPs and with the same noise as its agents.

`studies/reproduction-arithmetic.toml` plays them; `scripts/reproduce` runs it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from brlbench.agents.base import CompiledAgent, Task, new_rng
from brlbench.agents.formula import instructions
from brlbench.agents.parameters import parameter
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.formulas import parse
from brlbench.mdps.sparse import Floats
from brlbench.values import COUNT, NOT_NEGATIVE, POSITIVE, PROBABILITY, text

_TIES = "how far below the best a value still ties, relative to its scale"
_ACCURACY = "value iteration stops when values change by less"


@dataclass
class EpsilonGreedy(CompiledAgent):
    """Takes the best action of the mean MDP, or with probability epsilon a random one."""

    name: ClassVar[str] = "original epsilon-greedy"
    epsilon: float = parameter(0.1, "probability of a random action", PROBABILITY)
    accuracy: float = parameter(1e-2, _ACCURACY, POSITIVE)
    tolerance: float = parameter(0.0, _TIES, NOT_NEGATIVE)

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Make room for the model."""
        return _build_index(prior, task, "Qmean", self.epsilon, self.accuracy, self.tolerance)


@dataclass
class Formula(CompiledAgent):
    """Takes the action with the largest index, a formula of the Q-values of up to three models."""

    name: ClassVar[str] = "original formula"
    formula: str = parameter(
        "Qmean", "the index of an action", text("a formula of Qmean, Qself and Quniform", parse)
    )
    accuracy: float = parameter(1e-2, _ACCURACY, POSITIVE)
    tolerance: float = parameter(0.0, _TIES, NOT_NEGATIVE)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.formula = str(parse(self.formula))  # one text for the same agent

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Make room for the models."""
        return _build_index(prior, task, self.formula, 0.0, self.accuracy, self.tolerance)


def _build_index(
    prior: FlatDirichlet, task: Task, text: str, epsilon: float, accuracy: float, tolerance: float
) -> Any:
    """An agent that takes the highest index, with one model for each feature of the formula."""
    from . import models as kernels

    formula = parse(text)
    slots = {feature: k for k, feature in enumerate(formula.features)}
    codes, numbers = instructions(formula, slots)
    counts = np.array([_starting_counts(prior, feature) for feature in slots])
    rewards = prior.rewards.mean.to_dense()
    return kernels.Index(
        rng=new_rng(),
        models=kernels.build_models(counts, rewards, task.discount, accuracy),
        program=kernels.Program(codes=codes, numbers=numbers, stack=np.zeros(len(codes))),
        indices=np.zeros(prior.num_actions),
        epsilon=epsilon,
        tolerance=tolerance,
    )


def _starting_counts(prior: FlatDirichlet, feature: str) -> Floats:
    """The counts [S, A, S] that a feature's model starts from."""
    counts = prior.counts.to_dense()
    if feature == "Qmean":
        return counts
    if feature == "Quniform":
        return np.ones_like(counts)
    return np.broadcast_to(np.eye(prior.num_states)[:, None, :], counts.shape).copy()


@dataclass
class Beb(CompiledAgent):
    """Takes the best action of the mean MDP, with a bonus for pairs that are little known."""

    name: ClassVar[str] = "original beb"
    beta: float = parameter(1.0, "size of the bonus", NOT_NEGATIVE)
    accuracy: float = parameter(1e-4, _ACCURACY, POSITIVE)
    tolerance: float = parameter(0.0, _TIES, NOT_NEGATIVE)

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Make room for the model."""
        from . import models as kernels

        counts, rewards = prior.counts.to_dense(), prior.rewards.mean.to_dense()
        return kernels.Beb(
            rng=new_rng(),
            models=kernels.build_models(counts[None], rewards, task.discount, self.accuracy),
            beta=self.beta,
            tolerance=self.tolerance,
        )


@dataclass
class Bfs3(CompiledAgent):
    """Plans by forward search with sparse sampling over histories, guided by value bounds."""

    name: ClassVar[str] = "original bfs3"
    quick: ClassVar[Mapping[str, Any]] = {"simulations": 5, "branching": 2, "depth": 4}
    simulations: int = parameter(100, "roll-outs per action (K), shared by its branches", COUNT)
    branching: int = parameter(5, "next states drawn for each action (C)", COUNT)
    depth: int = parameter(15, "depth of the search", COUNT)
    tolerance: float = parameter(0.0, _TIES, NOT_NEGATIVE)

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Make room for one search's tree."""
        from . import bfs3 as kernels

        belief = kernels.build_belief(prior)
        rewards = prior.rewards.mean.at(prior.counts)
        value_max = float(rewards.max()) / (1 - task.discount)
        rollouts = max(1, self.simulations // self.branching)
        nodes, most = rollouts * self.depth, len(belief.weight)
        return kernels.Bfs3(
            rng=new_rng(),
            belief=belief,
            tree=kernels.build_tree(nodes, prior.num_actions, most),
            path=kernels.build_path(self.depth),
            q=np.zeros(prior.num_actions),
            gaps=np.zeros(most),
            branching=self.branching,
            rollouts=rollouts,
            discount=task.discount,
            value_min=min(0.0, float(rewards.min())) / (1 - task.discount),
            value_max=value_max,
            tolerance=self.tolerance * abs(value_max),
        )


AGENTS: dict[str, Callable[..., CompiledAgent]] = {
    "epsilon-greedy": EpsilonGreedy,
    "formula": Formula,
    "beb": Beb,
    "bfs3": Bfs3,
}
"""By the name of brlbench's own agent for the algorithm."""
