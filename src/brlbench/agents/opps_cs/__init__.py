"""OPPS-CS, offline prior-based policy search in a continuous space (Castronovo et al., 2012, 2014).

The strategies are one agent with different parameters, or one formula with different weights. They
are searched with StoSOO (see `stosoo`). An evaluation of a strategy is its mean return over some
fresh MDPs of the prior, scaled so that the smallest and the largest returns that the rewards allow
become 0 and 1.

The original library plays 500 MDPs per evaluation. The default here is 50, so that a first try is
quick. An undefined index means the same in the search as in play (see `agents.formula`). MDPs come
from an urn, and Gaussian rewards count with their means (see `opps_ds`).

With `ann:` before it, an agent is not played itself: each evaluation trains a network that imitates
it (see `ann`) and plays the network, as the original library's factory of networks does. Deviation:
the network of the best parameters is trained anew once the search is over.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...beliefs.counting import CountingPrior
from ...beliefs.hypotheses import Hypotheses
from ...errors import InvalidInput, did_you_mean
from ...formulas import parse
from ...values import COUNT, INTERVALS, number, text, whole
from ..ann import Ann
from ..base import Arrays, CompiledAgent, Family, Generator, Task, parameter
from ..bonus import Bonus
from ..epsilon_greedy import EpsilonGreedy
from ..formula import FormulaAgent
from ..policy_search import PolicySearch
from ..soft_max import SoftMax
from ..vdbe import Vdbe
from .stosoo import Settings, stosoo

Ranges = dict[str, list[float]]

AGENTS: dict[str, tuple[type[CompiledAgent], Ranges]] = {
    "epsilon-greedy": (EpsilonGreedy, {"epsilon": [0.0, 1.0]}),
    "soft-max": (SoftMax, {"tau": [0.05, 5.0]}),
    "vdbe": (Vdbe, {"sigma": [0.01, 10.0], "delta": [0.01, 1.0], "initial_epsilon": [0.0, 1.0]}),
    "bonus": (Bonus, {"beta": [0.0, 4.0], "spread": [0.0, 1.0], "decay": [0.0, 2.0]}),
}
_WEIGHT_RANGE = [-1.0, 1.0]
_NETWORK = "ann:"
_LEAST_MDPS = 4  # that a network learns from


def default_ranges(strategy: str) -> Ranges:
    """The parameters of a strategy with their default ranges."""
    agent = strategy.removeprefix(_NETWORK)
    if agent in AGENTS:
        return AGENTS[agent][1]
    formula = parse(strategy, weights=True) if agent == strategy else None
    if formula is None or not formula.features or not formula.weights:
        raise InvalidInput(
            f"opps-cs: strategy = {strategy!r}{did_you_mean(strategy, AGENTS)}: must be one of "
            f"{', '.join(AGENTS)}, one of these after {_NETWORK}, or a formula with features and "
            "weights, as in w*Qmean + Qself"
        )
    return dict.fromkeys(formula.weights, _WEIGHT_RANGE)


_STRATEGY = text(
    f"{', '.join(AGENTS)}, one of these after {_NETWORK}, or a formula with weights",
    default_ranges,
)


@dataclass
class OppsCs(PolicySearch):
    """Searches the parameters of a strategy on MDPs of the prior, offline, and plays the best."""

    name = "opps-cs"
    reference = "Castronovo et al., 2014"
    needs = ("draws", "mean")
    episodes = "The trajectories of its search have episodes, as those that it plays."
    quick = {"evaluations": 5, "mdps_per_evaluation": 50}
    strategy: str = parameter("epsilon-greedy", "whose parameters are searched", _STRATEGY)
    ranges: Ranges | None = parameter(None, "where to search for each parameter", INTERVALS)  # noqa: RUF009
    evaluations: int = parameter(100, "number of evaluations", COUNT)
    mdps_per_evaluation: int = parameter(50, "trajectories per evaluation", COUNT)
    k: int | None = parameter(
        None, "evaluations of a box before it is split (default: n / ln(n)^3)", COUNT, variant=True
    )
    branching: int = parameter(
        3, "parts of a split box; a middle part keeps its evaluations", whole(2, 99), variant=True
    )
    max_depth: int | None = parameter(
        None, "greatest depth of split boxes (default: sqrt(n / k))", whole(1, 200), variant=True
    )
    delta: float | None = parameter(
        None,
        "error of StoSOO's bounds (default: 1 / sqrt(n))",
        number(above=0, most=1),
        variant=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        known = default_ranges(self.strategy)
        for name in self.ranges or {}:
            if name not in known:
                raise InvalidInput(
                    f"opps-cs: ranges: unknown parameter {name!r}{did_you_mean(name, known)}: "
                    f"those of {self.strategy} are {', '.join(known)}"
                )
        for end in (0, 1):
            try:
                self._agent([limits[end] for limits in self._all_ranges().values()])
            except InvalidInput as error:
                raise InvalidInput(f"opps-cs: ranges: {error}") from None

    def _all_ranges(self) -> Ranges:
        return default_ranges(self.strategy) | (self.ranges or {})

    def _agent(self, values: Iterable[float]) -> CompiledAgent:
        """The agent with these values of the parameters, in the order of the ranges."""
        parameters = dict(zip(self._all_ranges(), map(float, values), strict=True))
        if self.strategy.startswith(_NETWORK):
            listed = ", ".join(f"{name}={value}" for name, value in parameters.items())
            teacher = f"{self.strategy.removeprefix(_NETWORK)}({listed})"
            return Ann(teacher=teacher, mdps=max(_LEAST_MDPS, self.mdps_per_evaluation))
        if self.strategy in AGENTS:
            return AGENTS[self.strategy][0](**parameters)
        return FormulaAgent(str(parse(self.strategy, weights=True).with_weights(parameters)))

    def needed(self) -> frozenset[str]:
        """The needs of the search and of the strategy."""
        strategy = self._agent(low for low, _ in self._all_ranges().values())
        return frozenset(self.needs) | strategy.needed()

    def check_task(self, task: Task) -> None:
        """Raise if the strategy can't play in episodes."""
        self._agent(low for low, _ in self._all_ranges().values()).check_task(task)

    def code(self) -> object:
        """This class and the strategy's."""
        if self.strategy.startswith(_NETWORK):
            return type(self), Ann(teacher=self.strategy.removeprefix(_NETWORK)).code()
        return type(self), AGENTS.get(self.strategy, (FormulaAgent,))[0]

    def build_player(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Build the arrays of the agent with the best parameters."""
        player = self._agent(self.outcome["values"])
        if isinstance(player, PolicySearch):  # a network, which the search has trained
            player.load(self.outcome)
            return player.arrays
        return player.prepare(prior, task, rng)

    def search(self, prior: Family, task: Task, rng: Generator) -> dict[str, Any]:
        """Run StoSOO."""
        from ...builders.planning import build_practice
        from ...kernels.practice import mean_return

        practice = build_practice(prior, task, rng)
        low, high = np.array(list(self._all_ranges().values())).T
        least, most = _return_bounds(prior, task)
        means: list[float] = []

        def evaluate(point: Any) -> float:
            arrays = self._agent(low + (high - low) * point).prepare(prior, task, rng)
            first = len(means) * self.mdps_per_evaluation
            means.append(mean_return(arrays, practice, first, self.mdps_per_evaluation))
            self.tell(first + self.mdps_per_evaluation, self.evaluations * self.mdps_per_evaluation)
            return (means[-1] - least) / (most - least)

        settings = Settings(self.k, self.branching, self.max_depth, self.delta)
        evaluations = stosoo(evaluate, len(low), self.evaluations, settings)
        values = low + (high - low) * evaluations.best
        player = self._agent(values)
        network: dict[str, Any] = {}
        if isinstance(player, PolicySearch):
            player.prepare(prior, task, rng)
            network = player.save()
        return network | {
            "parameters": ", ".join(self._all_ranges()),
            "values": values,
            "points": low + (high - low) * evaluations.points,
            "means": np.array(means),
        }


def _return_bounds(prior: Family, task: Task) -> tuple[float, float]:
    """The smallest and the largest return that the rewards allow."""
    if isinstance(prior, CountingPrior) and prior.reward_prior is not None:
        limits = prior.reward_prior.limits
    else:
        rewards = (prior.mdps if isinstance(prior, Hypotheses) else prior.frame).reward
        limits = float(rewards.min()), float(rewards.max())
    weight = float(task.horizon)
    if task.discount < 1:
        weight = (1 - task.discount**task.horizon) / (1 - task.discount)
    least, most = limits[0] * weight, limits[1] * weight
    return least, most if most > least else least + 1
