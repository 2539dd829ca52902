"""Compact files: the summaries of many results, without single decisions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..files import atomic_write
from ..protocol.summary import Summary
from .results import renamed_settings
from .tables import pack_table, read_table


class ExperimentHeader(NamedTuple):
    """An experiment without its MDPs."""

    name: str
    hash: str
    settings: Mapping[str, Any]


def write_summaries(
    path: Path,
    experiments: Sequence[tuple[ExperimentHeader, Sequence[Summary]]],
    overwrite: bool = False,
) -> None:
    """Write the summaries of several experiments to one file."""
    rows = [
        {
            "experiment": index,
            "algorithm": summary.algorithm,
            "parameters": json.dumps(summary.parameters),
            "label": summary.label,
            "returns": summary.returns,
            "seconds": json.dumps(summary.seconds),
            "machine": json.dumps(summary.machine),
            "overruns": summary.overruns,
        }
        for index, (_, summaries) in enumerate(experiments)
        for summary in summaries
    ]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    headers = [header._asdict() for header, _ in experiments]
    atomic_write(path, pack_table("compact", columns, {"experiments": headers}), overwrite)


def read_summaries(path: Path) -> Iterator[tuple[ExperimentHeader, Summary]]:
    """Read all summaries of a file, each with its experiment."""
    table, metadata = read_table(path, "compact")
    headers = [
        ExperimentHeader(content["name"], content["hash"], renamed_settings(content["settings"]))
        for content in metadata["experiments"]
    ]
    for row in table.iter_rows(named=True):
        summary = Summary(
            algorithm=row["algorithm"],
            parameters=json.loads(row["parameters"]),
            label=row["label"],
            returns=np.array(row["returns"]),
            seconds=json.loads(row["seconds"]),
            machine=json.loads(row["machine"]),
            overruns=row["overruns"],
        )
        yield headers[row["experiment"]], summary
