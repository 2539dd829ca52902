"""Jobs of a study that failed or were interrupted, as files."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import StoreError
from ..files import PARSED_BYTES, atomic_write, files_below, parse_json, read_bytes
from ..storage.checks import DAMAGE, Rule, check, is_flag, is_text


@dataclass(frozen=True)
class Failure:
    """A failed job, or one whose processes were ended from outside, which gets a next run."""

    agent: str
    experiment: str
    reason: str
    limits: str = ""  # of the agent when it failed
    is_interruption: bool = False
    traceback: Sequence[str] = ()  # lines; empty if the agent raised nothing


_FAILURE: dict[str, Rule] = {
    **dict.fromkeys(("agent", "experiment", "reason", "limits"), is_text),
    "is_interruption": is_flag,
    "traceback": lambda value: all(map(is_text, value)),
}


def write_failure(path: Path, failure: Failure) -> None:
    """Write a failure."""
    atomic_write(path, json.dumps(asdict(failure), indent=1).encode(), overwrite=True)


def read_failure(path: Path) -> Failure:
    """Read a failure."""
    content = read_json(path)
    with replaceable(path):
        failure = Failure(**content)
        check(vars(failure), _FAILURE)
    return failure


def is_failure(path: Path) -> bool:
    """True if a file holds a failure."""
    try:
        read_failure(path)
    except StoreError:
        return False
    return True


def failures_in(folder: Path) -> Iterator[Failure]:
    """All readable failures of studies in and below a folder, without interruptions."""
    found = map(read_failure, filter(is_failure, files_below(folder, "failures/*.json")))
    return (failure for failure in found if not failure.is_interruption)


def read_json(path: Path) -> Any:
    """The content of one of a study's own files."""
    data = read_bytes(path, growth=PARSED_BYTES)
    with replaceable(path):
        return parse_json(data)


@contextmanager
def replaceable(path: Path) -> Iterator[None]:
    """Say that one of a study's own files is damaged if its content has another form."""
    try:
        yield
    except DAMAGE:
        raise StoreError(f"{path} is damaged: run the study again to replace it") from None
