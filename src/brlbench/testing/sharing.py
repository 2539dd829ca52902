"""Finds mutable parts that two objects share."""

import enum
import logging
import pickle
import random
import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..beliefs.base import Family
from ..mdps.mdp import MDP, Rewards
from ..mdps.sparse import SparseTable

_GENERATORS = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)
_MUTABLE = (list, dict, set, deque, bytearray, np.ndarray, *_GENERATORS)
_CODE = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)
_PLAIN = (str, bytes, int, float, complex, enum.Enum, logging.Logger)
# Never changed by playing, or on purpose the same object in all copies.
_COMMON = (*_CODE, *_PLAIN, Family, MDP, Rewards, SparseTable)


def shared(one: object, other: object) -> dict[str, Any]:
    """The outermost mutable objects that both objects refer to, by path."""
    theirs = dict(_mutable_parts(other))  # held, so that no identity is used again
    ids = set(map(id, theirs.values()))
    both = {name: thing for name, thing in _mutable_parts(one) if id(thing) in ids}
    return {name: thing for name, thing in both.items() if not _is_within(name, both)}


def fingerprint(thing: object) -> bytes | None:
    """Pickled bytes, which differ once a thing has changed; None if it can't be pickled."""
    try:
        return pickle.dumps(thing)
    except Exception:
        return None


def _mutable_parts(root: object) -> Iterator[tuple[str, Any]]:
    """Mutable objects that an object refers to, at any depth, each with its path."""
    visited: dict[int, object] = {}
    waiting = deque([("self", root)])
    while waiting:
        name, thing = waiting.popleft()
        if id(thing) not in visited and not isinstance(thing, _COMMON):
            visited[id(thing)] = thing
            if _is_mutable(thing):
                yield name, thing
            waiting += _parts(name, thing)


def _is_within(name: str, others: Iterable[str]) -> bool:
    return any(name.startswith((f"{other}.", f"{other}[")) for other in others)


def _is_mutable(thing: object) -> bool:
    if isinstance(thing, np.ndarray):
        return bool(thing.flags.writeable)
    if isinstance(thing, _MUTABLE):
        return True
    # Compiled functions have attributes, too, but are the same object in all copies.
    return bool(getattr(thing, "__dict__", None)) and not callable(thing)


def _parts(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """Objects that a thing refers to directly, each with its path."""
    if isinstance(thing, dict):
        yield from ((f"{name}[{key!r}]", part) for key, part in thing.items())
    elif isinstance(thing, list | tuple | deque):
        yield from ((f"{name}[{i}]", part) for i, part in enumerate(thing))
    elif isinstance(thing, np.ndarray):
        if thing.dtype == object:
            yield from ((f"{name}[{i}]", part) for i, part in enumerate(thing.flat))
        if thing.base is not None:
            yield name, thing.base
    else:
        state = object.__getstate__(thing)  # its __dict__, or that and its slots, or None
        for attributes in state if isinstance(state, tuple) else (state,):
            yield from ((f"{name}.{key}", part) for key, part in (attributes or {}).items())
