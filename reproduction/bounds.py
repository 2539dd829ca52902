"""Compute upper bounds on the Bayes-optimal value of the frozen sets, and ship them.

python -m reproduction.bounds          takes some minutes and 5 GB of memory
python -m reproduction.bounds Grid     only this one
"""

import json
import sys
from collections.abc import Sequence

from brlbench.analysis.bayes_bound import bayes_optimal_bound, least_reward
from brlbench.analysis.bayes_bound.known import SHIPPED
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
}
"""How many beliefs the search of each problem looks at."""

ALIKE = {"GC": "GC-Gaussian"}
"""Problems with the same expected rewards, so with the same bound."""


def main(names: Sequence[str] = tuple(BELIEFS)) -> None:
    """Write the file, with new bounds for the named problems."""
    bounds = parse_json(SHIPPED.read_bytes())
    for name in names:
        experiment = _experiment(name)
        test, discount = experiment.test, experiment.discount
        horizon = experiment.horizon if least_reward(test) < 0 else None
        bound = bayes_optimal_bound(test, discount, beliefs=BELIEFS[name], horizon=horizon)
        entry = {"test": test.name, "discount": discount, "bound": bound._asdict()}
        bounds[test.digest] = entry if horizon is None else {**entry, "horizon": horizon}
        if name in ALIKE:
            other = _experiment(ALIKE[name]).test
            bounds[other.digest] = {**bounds[test.digest], "test": other.name}
        print(f"{name}: {bound}", flush=True)
        atomic_write(SHIPPED, json.dumps(bounds, indent=1).encode() + b"\n", overwrite=True)


def _experiment(name: str) -> Experiment:
    """The first frozen set of a problem."""
    return next(frozen_set(each) for each in HASHES if each.split("/")[0] == name)


if __name__ == "__main__":
    main(sys.argv[1:] or tuple(BELIEFS))
