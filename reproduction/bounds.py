"""Compute upper bounds on the Bayes-optimal value of the frozen sets, and ship them.

python -m reproduction.bounds          takes some minutes and 5 GB of memory
python -m reproduction.bounds Grid     only this one
"""

import json
import sys
from collections.abc import Sequence

from brlbench.analysis.bayes_bound import bayes_optimal_bound
from brlbench.analysis.bayes_bound.shipped import SHIPPED
from brlbench.files import atomic_write, parse_json
from brlbench.problems import distribution

BELIEFS = {"GC": 5_000_000, "GDL": 500_000, "Grid": 2_000_000}
DISCOUNT = 0.95


def main(names: Sequence[str] = tuple(BELIEFS)) -> None:
    """Write the file, with new bounds for the named problems."""
    bounds = parse_json(SHIPPED.read_bytes())
    for name in names:
        test = distribution(name)
        bound = bayes_optimal_bound(test, DISCOUNT, beliefs=BELIEFS[name])
        bounds[test.digest] = {"test": name, "discount": DISCOUNT, "bound": bound._asdict()}
        print(f"{name}: {bound}", flush=True)
    atomic_write(SHIPPED, json.dumps(bounds, indent=1).encode() + b"\n", overwrite=True)


if __name__ == "__main__":
    main(sys.argv[1:] or tuple(BELIEFS))
