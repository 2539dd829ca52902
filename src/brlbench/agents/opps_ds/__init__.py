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

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...arguments import num_cores
from ...errors import BrlbenchError, InvalidInput, Pointless, encodable, short
from ...formulas import FEATURES, SETS, Formula, formula_set
from ...formulas.sets import find_set, locate_set
from ...mdps.sparse import Integers
from ...values import COUNT, NOT_NEGATIVE, text, whole
from ..base import Arrays, FlatDirichlet, Generator, Task, parameter
from ..formula import FormulaAgent, build_agent, build_models, instructions, uses
from ..policy_search import PolicySearch

if TYPE_CHECKING:
    from ...kernels.practice import Practice
    from ..formula import kernel as formula
    from . import kernel as opps

_NAMES = " or ".join(f'"{name}"' for name in SETS)
_DRAWS_PER_ROUND = 500  # between two reports of progress, unless a batch is larger


@dataclass
class OppsDs(PolicySearch):
    """Tries formulas on MDPs of the prior, offline, and plays the one that UCB1 finds best."""

    name = "opps-ds"
    reference = "Castronovo et al., 2012"
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

    def build_player(self, prior: FlatDirichlet, task: Task, rng: Generator) -> Arrays:
        """Build the arrays that play the best formula."""
        return FormulaAgent(self.outcome["formula"]).prepare(prior, task, rng)

    def search(self, prior: FlatDirichlet, task: Task, rng: Generator) -> dict[str, Any]:
        """Run UCB1."""
        from ...builders.planning import build_practice

        formulas = self._set()
        self._check_draws(len(formulas))
        used = {feature for formula in formulas for feature in formula.features}
        models, slots = build_models(prior, task, tuple(f for f in FEATURES if f in used))
        longest = max(formulas, key=lambda formula: len(instructions(formula, slots)[0]))
        agent = build_agent(models, slots, longest)
        arms = _build_arms(formulas, slots, len(models.q))
        history = self._ucb1(agent, build_practice(prior, task, rng), arms)
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

    def _ucb1(
        self, agent: "formula.Formula", practice: "Practice", arms: "opps.Arms"
    ) -> list[tuple[int, int]]:
        """Make all draws; return (draws, best arm then) at every doubling of the draws."""
        workers = num_cores() if self.batch > 1 else 1
        with ThreadPoolExecutor(workers) as threads:
            team, done = _Team(agent, practice, arms, workers, threads), 0
            while done < len(arms.mean):
                chosen = np.arange(done, min(done + _DRAWS_PER_ROUND, len(arms.mean)))
                team.draw_and_learn(done, chosen)
                done += len(chosen)
                self.tell(done, self.draws)
            history = [(done, _best(arms))]
            while done < self.draws:
                done += self._round(team, arms, done)
                if done >= 2 * history[-1][0] or done == self.draws:
                    history.append((done, _best(arms)))
                self.tell(done, self.draws)
        return history

    def _round(self, team: "_Team", arms: "opps.Arms", done: int) -> int:
        """Make some draws after the first `done`; return their number."""
        from . import kernel as kernels

        batch = _DRAWS_PER_ROUND if self.batch == 1 else self.batch
        chosen = np.empty(min(batch, self.draws - done), np.int64)
        if self.batch == 1:
            team.draw_one_by_one(done, chosen, self.exploration)
        else:
            kernels.choose_all(arms, self.exploration, done, chosen)
            team.draw_and_learn(done, chosen)
        return len(chosen)


class _Team:
    """Threads that make draws, each with arrays of its own."""

    def __init__(
        self,
        agent: "formula.Formula",
        practice: "Practice",
        arms: "opps.Arms",
        workers: int,
        threads: ThreadPoolExecutor,
    ) -> None:
        from ...builders.model import copy

        self._arms, self._threads = arms, threads
        self._copies = [(copy(agent), copy(practice)) for _ in range(workers)]

    def draw_and_learn(self, done: int, chosen: Integers) -> None:
        """Make the chosen draws after the first `done`, then count their returns."""
        from . import kernel as kernels

        results = np.empty(len(chosen))
        edges = np.linspace(0, len(chosen), len(self._copies) + 1).astype(int)

        def draw(arrays: "tuple[formula.Formula, Practice]", a: int, b: int) -> None:
            kernels.draw(*arrays, self._arms, done + a, chosen[a:b], results[a:b], 0.0, False)

        if len(self._copies) == 1:
            draw(self._copies[0], 0, len(chosen))
        else:
            list(self._threads.map(draw, self._copies, edges[:-1], edges[1:]))
        kernels.learn_all(self._arms, chosen, results)

    def draw_one_by_one(self, done: int, chosen: Integers, exploration: float) -> None:
        """UCB1 proper after the first `done` draws: choose an arm, draw it and learn."""
        from . import kernel as kernels

        results = np.empty(len(chosen))
        kernels.draw(*self._copies[0], self._arms, done, chosen, results, exploration, True)


def _build_arms(formulas: tuple[Formula, ...], slots: dict[str, int], models: int) -> "opps.Arms":
    from . import kernel as kernels

    programs = [instructions(formula, slots) for formula in formulas]
    length = np.array([len(codes) for codes, _ in programs])
    codes = np.zeros((len(formulas), length.max()), np.int64)
    numbers = np.zeros(codes.shape)
    for i, (its_codes, its_numbers) in enumerate(programs):
        codes[i, : length[i]], numbers[i, : length[i]] = its_codes, its_numbers
    return kernels.Arms(
        codes=codes,
        numbers=numbers,
        length=length,
        used=np.array([uses(formula, slots, models) for formula in formulas]),
        draws=np.ones(len(formulas), np.int64),  # each is drawn once at first
        returns=np.zeros(len(formulas), np.int64),
        mean=np.zeros(len(formulas)),
        width=np.ones(len(formulas)),
    )


def _best(arms: "opps.Arms") -> int:
    """The arm drawn most often, then the one with the higher mean, then the first."""
    draws = np.where(np.isneginf(arms.mean), 0, arms.draws)
    return int(np.lexsort((-arms.mean, -draws))[0])
