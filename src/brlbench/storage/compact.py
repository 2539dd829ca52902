"""Compact files: the summaries of many results, without single decisions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..protocol.summary import Summary
from .store import read_compact, write_compact


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
    write_compact(path, columns, headers, overwrite)


def read_summaries(path: Path) -> Iterator[tuple[ExperimentHeader, Summary]]:
    """Read all summaries of a file, each with its experiment."""
    table, experiments = read_compact(path)
    headers = [ExperimentHeader(**content) for content in experiments]
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
