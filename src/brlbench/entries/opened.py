"""An entry that was opened, to be looked at."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..errors import InvalidInput
from ..protocol.experiment import Experiment
from ..protocol.summary import Summary
from ..storage import frozen_set
from ..storage.compact import ExperimentHeader, read_summaries
from ..storage.entries import Entry, read_entry
from ..testing.rules import BROKEN, KEPT, Finding


class Played(NamedTuple):
    """One agent on one set."""

    header: ExperimentHeader
    summary: Summary

    @property
    def set_name(self) -> str:
        """The name of the set, as the entry says."""
        return str(self.header.settings.get("origin"))

    @property
    def experiment(self) -> Experiment:
        """The set itself, as this version has it."""
        return frozen_set(self.set_name, self.header.settings["num_mdps"])

    def __str__(self) -> str:
        return f"{self.summary.label} on {self.set_name}"


class Opened(NamedTuple):
    """An entry and its results."""

    entry: Entry
    results: list[Played]


def open_entry(path: Path) -> Opened:
    """Read an entry as it is; its texts may break the rules."""
    entry = read_entry(path, strict=False)
    if entry is None:
        raise InvalidInput(f"{path} is a compact file and no entry: make one with entry new")
    return Opened(entry, [Played(*each) for each in read_summaries(path)])


def judged(problems: Iterable[str], kept: str, remedy: str) -> Finding:
    """What was found: the first problem, or that there is none."""
    found = list(problems)
    if not found:
        return Finding(KEPT, kept)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return Finding(BROKEN, found[0] + more, remedy)
