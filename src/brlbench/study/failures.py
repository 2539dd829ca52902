"""Jobs of a study that failed or were interrupted, as files."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import StoreError
from ..files import PARSED_BYTES, atomic_write, files_below, parse_json, read_bytes
from ..results.sealed import DAMAGE
from ..schemas import parse_table
from ..values import Flag, Text


@dataclass(frozen=True)
class Failure:
    """A failed job, or one whose processes were ended from outside, which gets a next run."""

    agent: Text
    experiment: Text
    reason: Text
    limits: Text = ""  # of the agent when it failed
    is_interruption: Flag = False
    traceback: Sequence[Text] = ()  # lines; empty if the agent raised nothing


def write_failure(path: Path, failure: Failure) -> None:
    """Write a failure."""
    atomic_write(path, json.dumps(asdict(failure), indent=1).encode(), overwrite=True)


def read_failure(path: Path) -> Failure:
    """Read a failure."""
    content = read_json(path)
    with replaceable(path):
        return parse_table(Failure, content)


def is_failure(path: Path) -> bool:
    """True if a file holds a failure."""
    try:
        read_failure(path)
    except StoreError:
        return False
    return True


def failures_in(folder: Path) -> Iterator[Failure]:
    """All readable failures of studies in and below a folder, without interruptions."""
    failures = map(read_failure, filter(is_failure, files_below(folder, "failures/*.json")))
    return (failure for failure in failures if not failure.is_interruption)


def read_json(path: Path) -> Any:
    """The content of a file that a study has written."""
    data = read_bytes(path, growth=PARSED_BYTES)
    with replaceable(path):
        return parse_json(data)


@contextmanager
def replaceable(path: Path) -> Iterator[None]:
    """Raise a sentence with the remedy for malformed content of a study's file."""
    try:
        yield
    except DAMAGE:
        raise StoreError(f"{path} is damaged: run the study again to replace it") from None
