"""Jobs of a study that failed or were interrupted, as files."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import StoreError
from ..files import PARSED_BYTES, files_below, parse_json, read_stored
from ..results.sealed import DAMAGE
from ..schemas import Table, parse_table
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


def read_failure(path: Path) -> Failure:
    """Read a failure."""
    return read_table(path, Failure)


def is_failure(path: Path) -> bool:
    """True if a file holds a failure."""
    try:
        read_failure(path)
    except StoreError:
        return False
    return True


def failures_in(folder: Path) -> Iterator[Failure]:
    """All readable failures of studies in and below a folder, without interruptions."""
    for path in files_below(folder, "failures/*.json"):
        with suppress(StoreError):
            failure = read_failure(path)
            if not failure.is_interruption:
                yield failure


def read_table(path: Path, table: type[Table]) -> Table:
    """The content of a JSON file that a study has written."""
    data = read_stored(path, growth=PARSED_BYTES)
    try:
        return parse_table(table, parse_json(data))
    except DAMAGE:
        raise StoreError(f"{path} is damaged: run the study again to replace it") from None
