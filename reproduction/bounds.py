"""Compute upper bounds on the Bayes-optimal value of the frozen sets, and ship them.

That of GoalGrid is exact: see `goal_grid_bound`.

python -m reproduction.bounds          takes some minutes and 5 GB of memory
python -m reproduction.bounds Grid     only this one
"""

import json
import sys
from collections.abc import Sequence

import numpy as np

from brlbench.analysis.bayes_bound import BayesOptimalBound, bayes_optimal_bound, least_reward
from brlbench.analysis.bayes_bound.known import SHIPPED
from brlbench.beliefs.hypotheses import Hypotheses
from brlbench.files import atomic_write, parse_json
from brlbench.problems.frozen import HASHES
from brlbench.protocol.experiment import Experiment
from brlbench.storage import frozen_set

BELIEFS = {
    "GC": 5_000_000,
    "GDL": 500_000,
    "Grid": 2_000_000,
    "Dense": 50_000,
    "LongChain": 100_000,
    "RiverSwim": 20_000,
    "RiverSwim-20": 1_000,
    "DeepSea-6": 1_000,
    "DeepSea-10": 1_000,
    "Grid-10": 50_000,
    "Chain-tied": 30_000,
    "Chain-semi": 200_000,
    "Chain-full": 2_000_000,
    "GoalGrid": 0,
    "Bandit-5": 20_000,
    "Bandit-10": 20_000,
    "RandomMDP": None,
}
"""The number of beliefs to search; GoalGrid needs none, and of RandomMDP none can be searched."""

ALIKE = {"GC": "GC-Gaussian"}
"""Problems with the same expected rewards, so with the same bound."""


def main(names: Sequence[str] = tuple(BELIEFS)) -> None:
    """Write the file, with new bounds for the named problems."""
    bounds = parse_json(SHIPPED.read_bytes())
    for name in names:
        experiment = _experiment(name)
        test, discount = experiment.test, experiment.discount
        needs_horizon = experiment.episode is not None or least_reward(test) < 0
        horizon = experiment.horizon if needs_horizon else None
        if name == "GoalGrid":
            bound = goal_grid_bound(test, discount)
        else:
            bound = bayes_optimal_bound(
                test,
                discount,
                beliefs=BELIEFS[name],
                horizon=horizon,
                episode=experiment.episode,
            )
        entry = {"test": test.name, "discount": discount, "bound": bound._asdict()}
        lengths = {"horizon": horizon, "episode": experiment.episode}
        bounds[test.digest] = entry | {
            what: length for what, length in lengths.items() if length is not None
        }
        if name in ALIKE:
            other = _experiment(ALIKE[name]).test
            bounds[other.digest] = {**bounds[test.digest], "test": other.name}
        print(f"{name}: {bound}", flush=True)
        atomic_write(SHIPPED, json.dumps(bounds, indent=1).encode() + b"\n", overwrite=True)


def goal_grid_bound(grid: Hypotheses, discount: float) -> BayesOptimalBound:
    """The Bayes-optimal value of GoalGrid in infinitely many decisions.

    The first step never finds the goal, and each later one looks into one more cell at best. On
    grids of at least 3 by 3 cells there is a walk that always does. Once found, the goal pays in
    each step.
    """
    found = discount ** np.arange(1, len(grid) + 1)  # the discount when each goal is found
    value = float(found.mean()) / (1 - discount)
    solved = [mdp.start @ mdp.solve(discount).value for mdp in grid.mdps]
    return BayesOptimalBound(
        upper=value,
        estimate=value,
        standard_error=0.0,
        clairvoyant=float(grid.weights @ np.array(solved)),
        depth=len(grid) + 1,
        beliefs=len(grid) + 1,
        is_complete=True,
    )


def _experiment(name: str) -> Experiment:
    """The first frozen set of a problem."""
    return next(frozen_set(each) for each in HASHES if each.split("/")[0] == name)


if __name__ == "__main__":
    main(sys.argv[1:] or tuple(BELIEFS))
