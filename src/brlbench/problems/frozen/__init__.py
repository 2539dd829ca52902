"""Frozen benchmark sets: experiments whose MDPs never change, to be named in papers.

A name is problem/prior/version. The MDPs are in a file of this folder. `storage.frozen_set` loads a
set only if its hash is the one below, so results on sets of the same name are always comparable.
"""

from pathlib import Path

from ...errors import InvalidInput, did_you_mean

HASHES = {
    "GC/accurate/v1": "f1b6b5b4b2103f713b9eeef8e51ed7a8dc8901966ca50550d6584b7fa75e579d",
    "GDL/accurate/v1": "0776e7d4a14289970b80097b03481e4518e6b998e247eff3b1a508b6c8561e6e",
    "Grid/accurate/v1": "4b3d8d71dca167b6b99b49cc5a6443fbc2451a0fcf0cab047c4c20dd288b5152",
    "GC/inaccurate/v1": "f384449655b9195b35c6353f2a6f0fc59e2282708904a20adde5e030ae702753",
    "GDL/inaccurate/v1": "8bc942cc7afaa3d7e2d10fd7ab65ead85c71cfede4e88051fb67a67c28e2dd9b",
    "Grid/inaccurate/v1": "106aa674ba0de98cf0fe2b0eb281fb02af92e5421ebdf53b43f87a85a55fc259",
}
"""Hashes of the experiments by name; all have 500 MDPs, discount 0.95 and horizon 250."""


def frozen_file(name: str) -> Path:
    """The file with the MDPs of a set."""
    if name not in HASHES:
        raise InvalidInput(
            f"there is no frozen set {name!r}{did_you_mean(name, HASHES)}: "
            f"must be one of {', '.join(HASHES)}"
        )
    return Path(__file__).parent / (name.replace("/", "-") + ".parquet")
