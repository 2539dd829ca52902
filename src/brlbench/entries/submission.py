"""An entry as it was submitted: who made it, and the results that it claims."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from ..executors.child import Child
from ..files import read_bytes
from ..protocol.experiment import Experiment
from ..report.strangers import parser_in
from ..results.compact import ExperimentHeader
from ..results.summary import Summary
from ..storage import frozen_set
from ..storage.entries import Entry, read_entry


class Claim(NamedTuple):
    """The result of one agent on one set, which the entry claims."""

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


class Submission(NamedTuple):
    """An entry and its claims."""

    entry: Entry
    digest: str  # SHA-256 of the file
    claims: list[Claim]

    @property
    def algorithms(self) -> set[str]:
        """The algorithms of all claims."""
        return {claim.summary.algorithm for claim in self.claims}


def read_submission(path: Path) -> Submission:
    """Read an entry as it is; its texts may break the rules."""
    with Child() as child:
        entry, pairs = read_entry(path, parser_in(child), strict=False)
    digest = hashlib.sha256(read_bytes(path)).hexdigest()
    return Submission(entry, digest, [Claim(*pair) for pair in pairs])
