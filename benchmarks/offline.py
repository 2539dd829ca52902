"""The offline phase: OPPS-DS's draws, and how long making the largest set of formulas takes.

A draw is one trajectory on an MDP of the prior. Its bound counts, per decision, one random word,
the scan of a row of counts, and the rank-one update of one model. In plain NumPy a draw is as many
decisions of a formula with one model. The bound of generating F_6 counts one sort of 1,000 numbers
per formula kept: each has to be ranked on that many points at least once.
"""

from collections.abc import Iterator

import numpy as np

import brlbench as bb
from brlbench.agents.formula import FormulaAgent
from brlbench.agents.opps_ds import OppsDs
from brlbench.formulas.generation import SETS, generate
from brlbench.protocol.training import train, warm_up

from .bounds import solving, steps
from .measure import Case, own_seconds
from .plain import plain_of

_HORIZON = 250
_SET = "F4"
_POINTS = 1000


def cases(quick: bool) -> Iterator[Case]:
    """Draws in three problems, and a set of formulas."""
    for problem in ("GC",) if quick else ("GC", "GDL", "Grid"):
        yield _draws(problem, "F2" if quick else _SET, 50 if quick else 2000)
    yield _generation(3 if quick else 6)


def _draws(problem: str, formulas: str, draws: int) -> Case:
    experiment = bb.Experiment(problem, problem, num_mdps=1, horizon=_HORIZON)
    agent = OppsDs(formulas, draws)
    walking, updating = steps(experiment.prior, _HORIZON), solving(experiment.prior, 1)
    plain = plain_of(FormulaAgent("Qmean"), experiment)
    warm_up(agent, experiment.prior, experiment.task)

    def sample() -> float:
        prior, task = experiment.prior, experiment.task
        return own_seconds(lambda: train(agent, prior, task, seed=0)) / draws * 1e6

    return Case(
        "offline",
        f"opps-ds {formulas} {problem}, a draw",
        "µs",
        sample,
        bound=lambda: walking() + _HORIZON * updating(),
        plain=lambda: _HORIZON * plain() if plain else np.nan,
        is_rate=True,
    )


def _generation(tokens: int) -> Case:
    numbers = np.random.default_rng(0).random((SETS[f"F{tokens}"], _POINTS))
    return Case(
        "offline",
        f"generating F{tokens}",
        "s",
        lambda: own_seconds(lambda: generate(tokens)),
        bound=lambda: own_seconds(lambda: np.sort(numbers, axis=1)),
        most_rounds=3,
    )
