"""Files with distributions over MDPs.

A `.toml` or `.json` file has these keys:

    format = 1
    name = "two-rooms"                # optional; without it, the file's name
    description = "Two rooms"         # optional
    num_states = 2
    num_actions = 2
    start = 0                         # optional; a state, "uniform", or a list of probabilities
    counts = [                        # [state, action, next_state, count]
      ["*", "*", "*", 1],
      [1, 0, 0, 0],
    ]
    rewards = [                       # [state, action, next_state, mean] or [..., mean, variance]
      ["*", 1, 1, 10.0],
    ]
    transitions = [                   # optional; [state, action, next_state, probability]
      ["*", "*", 0, 0.5],
      ["*", "*", 1, 0.5],
    ]

Rewards that are 1 or 0, with the mean as the probability of 1, have `binary_rewards = true`.
Unknown rewards have a prior instead of lines; its numbers are one for all, or a list per state of
numbers per action:

    rewards.prior = "normal"          # or "Bernoulli", with alpha and beta
    rewards.mean = 0.0
    rewards.precision = 1.0           # one over the variance of a pair's mean reward
    rewards.noise = 1.0               # the standard deviation of rewards about their mean

A tied prior has these instead of `counts`:

    groups = [[8, 2]]                 # per group, the counts of its outcomes
    pairs = [                         # [state, action, group, next_state of each outcome]
      [0, 0, 0, 1, 0],
      [0, 1, 0, 0, 1],
    ]

A set of hypotheses has a list of MDPs, `rewards` and `start` of its own or one for all:

    [[mdps]]                          # in JSON: "mdps": [{…}, …]
    weight = 2                        # optional; 1 without it
    transitions = [["*", "*", 0, 1.0]]

A distribution of your own has `source`, its module and name, and the digest of its draws; it is
written by the package, so that experiments can be read again.

States and actions are numbered from 0; "*" stands for all of them. Transitions not listed are 0; if
several lines name one transition, the last one counts. With `transitions`, every draw is that one
MDP, and the counts are the prior that agents are told. A `.dat` file has the original library's
format; `.dat.zz`, as that library names it, and `.dat.z` are the same, compressed.
"""

import tomllib
import zlib
from pathlib import Path
from typing import Any

from ...beliefs.base import Family
from ...errors import InvalidInput, did_you_mean, short
from ...files import PARSED_BYTES, atomic_write, decode, expanded, parse_json, read_bytes
from ...values import TEXT, check
from . import original
from .families import Kind, kind_of, values_of
from .text import as_json, as_toml

_COMPRESSED = (".dat.z", ".dat.zz")
_ORIGINAL = (".dat", *_COMPRESSED)
SUFFIXES = (".toml", ".json", *_ORIGINAL)
_FORMAT = 1


def read(path: str | Path) -> Any:
    """Read a distribution from a file; its class depends on the file."""
    path = Path(path)
    suffix = _suffix(path)
    data = read_bytes(path, PARSED_BYTES)
    if suffix in _ORIGINAL:
        return original.parse(decode(expanded(data, path), path), str(path))
    text = decode(data, path)
    try:
        document = tomllib.loads(text) if suffix == ".toml" else parse_json(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path}: not valid {suffix[1:].upper()}: {error}") from None
    try:
        return _from_document(document, _stem(path, suffix))
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None


def write(distribution: Family, path: str | Path, overwrite: bool = False) -> None:
    """Write a distribution to a file, in the format of its suffix."""
    path = Path(path)
    suffix = _suffix(path)
    try:
        text = _to_text(distribution, suffix)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None
    data = text.encode()
    atomic_write(path, zlib.compress(data) if suffix in _COMPRESSED else data, overwrite)


def to_json(distribution: Family) -> str:
    """A distribution as the text of a JSON file."""
    return _to_text(distribution, ".json")


def from_json(text: str) -> Any:
    """A distribution from the text of a JSON file."""
    try:
        document = parse_json(text)
    except ValueError as error:
        raise InvalidInput(f"not a distribution: {error}") from None
    return _from_document(document, "")


def _stem(path: Path, suffix: str) -> str:
    """The name of a file without its suffix; "?" stands for bytes that are no text."""
    return path.name.removesuffix(suffix).encode(errors="replace").decode()


def _suffix(path: Path) -> str:
    for suffix in SUFFIXES:
        if path.name.endswith(suffix):
            return suffix
    raise InvalidInput(f"{path}: the name must end in one of {', '.join(SUFFIXES)}")


def _from_document(document: Any, default_name: str) -> Family:
    kind = kind_of(document)
    _check_keys(document, kind)
    if document["format"] != _FORMAT:
        raise InvalidInput(f"format = {short(document['format'])}: must be {_FORMAT}")
    name, description = (
        check(document.get(key, default), key, TEXT)
        for key, default in (("name", default_name), ("description", ""))
    )
    family = kind.build(document)
    family.name, family.description = name, description
    return family


def _check_keys(document: Any, kind: Kind) -> None:
    required = ("format", *kind.required)
    keys = (*required, "name", "description", *kind.optional)
    if not isinstance(document, dict):
        raise InvalidInput(f"must be an object with the keys {', '.join(required)}")
    for key in document:
        if key not in keys:
            hint = did_you_mean(key, keys)
            raise InvalidInput(f"unknown key {key!r}{hint}: must be one of {', '.join(keys)}")
    for key in required:
        if key not in document:
            raise InvalidInput(f"the key {key!r} is missing: add it")


def _to_text(distribution: Family, suffix: str) -> str:
    if suffix in _ORIGINAL:
        return original.format_text(distribution)
    values = {
        "format": _FORMAT,
        "name": distribution.name,
        "description": distribution.description,
        **values_of(distribution),
    }
    return as_toml(values) if suffix == ".toml" else as_json(values) + "\n"
