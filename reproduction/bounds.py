"""Compute upper bounds on the Bayes-optimal value of the frozen sets, and ship them.

python -m reproduction.bounds     takes some minutes and 5 GB of memory
"""

import json

from brlbench.analysis.bayes_bound import bayes_optimal_bound
from brlbench.analysis.bayes_bound.shipped import SHIPPED
from brlbench.files import atomic_write
from brlbench.problems import distribution

BELIEFS = {"GC": 2_000_000, "GDL": 500_000, "Grid": 2_000_000}
DISCOUNT = 0.95


def main() -> None:
    """Write the file."""
    bounds = {}
    for name, beliefs in BELIEFS.items():
        test = distribution(name)
        bound = bayes_optimal_bound(test, DISCOUNT, beliefs=beliefs)
        bounds[test.digest] = {"test": name, "discount": DISCOUNT, "bound": bound._asdict()}
        print(f"{name}: {bound}", flush=True)
    atomic_write(SHIPPED, json.dumps(bounds, indent=1).encode() + b"\n", overwrite=True)


if __name__ == "__main__":
    main()
