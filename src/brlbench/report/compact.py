"""Many results in one small file: what reports need of them, and no single decisions."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..storage.compact import read_compact, write_compact
from .data import Entry, ExperimentData


def write(path: Path, experiments: list[ExperimentData], overwrite: bool = False) -> None:
    """Write all agents of some experiments to one file."""
    pairs = [(index, entry) for index, e in enumerate(experiments) for entry in e.entries]
    columns = {
        "experiment": [index for index, _ in pairs],
        "algorithm": [entry.algorithm for _, entry in pairs],
        "parameters": [json.dumps(entry.parameters) for _, entry in pairs],
        "label": [entry.label for _, entry in pairs],
        "returns": [entry.returns for _, entry in pairs],
        "seconds": [json.dumps(entry.features) for _, entry in pairs],
        "machine": [json.dumps(entry.machine) for _, entry in pairs],
        "overruns": [entry.overruns for _, entry in pairs],
    }
    described = [{"name": e.name, "hash": e.hash, "settings": e.settings} for e in experiments]
    write_compact(path, columns, described, overwrite)


def read(path: Path) -> Iterator[tuple[ExperimentData, Entry]]:
    """Read all agents of a file, each with its experiment."""
    table, described = read_compact(path)
    experiments = [ExperimentData(**content, entries=[]) for content in described]
    for row in table.iter_rows(named=True):
        entry = Entry(
            row["algorithm"],
            json.loads(row["parameters"]),
            row["label"],
            np.array(row["returns"]),
            json.loads(row["seconds"]),
            json.loads(row["machine"]),
            row["overruns"],
        )
        yield experiments[row["experiment"]], entry
