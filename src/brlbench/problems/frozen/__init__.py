"""Frozen benchmark sets: experiments whose MDPs never change, to be named in papers.

A name is problem/prior/version. The first 500 MDPs are in a file of this folder; 4,500 others are
drawn when they are needed. `storage.frozen_set` loads a set only if its hash is the one below, so
results on sets of the same name are always comparable, on the MDPs that they have in common.
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
"""Hashes of the sets' first 500 MDPs by name; all have discount 0.95 and horizon 250."""

NUM_MDPS = 500
"""How many MDPs of a set are stored, and played unless another number is given."""

MOST_MDPS = 5000

LARGE_HASHES = {
    "GC/accurate/v1": "54c69b3bf2d27cbcd43ebd76c84746a45ad76df76e8b545d83cc1db4c84c368c",
    "GDL/accurate/v1": "df06e7c91793619c77b8172f0cacb85d6da62c564f0dbe755a2c0f060d914cb0",
    "Grid/accurate/v1": "65e6b533de50cdc766aff2e2bd15120d5a86976cf23d08354aeed5e2d7cc1087",
    "GC/inaccurate/v1": "e9aa41033dbd32407a3398dff1be297a91b14a7eb9544604eb28fa008a3b4bcb",
    "GDL/inaccurate/v1": "1c37d59bb3e83c346a61b895ed12346ce74777c8da3cd5f88f9c156c24aa5f4c",
    "Grid/inaccurate/v1": "9c023435af60658edfbc0307c572132e2d7395afcfde663a73c20db5c1c6e98e",
}
"""Hashes of all 5,000 MDPs of the sets."""


def frozen_file(name: str) -> Path:
    """The file with the MDPs of a set."""
    if name not in HASHES:
        raise InvalidInput(
            f"there is no frozen set {name!r}{did_you_mean(name, HASHES)}: "
            f"must be one of {', '.join(HASHES)}"
        )
    return Path(__file__).parent / (name.replace("/", "-") + ".parquet")
