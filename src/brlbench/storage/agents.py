"""Trained agents as JSON files."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from ..agents.base import Task
from ..errors import InvalidInput, StoreError
from ..files import PARSED_BYTES, atomic_write, parse_json, read_bytes
from ..memory import check_memory
from ..problems import formats
from ..protocol import machine
from ..protocol.experiment import check_horizon
from ..protocol.training import SavedAgent, Training
from .checks import (
    DAMAGE,
    Rule,
    check,
    is_number,
    is_size,
    is_table,
    is_text,
    is_time,
    optional,
    whole,
)
from .tables import FORMAT, OPEN_SEAL, check_kind, is_intact, sealed


def write_agent(path: Path, agent: SavedAgent, overwrite: bool = False) -> None:
    """Write a trained agent."""
    atomic_write(path, pack_agent(agent), overwrite)


def pack_agent(agent: SavedAgent) -> bytes:
    """A trained agent as the content of a file."""
    content = {
        "kind": "agent",
        "format": FORMAT,
        "agent": agent.agent,
        "parameters": _plain(agent.parameters),
        "prior": json.loads(formats.to_json(agent.prior)),
        "discount": agent.task.discount,
        "horizon": agent.task.horizon,
        "deadline": agent.task.deadline,
        "seed": agent.seed,
        "offline_seconds": agent.training.seconds,
        "offline_cpu_seconds": agent.training.cpu_seconds,
        "offline_peak_bytes": agent.training.peak_bytes,
        "saved": _plain(agent.saved),
        "machine": machine.describe(),
        "digest": OPEN_SEAL,
    }
    try:
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{agent.agent} can't be written to a file ({error}): its parameters and what it saves "
            "must be arrays, numbers and strings"
        ) from None
    return sealed(("{\n" + ",\n".join(lines) + "\n}\n").encode())


def read_agent(path: Path) -> SavedAgent:
    """Read a trained agent."""
    return unpack_agent(read_bytes(path, PARSED_BYTES), str(path))


def unpack_agent(data: bytes, source: str) -> SavedAgent:
    """A trained agent from the content of a file; `source` names it in errors."""
    try:
        content = parse_json(data if is_intact(data) else b"")
        check_kind(Path(source), content, "agent")
        check(content, _CONTENT)
        check_horizon(content["horizon"])
        return SavedAgent(
            agent=content["agent"],
            parameters=_arrays(content["parameters"]),
            saved=_arrays(content["saved"]),
            prior=formats.from_json(json.dumps(content["prior"])),
            task=Task(content["discount"], content["horizon"], content.get("deadline")),
            seed=content["seed"],
            training=Training(
                content["offline_seconds"],
                content["offline_cpu_seconds"],
                content.get("offline_peak_bytes"),
            ),
            source=source,
        )
    except InvalidInput as error:
        raise StoreError(f"{source} can't be used: {error}: train it again") from None
    except DAMAGE as error:
        raise StoreError(f"{source} is damaged, or not a trained agent: train it again") from error


def _plain(value: Any) -> Any:
    """Arrays as plain data that JSON can hold."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "shape": value.shape, "array": value.tolist()}
    if isinstance(value, np.generic):
        return value.item()
    return value


def _arrays(value: Any) -> Any:
    """The inverse of `_plain`."""
    if isinstance(value, dict):
        if set(value) == {"dtype", "shape", "array"}:
            return _array(value["array"], value["dtype"], value["shape"])
        return {key: _arrays(item) for key, item in value.items()}
    return [_arrays(item) for item in value] if isinstance(value, list) else value


def _array(numbers: Any, dtype: str, shape: list[int]) -> np.ndarray[Any, Any]:
    """An array of numbers, truth values or texts; the type of texts names their length."""
    kind = np.dtype(dtype if re.fullmatch(r"[a-z]+\d*|<U\d+", dtype) else "object")
    if kind.kind not in "biufU":
        raise ValueError(f"an array of type {dtype}")
    with np.errstate(all="ignore"):
        if kind.kind != "U":
            return np.array(numbers, kind).reshape(shape)
        texts = np.array(numbers, dtype=object)
        check_memory(texts.size * kind.itemsize, f"an array of type {dtype}", "save lists of texts")
        return texts.astype(kind).reshape(shape)


_CONTENT: dict[str, Rule] = {
    "agent": is_text,
    "parameters": is_table,
    "saved": optional(is_table),
    "prior": is_table,
    "discount": lambda value: is_number(value) and 0 < value < 1,
    "horizon": whole(1),
    "deadline": optional(lambda value: is_number(value) and value > 0),
    "seed": whole(0),
    "offline_seconds": is_time,
    "offline_cpu_seconds": is_time,
    "offline_peak_bytes": optional(is_size),
}
