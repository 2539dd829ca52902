"""OPPS-CS, offline prior-based policy search in a continuous space (Castronovo et al., 2012, 2014).

The strategies are one agent with different parameters, or one formula with different weights. They
are searched with StoSOO (see `stosoo`). An evaluation of a strategy is its mean return over some
fresh MDPs of the prior, scaled so that the smallest and the largest returns that the rewards allow
become 0 and 1.

The original library plays 500 MDPs per evaluation. The default here is 50, so that a first try is
quick. An undefined index means the same in the search as in play (see `agents.formula`). MDPs come
from an urn, and Gaussian rewards count with their means (see `opps_ds`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...errors import InvalidInput, did_you_mean
from ...mdps.dirichlet import FlatDirichlet
from ..base import CompiledAgent, Task
from ..bonus import Bonus
from ..epsilon_greedy import EpsilonGreedy
from ..formula import FormulaAgent
from ..formulas import parse
from ..parameters import Sweep, intervals, number, text, whole
from ..policy_search import PolicySearch, build_practice
from ..soft_max import SoftMax
from ..vdbe import Vdbe
from .stosoo import Settings, stosoo

Ranges = dict[str, list[float]]

AGENTS: dict[str, tuple[type[CompiledAgent], Ranges]] = {
    "epsilon-greedy": (EpsilonGreedy, {"epsilon": [0.0, 1.0]}),
    "soft-max": (SoftMax, {"tau": [0.05, 5.0]}),
    "vdbe": (
        Vdbe, {"sigma": [0.01, 10.0], "delta": [0.01, 1.0], "initial_epsilon": [0.0, 1.0]},
    ),
    "bonus": (Bonus, {"beta": [0.0, 4.0], "spread": [0.0, 1.0], "decay": [0.0, 2.0]}),
}  # fmt: skip
_WEIGHT_RANGE = [-1.0, 1.0]


def default_ranges(strategy: str) -> Ranges:
    """The parameters of a strategy with their default ranges."""
    if strategy in AGENTS:
        return AGENTS[strategy][1]
    formula = parse(strategy, weights=True)
    if not formula.features or not formula.weights:
        raise InvalidInput(
            f"opps-cs: strategy = {strategy!r}{did_you_mean(strategy, AGENTS)}: must be one of "
            f"{', '.join(AGENTS)}, or a formula with features and weights, as in w*Qmean + Qself"
        )
    return dict.fromkeys(formula.weights, _WEIGHT_RANGE)


@dataclass
class OppsCs(PolicySearch):
    """Searches the parameters of a strategy on MDPs of the prior, offline, and plays the best."""

    name: ClassVar[str] = "opps-cs"
    reference: ClassVar[str] = "Castronovo et al., 2014"
    quick: ClassVar[Mapping[str, Any]] = {"evaluations": 5, "mdps_per_evaluation": 50}
    sweeps: ClassVar[tuple[Sweep, ...]] = (
        Sweep("strategy", ("epsilon-greedy", "soft-max", "vdbe", "bonus", "w * Qmean + Qself")),
        Sweep("evaluations", (3, 10, 30, 100)),
        Sweep("mdps_per_evaluation", (2, 10, 50, 200)),
    )
    strategy: str = text(
        "epsilon-greedy", "whose parameters are searched",
        f"{', '.join(AGENTS)}, or a formula with weights", default_ranges,
    )  # fmt: skip
    ranges: Ranges | None = intervals("where to search for each parameter")  # noqa: RUF009
    evaluations: int = whole(100, "number of evaluations", least=1)
    mdps_per_evaluation: int = whole(50, "trajectories per evaluation", least=1)
    k: int | None = whole(
        None, "evaluations of a box before it is split (default: n / ln(n)^3 of n evaluations)",
        least=1, optional=True, added=True,
    )  # fmt: skip
    branching: int = whole(
        3, "parts that a box is split in; the middle one of an odd number keeps its evaluations",
        least=2, most=99, added=True,
    )  # fmt: skip
    max_depth: int | None = whole(
        None, "greatest depth of boxes that are split (default: sqrt(n / k))",
        least=1, most=200, optional=True, added=True,
    )  # fmt: skip
    delta: float | None = number(
        None, "the smaller, the wider StoSOO's confidence bounds (default: 1 / sqrt(n))",
        above=0, most=1, optional=True, added=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        known = default_ranges(self.strategy)
        for parameter in self.ranges or {}:
            if parameter not in known:
                raise InvalidInput(
                    f"opps-cs: ranges: unknown parameter {parameter!r}"
                    f"{did_you_mean(parameter, known)}: those of {self.strategy} are "
                    f"{', '.join(known)}"
                )
        for end in (0, 1):
            ends = {parameter: limits[end] for parameter, limits in self._all_ranges().items()}
            try:
                self._agent(ends)
            except InvalidInput as error:
                raise InvalidInput(f"opps-cs: ranges: {error}") from None

    def _all_ranges(self) -> Ranges:
        return default_ranges(self.strategy) | (self.ranges or {})

    def _agent(self, values: dict[str, float]) -> CompiledAgent:
        """The agent with these parameters."""
        if self.strategy in AGENTS:
            return AGENTS[self.strategy][0](**values)
        return FormulaAgent(str(parse(self.strategy, weights=True).with_weights(values)))

    def code(self) -> object:
        """This class and the strategy's."""
        return type(self), AGENTS.get(self.strategy, (FormulaAgent,))[0]

    def player(self) -> CompiledAgent:
        """The agent with the parameters found."""
        return self._agent(
            dict(zip(self._all_ranges(), self.found["values"].tolist(), strict=True))
        )

    def search(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> dict[str, Any]:
        """Run StoSOO."""
        from ..policy_search import kernel as kernels

        practice = build_practice(prior, task, rng)
        low, high = np.array(list(self._all_ranges().values())).T
        least, most = _return_bounds(prior, task)
        means: list[float] = []

        def evaluate(point: Any) -> float:
            values = (low + (high - low) * point).tolist()
            agent = self._agent(dict(zip(self._all_ranges(), values, strict=True)))
            arrays = agent.prepare(prior, task, rng)
            first = len(means) * self.mdps_per_evaluation
            means.append(kernels.mean_return(arrays, practice, first, self.mdps_per_evaluation))
            self.tell(first + self.mdps_per_evaluation, self.evaluations * self.mdps_per_evaluation)
            return (means[-1] - least) / (most - least)

        settings = Settings(self.k, self.branching, self.max_depth, self.delta)
        found = stosoo(evaluate, len(low), self.evaluations, settings)
        return {
            "parameters": ", ".join(self._all_ranges()),
            "values": low + (high - low) * found.best,
            "points": low + (high - low) * found.points,
            "means": np.array(means),
        }


def _return_bounds(prior: FlatDirichlet, task: Task) -> tuple[float, float]:
    """The smallest and the largest return that the rewards allow."""
    rewards = prior.rewards.mean.at(prior.counts)
    weight = (1 - task.discount**task.horizon) / (1 - task.discount)
    least, most = float(rewards.min()) * weight, float(rewards.max()) * weight
    return least, most if most > least else least + 1
