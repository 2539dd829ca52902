"""Guez's program for BAMCP and others (acguez/bamcp) beside brlbench's agents, on his problems.

`guez.csv` has the sums of undiscounted rewards that his program printed, and those of brlbench's
agents with the same prior, discount and budget. `python -m reproduction.guez` plays the latter
again.
"""

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import brlbench as bb

FILE = Path(__file__).parent / "guez.csv"
DISCOUNT, HORIZON = 0.95, 500
_DEPTH = 89  # at which 0.95 to its power is 0.01, as in the program
# The program draws eight rows per pair; brlbench's agent draws as many before it has seen anything.
_ROWS = 8


@dataclass(frozen=True)
class Beside:
    """The mean sums of an agent in both programs, with their standard errors."""

    problem: str
    agent: str
    program_runs: int
    program_mean: float
    program_error: float
    runs: int
    mean: float
    error: float

    @property
    def z(self) -> float:
        """The difference in combined standard errors; 0 where both are exact and equal."""
        error = math.hypot(self.error, self.program_error)
        difference = self.mean - self.program_mean
        if error == 0.0 and difference != 0.0:
            return math.copysign(math.inf, difference)
        return difference / error if error else 0.0


def rows() -> list[Beside]:
    """What was played."""
    with FILE.open() as file:
        kinds = Beside.__annotations__
        return [
            Beside(**{name: kinds[name](text) for name, text in row.items()})
            for row in csv.DictReader(file)
        ]


def parameters(problem: str, agent: str) -> Mapping[str, Any]:
    """The parameters of brlbench's agent; the program's are the same but for SBOSS."""
    states = bb.distribution(problem).num_states
    variance = (1 - 1 / states) / states / 2
    return {
        "beb": {"beta": 2.0 if problem == "Loop" else 1.0},
        "sboss": {"epsilon": variance / _ROWS, "delta": 3.0},
        "bamcp": {"simulations": 100, "depth": _DEPTH, "exploration": 3.0, "rollout_epsilon": 0.5},
        "bfs3": {"simulations": 30, "branching": 3, "depth": 20},
    }[agent]


def experiment(problem: str, runs: int) -> bb.Experiment:
    """The problem, with counts of 1/S for all S next states, and rewards known per state."""
    test = bb.distribution(problem)
    states, actions = test.num_states, test.num_actions
    rewards = np.zeros((states, actions, states))
    rewards[-1] = 2.0 if problem == "Loop" else 1.0
    if problem == "Loop":
        rewards[4] = 1.0
    counts = np.full(rewards.shape, 1 / states)
    prior = bb.FlatDirichlet(counts, rewards, start=0)
    return bb.Experiment(prior, test, num_mdps=runs, discount=DISCOUNT, horizon=HORIZON, seed=0)


def play(problem: str, agent: str, runs: int) -> tuple[float, float]:
    """The mean sum of rewards of brlbench's agent, and its standard error."""
    made = bb.make_agent(agent, **parameters(problem, agent))
    result = bb.evaluate(made, experiment(problem, runs), progress=False)
    sums = result.rewards[:, 0].sum(axis=1)
    return float(sums.mean()), float(sums.std(ddof=1) / np.sqrt(runs))


def played_again() -> Iterator[Beside]:
    """All rows, with brlbench's agents played again."""
    for row in rows():
        mean, error = play(row.problem, row.agent, row.runs)
        yield Beside(**{**asdict(row), "mean": round(mean, 3), "error": round(error, 3)})


def main() -> None:
    """Play again, and write the file."""
    made = [asdict(row) for row in played_again()]
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(made[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(made)


if __name__ == "__main__":
    main()
