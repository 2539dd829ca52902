"""OPPS-DS, offline prior-based policy search in a discrete space (Castronovo et al., 2012, 2014).

The strategies are the formulas of a set: F_n, or one of the user's own (see `formulas.sets`). UCB1
(Auer et al., 2002) decides which of them to try next on a fresh MDP of the prior, and the one tried
most often is played. Draw b goes to the formula with the largest
mean + exploration * sqrt(ln(b) / n), where n is the number of its draws.

Where this differs from the benchmark's paper or adds to it:

- The paper's pseudo-code has sqrt(2) in place of `exploration`, for returns between 0 and 1. The
  original library's scripts give 660, far more than returns differ on the paper's problems, so all
  formulas are drawn almost equally often. The default here, 10, was chosen by measurement.
- An MDP is not drawn as a whole: next states come from an urn (see `kernels.practice`). Where
  rewards are Gaussian, returns are summed from their means, which changes no expectation.
- A formula whose index is undefined for any action, even once, is discarded, as in the original
  library. That draw counts, unlike there, but has no return.
- Of formulas drawn equally often, the one with the higher mean is played, then the first.
- `batch` (not in the paper): the draws of a batch are chosen at once and then made on several
  cores. Each choice counts the draws chosen before it in b and n; their returns are still unknown.
  Each draw has a random stream of its own, so the result is the same on any number of cores. A
  batch of 1 is UCB1 proper.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ...arguments import num_cores
from ...errors import BrlbenchError, InvalidInput, Pointless, encodable, short
from ...formulas import FEATURES, SETS, Formula, formula_set
from ...formulas.sets import find_set, locate_set
from ...values import COUNT, NOT_NEGATIVE, text, whole
from ..base import Arrays, Family, Generator, Task, parameter
from ..formula import FormulaAgent, build_agent, build_models, instructions
from ..policy_search import PolicySearch

_NAMES = " or ".join(f'"{name}"' for name in SETS)


@dataclass
class OppsDs(PolicySearch):
    """Tries formulas on MDPs of the prior, offline, and plays the one that UCB1 finds best."""

    name = "opps-ds"
    reference = "Castronovo et al., 2012"
    needs = ("draws", "mean")
    episodes = "The trajectories of its search have episodes, as those that it plays."
    quick = {"formulas": "F2", "draws": 60}
    formulas: str = parameter(
        "F2",
        "the set of formulas",
        text(f"{_NAMES}, or a file of formulas", str),
        locate=locate_set,
    )
    draws: int = parameter(1000, "trajectories to play offline", whole(SETS["F2"]))
    exploration: float = parameter(10.0, "factor of UCB1's confidence bounds", NOT_NEGATIVE)
    batch: int = parameter(1, "draws chosen at once, for several cores", COUNT)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._user_set = None
        if self.formulas in SETS:
            self._check_draws(SETS[self.formulas])
            return
        try:
            self.formulas, self._user_set = find_set(self.formulas)
        except BrlbenchError as error:
            raise InvalidInput(
                f"opps-ds: formulas = {short(self.formulas)}: must be {_NAMES}, or a file of "
                f"formulas: {encodable(str(error))}"
            ) from None
        if self._user_set is not None:
            self._check_draws(len(self._user_set))

    def _check_draws(self, size: int) -> None:
        if self.draws < size:
            raise Pointless(
                f"opps-ds: draws = {self.draws}: must be at least {size}, one for each formula "
                f"of {self.formulas}"
            )

    def small(self) -> Self:
        """A short search, in batches, which use all compiled code."""
        return replace(super().small(), batch=2)

    def build_player(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Build the arrays that play the best formula."""
        return FormulaAgent(self.outcome["formula"]).prepare(prior, task, rng)

    def search(self, prior: Family, task: Task, rng: Generator) -> dict[str, Any]:
        """Run UCB1."""
        from ...builders.planning import build_practice
        from .search import build_arms, ucb1

        formulas = self._set()
        self._check_draws(len(formulas))
        used = {feature for formula in formulas for feature in formula.features}
        models, slots = build_models(prior, task, tuple(f for f in FEATURES if f in used))
        longest = max(formulas, key=lambda formula: len(instructions(formula, slots)[0]))
        agent = build_agent(models, slots, longest)
        arms = build_arms(formulas, slots, len(models.q))
        history = ucb1(
            agent,
            build_practice(prior, task, rng),
            arms,
            self,
            workers=num_cores() if self.batch > 1 else 1,
        )
        names = [str(formula) for formula in formulas]
        discarded = np.isneginf(arms.mean)
        return {
            "formula": names[history[-1][1]],
            "formulas": "\n".join(names),
            "draws": arms.draws,
            "means": np.where(discarded, 0.0, arms.mean),
            "discarded": discarded,
            "best_after": np.array([draws for draws, _ in history]),
            "best": np.array([arm for _, arm in history]),
        }

    def _set(self) -> tuple[Formula, ...]:
        """The formulas to search."""
        if self.formulas in SETS:
            return formula_set(self.formulas)
        if self._user_set is None:
            raise InvalidInput(
                f"formulas = {self.formulas!r}: its file is not here or has changed since: give "
                "the path of a file of formulas"
            )
        return self._user_set
