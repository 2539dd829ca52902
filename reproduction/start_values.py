"""Estimate what the frozen sets' start values are on average, and ship it with the package.

python -m reproduction.start_values     takes some minutes
"""

import json

from brlbench.files import atomic_write
from brlbench.problems.frozen import HASHES
from brlbench.protocol.luck import estimate_start_values
from brlbench.protocol.start_values import SHIPPED, key, pack
from brlbench.storage import frozen_set

NUM_MDPS = 200_000


def main() -> None:
    """Write the file."""
    estimated = {}
    for name in HASHES:
        experiment = frozen_set(name)
        estimated[key(experiment)] = {
            "set": name,
            **pack(estimate_start_values(experiment, NUM_MDPS)),
        }
        print(f"{name}: {estimated[key(experiment)]['mean']}")
    atomic_write(SHIPPED, json.dumps(estimated, indent=1).encode() + b"\n", overwrite=True)


if __name__ == "__main__":
    main()
