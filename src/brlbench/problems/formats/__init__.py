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

States and actions are numbered from 0; "*" stands for all of them. Transitions not listed are 0; if
several lines name one transition, the last one counts. With `transitions`, every draw is that one
MDP, and the counts are the prior that agents are told. A `.dat` file has the original library's
format; `.dat.zz`, as that library names it, and `.dat.z` are the same, compressed.
"""

import json
import math
import sys
import tomllib
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidInput, did_you_mean, short
from ...files import PARSED_BYTES, atomic_write, decode, expanded, parse_json, read_bytes
from ...mdps.dirichlet import FlatDirichlet
from ...mdps.single import SingleMDP
from ...mdps.sparse import Floats, SparseTable, check_entries, check_size
from ...values import COUNT, TEXT, check
from . import original

_COMPRESSED = (".dat.z", ".dat.zz")
_ORIGINAL = (".dat", *_COMPRESSED)
SUFFIXES = (".toml", ".json", *_ORIGINAL)
_FORMAT = 1
_REQUIRED = ("format", "num_states", "num_actions", "counts", "rewards")
_OPTIONAL = ("name", "description", "start", "transitions")
_ALL = "*"


def read(path: str | Path) -> FlatDirichlet:
    """Read a distribution from a file."""
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


def write(distribution: FlatDirichlet, path: str | Path, overwrite: bool = False) -> None:
    """Write a distribution to a file, in the format of its suffix."""
    path = Path(path)
    suffix = _suffix(path)
    try:
        text = _to_text(distribution, suffix)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None
    data = text.encode()
    atomic_write(path, zlib.compress(data) if suffix in _COMPRESSED else data, overwrite)


def to_json(distribution: FlatDirichlet) -> str:
    """A distribution as the text of a JSON file."""
    return _to_text(distribution, ".json")


def from_json(text: str) -> FlatDirichlet:
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


def _from_document(document: Any, default_name: str) -> FlatDirichlet:
    _check_keys(document)
    if document["format"] != _FORMAT:
        raise InvalidInput(f"format = {short(document['format'])}: must be {_FORMAT}")
    num_states, num_actions = (check(document[k], k, COUNT) for k in ("num_states", "num_actions"))
    shape = (num_states, num_actions)
    name, description = (
        check(document.get(key, default), key, TEXT)
        for key, default in (("name", default_name), ("description", ""))
    )
    check_size(*shape)
    (counts,) = _tables(document["counts"], shape, "counts", ("count",))
    means, variances = _tables(document["rewards"], shape, "rewards", ("mean", "variance"))
    distribution = FlatDirichlet(
        counts,
        means,
        document.get("start", 0),
        variances,
        name,
        description,
    )
    if "transitions" not in document:
        return distribution
    (transitions,) = _tables(document["transitions"], shape, "transitions", ("probability",))
    return SingleMDP(transitions, distribution)


def _check_keys(document: Any) -> None:
    keys = (*_REQUIRED, *_OPTIONAL)
    if not isinstance(document, dict):
        raise InvalidInput(f"must be an object with the keys {', '.join(_REQUIRED)}")
    for key in document:
        if key not in keys:
            hint = did_you_mean(key, keys)
            raise InvalidInput(f"unknown key {key!r}{hint}: must be one of {', '.join(keys)}")
    for key in _REQUIRED:
        if key not in document:
            raise InvalidInput(f"the key {key!r} is missing: add it")


def _tables(
    lines: Any, shape: tuple[int, int], key: str, columns: tuple[str, ...]
) -> list[SparseTable]:
    """One table per column of numbers."""
    num_states, num_actions = shape
    _check_lines(lines, shape, key, columns)
    places, numbers = [np.zeros(0, dtype=np.int64)], []
    for line in lines:
        state, action, next_state = (
            np.arange(end) if index == _ALL else index
            for index, end in zip(line, (*shape, num_states), strict=False)
        )
        pair = np.add.outer(state * num_actions, action)
        places.append(np.add.outer(pair * num_states, next_state).ravel())
        numbers.append([*line[3:], 0.0, 0.0][: len(columns)])
    repeated = np.repeat(
        np.array(numbers, dtype=np.float64).reshape(-1, len(columns)),
        [len(place) for place in places[1:]],
        axis=0,
    )
    place = np.concatenate(places)
    return [SparseTable.from_places(*shape, place, values) for values in repeated.T]


def _check_lines(lines: Any, shape: tuple[int, int], key: str, columns: tuple[str, ...]) -> None:
    """Check each line, and how many entries all of them make."""
    if not isinstance(lines, list):
        raise InvalidInput(f"{key} = {short(lines)}: must be a list of lists")
    num_entries = 0
    for i, line in enumerate(lines):
        try:
            _check_line(line, shape, columns)
        except InvalidInput as error:
            raise InvalidInput(f"{key}[{i}] = {short(line)}: {error}") from None
        ends = zip(line, (*shape, shape[0]), strict=False)
        num_entries += math.prod(end for index, end in ends if index == _ALL)
    check_entries(num_entries, f"{key}: {num_entries} entries")


def _check_line(line: Any, shape: tuple[int, int], columns: tuple[str, ...]) -> None:
    names = ("state", "action", "next_state", *columns)
    if not isinstance(line, list) or not 4 <= len(line) <= len(names):
        optional = "".join(f" or [{', '.join(names)}]" for _ in columns[1:])
        raise InvalidInput(f"must be [{', '.join(names[:4])}]{optional}")
    for name, index, end in zip(names, line, (*shape, shape[0]), strict=False):
        if index == _ALL:
            continue
        if type(index) is not int:
            raise InvalidInput(f'{name} {short(index)} must be a whole number or "{_ALL}"')
        if not 0 <= index < end:
            raise InvalidInput(f"{name} {short(index)} is out of range, must be 0 to {end - 1}")
    for name, number in zip(columns, line[3:], strict=False):
        if type(number) not in (int, float) or not abs(number) <= sys.float_info.max:
            raise InvalidInput(f"{name} {short(number)} must be a finite number")
        if name != "mean" and number < 0:
            raise InvalidInput(f"{name} {short(number)} must not be negative")


def _to_text(distribution: FlatDirichlet, suffix: str) -> str:
    if suffix in _ORIGINAL:
        return original.format_text(distribution)
    state = original.start_state(distribution.start)
    values = {
        "format": _FORMAT,
        "name": distribution.name,
        "description": distribution.description,
        "num_states": distribution.num_states,
        "num_actions": distribution.num_actions,
        "start": distribution.start.tolist() if state is None else state,
    }
    # TOML and JSON write numbers, lists and texts alike, except for one character.
    texts = {key: json.dumps(value, ensure_ascii=False) for key, value in values.items()}
    texts = {key: text.replace("\x7f", "\\u007f") for key, text in texts.items()}
    texts["counts"] = _lines(distribution.counts, distribution.counts.values)
    mean, variance = distribution.rewards.mean, distribution.rewards.variance
    places = mean.union(variance)
    texts["rewards"] = _lines(places, mean.at(places), variance.at(places))
    if isinstance(distribution, SingleMDP):
        texts["transitions"] = _lines(distribution.counts, distribution.probabilities)
    if suffix == ".toml":
        return "".join(f"{key} = {text}\n" for key, text in texts.items())
    return "{\n" + ",\n".join(f'"{key}": {text}' for key, text in texts.items()) + "\n}\n"


def _lines(places: SparseTable, *columns: Floats) -> str:
    """One line per entry; a variance of zero, the fifth number, is left out."""
    states, actions = np.divmod(places.pair, places.num_actions)
    parts = (part.tolist() for part in (states, actions, places.next_state, *columns))
    lines = ([*line[:4], *filter(None, line[4:])] for line in zip(*parts, strict=True))
    return "[" + ",".join(f"\n  {line}" for line in lines) + "\n]"
