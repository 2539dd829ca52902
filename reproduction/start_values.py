"""Estimate what the frozen sets' start values are on average, and ship it with the package.

python -m reproduction.start_values                      takes some minutes
python -m reproduction.start_values Grid-10/accurate/v1  only these sets
"""

import json
import sys
from collections.abc import Sequence

from brlbench.files import atomic_write, parse_json
from brlbench.problems.frozen import HASHES
from brlbench.protocol.luck import SHIPPED, estimate_start_values, start_values_key
from brlbench.storage import frozen_set

NUM_MDPS = 200_000
_KEYS = ("test_digest", "discount", "horizon", "episode")
FEWER_MDPS = 20_000  # of MDPs that take long to solve; the error is part of every interval


def main(names: Sequence[str] = tuple(HASHES)) -> None:
    """Write the file, with new values for the named sets."""
    estimated = parse_json(SHIPPED.read_bytes())
    for name in names:
        experiment = frozen_set(name)
        is_large = experiment.discount > 0.95 or experiment.test.num_transitions > 200
        values = estimate_start_values(experiment, FEWER_MDPS if is_large else NUM_MDPS)
        settings = experiment.settings()
        estimated[start_values_key(experiment)] = {
            "set": name,
            **{key: settings[key] for key in _KEYS if key in settings},
            **vars(values),
        }
        print(f"{name}: {values.mean}", flush=True)
        atomic_write(SHIPPED, json.dumps(estimated, indent=1).encode() + b"\n", overwrite=True)


if __name__ == "__main__":
    main(sys.argv[1:] or tuple(HASHES))
