"""Frozen benchmark sets: experiments whose MDPs never change, to be named in papers.

A name is problem/prior/version. The first 500 MDPs are in a file of this folder; 4,500 others are
drawn when they are needed. `storage.frozen_set` loads a set only if its hash is the one below, so
results on sets of the same name are always comparable, on the MDPs that they have in common. The
first six sets are the paper's experiments. docs/frozen-sets.md says why there are others.
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
    "Grid-10/accurate/v1": "c3e565e0f767cfdaf3ce2558ec8cc7557fb484df667aaf190c1e1cfe06845a3b",
    "Dense/accurate/v1": "c765749d75847a1105151af5fd14826e3b83875504cfeeaf1e3e5523c790b00e",
    "GC-Gaussian/accurate/v1": "feb65afff62decdf2ba88bac665a38ec546ab50ef2115441fb71da40dade339e",
    "GC-Gaussian/inaccurate/v1": "39afc85817be0357c8c339a01f40161124c8bbba18f206f2e8d7babd9cccacf7",
    "LongChain/accurate/v1": "8873f2c73f539dde1ed373b4163f0bb11e9978b5cd6f89342e60adf456dc53e8",
    "LongChain/inaccurate/v1": "a298ed92550b3098fad374930995af146673c34aba29b39e301b4d517ee2e045",
    "RiverSwim/unlabelled/v1": "6efaadf1470b608a1f16a16bb57190b3cd577d672a93f16f00c4a8af95dd9057",
    "RiverSwim-20/unlabelled/v1": "6b3db2ea5da20259c4f1980d09c4630fb02e3137105a343594472060985f9a1d",  # noqa: E501
    "DeepSea-6/unlabelled/v1": "baf820ab7d1bf2f23d8ab8afc16b2a105fd3a40a39ee59f709b3d67139404194",
    "DeepSea-10/unlabelled/v1": "0d59d3db0850e22251dff3a07333bc009fd67222d7804935b0aca59a61095dcc",
}
"""Hashes of the sets' first 500 MDPs by name."""

FOLDER = Path(__file__).parent

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
    "Grid-10/accurate/v1": "e83bf7392f58af376f7467fb13e3f5850486adac46f1255e44aef177fa26bc93",
    "Dense/accurate/v1": "b9e298eff252e23a26fd133af38c39b9525a8570201337db132701b961e12710",
    "GC-Gaussian/accurate/v1": "5f0f326b133c2de35c1296ac0a579b44a85bc915e84d0ccf1961088b77206c05",
    "GC-Gaussian/inaccurate/v1": "cb65793a9297e5662f7d99028d0dfef5797e43e928bef224bc4fecfd896d0279",
    "LongChain/accurate/v1": "a303551c5e05155942a2d3854bd2276eca224e94b1c5813c25a2cff30de5c339",
    "LongChain/inaccurate/v1": "54fada876645fd0927977463514b23ca1c064738bea482dd29b16edc5775f1a8",
    "RiverSwim/unlabelled/v1": "f7a09d4e9864e2d69ff8dce5a03d4fff2152139b2803c97137670c013bacd58e",
    "RiverSwim-20/unlabelled/v1": "caec8a5da74653fe83338a1fcf210fca1b12074ab05514d8785976ba2ecf70b6",  # noqa: E501
    "DeepSea-6/unlabelled/v1": "857afe49f1325617303c0e1338abb70d265920919ae370e9ace7c41587d9fdec",
    "DeepSea-10/unlabelled/v1": "7c70d1af47ab2633a45e9e80e657f2d64f097b4897e40ca3e159d714a8fe101d",
}
"""Hashes of all 5,000 MDPs of the sets."""


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
