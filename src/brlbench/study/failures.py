"""Jobs of a study that failed, as files."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import StoreError
from ..files import atomic_write, read_bytes


@dataclass(frozen=True)
class Failure:
    """A failed job."""

    agent: str
    experiment: str
    reason: str
    limits: str = ""  # of the agent when it failed


def write_failure(path: Path, failure: Failure) -> None:
    """Write a failure."""
    atomic_write(path, json.dumps(asdict(failure), indent=1).encode(), overwrite=True)


def read_failure(path: Path) -> Failure:
    """Read a failure."""
    try:
        return Failure(**read_json(path))
    except TypeError:
        raise StoreError(f"{path} is damaged: run the study again to replace it") from None


def is_failure(path: Path) -> bool:
    """True if a file holds a failure."""
    try:
        read_failure(path)
    except StoreError:
        return False
    return True


def failures_in(folder: Path) -> Iterator[Failure]:
    """All readable failures of studies in and below a folder."""
    return map(read_failure, filter(is_failure, sorted(folder.rglob("failures/*.json"))))


def read_json(path: Path) -> Any:
    """The content of one of a study's own files."""
    try:
        return json.loads(read_bytes(path))
    except ValueError:
        raise StoreError(f"{path} is damaged: run the study again to replace it") from None
