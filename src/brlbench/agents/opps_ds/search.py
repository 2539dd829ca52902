"""UCB1's draws of formulas, one by one or in batches on several cores."""

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from ...builders.model import copy
from ...formulas import Formula
from ...kernels.practice import Practice
from ...kernels.types import Floats, Integers
from ..formula import instructions, uses
from ..formula import kernel as formula
from . import kernel as kernels
from .kernel import Arms

if TYPE_CHECKING:
    from . import OppsDs

_DRAWS_PER_ROUND = 500  # between two reports of progress, unless a batch is larger


def build_arms(formulas: tuple[Formula, ...], slots: dict[str, int], models: int) -> Arms:
    """An arm per formula; none has a return yet."""
    programs = [instructions(formula, slots) for formula in formulas]
    length = np.array([len(codes) for codes, _ in programs])
    codes = np.zeros((len(formulas), length.max()), np.int64)
    numbers = np.zeros(codes.shape)
    for i, (its_codes, its_numbers) in enumerate(programs):
        codes[i, : length[i]], numbers[i, : length[i]] = its_codes, its_numbers
    return Arms(
        codes=codes,
        numbers=numbers,
        length=length,
        used=np.array([uses(formula, slots, models) for formula in formulas]),
        draws=np.ones(len(formulas), np.int64),  # each is drawn once at first
        returns=np.zeros(len(formulas), np.int64),
        mean=np.zeros(len(formulas)),
        width=np.ones(len(formulas)),
    )


def ucb1(
    agent: formula.Formula, practice: Practice, arms: Arms, settings: "OppsDs", workers: int
) -> list[tuple[int, int]]:
    """Make all draws; return (draws, best arm then) at every doubling of the draws."""
    copies = [(copy(agent), copy(practice)) for _ in range(workers)]
    history: list[tuple[int, int]] = []
    done, first, batch = 0, len(arms.mean), settings.batch
    with ThreadPoolExecutor(workers) as threads:

        def draw_chosen(chosen: Integers) -> Floats:
            """The returns of the chosen arms, drawn after the first `done` draws."""
            results = np.empty(len(chosen))
            edges = np.linspace(0, len(chosen), workers + 1).astype(int)

            def draw_some(arrays: tuple[formula.Formula, Practice], a: int, b: int) -> None:
                kernels.draw(*arrays, arms, done + a, chosen[a:b], results[a:b], 0.0, False)

            run = map if workers == 1 else threads.map
            list(run(draw_some, copies, edges[:-1], edges[1:]))
            return results

        while done < settings.draws:
            begins = done < first  # every arm is drawn once
            left = (first if begins else settings.draws) - done
            number = min(left, _DRAWS_PER_ROUND if begins or batch == 1 else batch)
            chosen = np.arange(done, done + number)
            if batch == 1 and not begins:
                results = np.empty(number)
                kernels.draw(*copies[0], arms, done, chosen, results, settings.exploration, True)
            else:
                if not begins:
                    kernels.choose_all(arms, settings.exploration, done, chosen)
                kernels.learn_all(arms, chosen, draw_chosen(chosen))
            done += number
            due = 2 * history[-1][0] if history else first
            if done >= due or done == settings.draws:
                history.append((done, best_arm(arms)))
            settings.tell(done, settings.draws)
    return history


def best_arm(arms: Arms) -> int:
    """The arm drawn most often, then the one with the higher mean, then the first."""
    draws = np.where(np.isneginf(arms.mean), 0, arms.draws)
    return int(np.lexsort((-arms.mean, -draws))[0])
