"""Frozen benchmark sets: experiments whose MDPs never change, to be named in papers.

A name is problem/prior/version. The first 500 MDPs are in a file of this folder; 4,500 others are
drawn when they are needed. `storage.frozen_set` loads a set only if its hash is the one in
`hashes.json`, so results on sets of the same name are always comparable, on the MDPs that they have
in common. The first six sets are the paper's experiments; docs/frozen-sets.md says why there are
others.
"""

import json
from pathlib import Path

from ...errors import InvalidInput, did_you_mean

FOLDER = Path(__file__).parent
NUM_MDPS = 500
"""MDPs of a set that are stored, and played unless another number is given."""
MOST_MDPS = 5000

_HASHES: dict[str, dict[str, str]] = json.loads((FOLDER / "hashes.json").read_text())
HASHES = {name: hashes[str(NUM_MDPS)] for name, hashes in _HASHES.items()}
"""Hashes of the sets' first 500 MDPs by name."""
LARGE_HASHES = {name: hashes[str(MOST_MDPS)] for name, hashes in _HASHES.items()}
"""Hashes of all 5,000 MDPs of the sets by name."""


def frozen_file(name: str) -> Path:
    """The file with the MDPs of a set."""
    if name not in HASHES:
        raise InvalidInput(
            f"there is no frozen set {name!r}{did_you_mean(name, HASHES)}: "
            f"must be one of {', '.join(HASHES)}"
        )
    return FOLDER / file_name(name)


def file_name(name: str) -> str:
    """The name of a set's file."""
    return name.replace("/", "-") + ".parquet"
