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
from ..results.sealed import DAMAGE, FORMAT, OPEN_SEAL, check_kind, is_intact, sealed
from ..schemas import Schema, parse_table
from ..values import Bytes, Count, Discount, Index, Positive, Seconds, Text


class _Content(Schema):
    """The content of an agent's file, besides its kind, its machine and its seal."""

    agent: Text
    parameters: dict[str, Any]
    saved: dict[str, Any] | None
    prior: dict[str, Any]
    discount: Discount
    horizon: Count
    deadline: Positive | None
    episode: Count | None = None
    seed: Index
    offline_seconds: Seconds
    offline_cpu_seconds: Seconds
    offline_peak_bytes: Bytes | None


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
        **({} if agent.task.episode is None else {"episode": agent.task.episode}),
        "seed": agent.seed,
        **{f"offline_{name}": number for name, number in agent.training._asdict().items()},
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
        document = parse_json(data if is_intact(data) else b"")
        check_kind(Path(source), document, "agent")
        content = parse_table(_Content, document)
        check_horizon(content.horizon)
        return SavedAgent(
            agent=content.agent,
            parameters=_arrays(content.parameters),
            saved=_arrays(content.saved),
            prior=formats.from_json(json.dumps(content.prior)),
            task=Task(content.discount, content.horizon, content.deadline, content.episode),
            seed=content.seed,
            training=Training(
                content.offline_seconds, content.offline_cpu_seconds, content.offline_peak_bytes
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
