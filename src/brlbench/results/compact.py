"""Compact files: the summaries of many results, without single decisions."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import polars as pl
from pydantic import BeforeValidator, create_model

from ..errors import StoreError
from ..files import atomic_write, parse_json
from ..schemas import Schema, fits, parse_table
from ..values import Index, NotNegative, Text
from .adjusted import Adjusted
from .learning import Learning
from .result import MachineTable, Settings, Stopped
from .schema import MEASURED, SUMMARISED, TIMES
from .sealed import COLUMN_TYPES, Parse, pack_table, parse_parquet, read_table, reading
from .summary import Summary
from .times import KNOWN_FEATURES

ENTRY_SUFFIX = ".entry.parquet"

_MOST_LEARNT = 1e30  # pages show single precision
_TIMES = {name: MEASURED[name] for name in TIMES.values()}
_NUMBERS = _TIMES | SUMMARISED
_REQUIRED = [TIMES[feature] for feature in ("offline", *KNOWN_FEATURES)]
NULLABLE = {"adjusted_ci95", *_NUMBERS}
"""Columns that may have empty places."""


class ExperimentHeader(NamedTuple):
    """An experiment without its MDPs."""

    name: Text
    hash: Text
    settings: Annotated[Mapping[str, Any], fits(Settings)]


# Texts of JSON; an empty one stands for nothing.
_JSON = BeforeValidator(lambda text: parse_json(text) if text else None)
_FIELDS: dict[str, Any] = {
    "experiment": (Index, ...),
    "algorithm": (Text, ...),
    "parameters": (Annotated[dict[str, Any], _JSON], ...),
    "label": (Text, ...),
    "returns": (list[float], ...),
    "machine": (Annotated[MachineTable, _JSON], ...),
    "adjusted": (list[float], ...),
    "stopped": (Annotated[Stopped | None, _JSON], ...),
    "learning": (list[float], ...),
    "adjusted_ci95": (NotNegative | None, None),
    "is_told": (Index, 0),
    **{
        name: (each.annotation, ...) if name in _REQUIRED else (each.annotation | None, None)
        for name, each in _NUMBERS.items()
    },
}
_Row = create_model("Row", __base__=Schema, **_FIELDS)
"""A row of a file."""


def write_summaries(
    path: Path,
    experiments: Sequence[tuple[ExperimentHeader, Sequence[Summary]]],
    overwrite: bool = False,
    **metadata: Any,
) -> None:
    """Write the summaries of several experiments to one file, with more metadata if given."""
    rows = [
        _row(index, summary)
        for index, (_, summaries) in enumerate(experiments)
        for summary in summaries
    ]
    # Of empty lists or numbers alone, Polars would make a type that readers refuse.
    kinds: dict[str, Any] = {
        **dict.fromkeys(("returns", "adjusted", "learning"), pl.List(pl.Float64)),
        **{name: COLUMN_TYPES[each.summary_kind] for name, each in _NUMBERS.items()},
    }
    table = pl.DataFrame(rows, schema_overrides=kinds, infer_schema_length=None)
    headers = [header._asdict() for header, _ in experiments]
    packed = pack_table("compact", table, {"experiments": headers, **metadata})
    atomic_write(path, packed, overwrite)


def _row(index: int, summary: Summary) -> dict[str, Any]:
    adjusted, learning = summary.adjusted, summary.learning
    return {
        "experiment": index,
        "algorithm": summary.algorithm,
        "parameters": json.dumps(summary.parameters),
        "label": summary.label,
        "returns": summary.returns.tolist(),
        "machine": json.dumps(summary.machine),
        "adjusted": [] if adjusted is None else adjusted.returns.tolist(),
        "adjusted_ci95": None if adjusted is None else adjusted.ci95,
        "stopped": "" if summary.stopped is None else json.dumps(summary.stopped),
        "learning": [] if learning is None else np.concatenate(learning).tolist(),
        "is_told": int(summary.is_told),
        **{column: summary.seconds.get(feature) for feature, column in TIMES.items()},
        **{name: summary.quantities.get(name) for name in SUMMARISED},
    }


def read_summaries(
    path: Path, parse: Parse = parse_parquet
) -> list[tuple[ExperimentHeader, Summary]]:
    """Read all summaries of a file, each with its experiment."""
    table, metadata = read_table(path, "compact", nullable=NULLABLE, parse=parse)
    if "entry" in metadata and not path.name.endswith(ENTRY_SUFFIX):
        raise StoreError(f"{path} is an entry: its name must end with {ENTRY_SUFFIX}")
    with reading(path):
        headers = [
            parse_table(ExperimentHeader, {name: each[name] for name in ExperimentHeader._fields})
            for each in metadata["experiments"]
        ]
        return [_summary(parse_table(_Row, row), headers) for row in table.iter_rows(named=True)]


def _summary(row: Any, headers: Sequence[ExperimentHeader]) -> tuple[ExperimentHeader, Summary]:
    header = headers[row.experiment]
    settings = header.settings
    complete, number = settings["num_mdps"], len(row.returns)
    if not 0 < number <= complete or (number < complete and row.stopped is None):
        raise ValueError(f"{number} returns of {complete}")
    seconds = {feature: getattr(row, column) for feature, column in TIMES.items()}
    summary = Summary(
        algorithm=row.algorithm,
        parameters=row.parameters,
        label=row.label,
        returns=np.array(row.returns, dtype=np.float64),
        seconds={feature: time for feature, time in seconds.items() if time is not None},
        machine=row.machine,
        quantities={name: getattr(row, name) for name in SUMMARISED},
        adjusted=_adjusted(row),
        deadline=settings.get("deadline"),
        learning=_learning(row.learning, settings["horizon"]),
        stopped=row.stopped,
        is_told=row.is_told > 0,
    )
    return header, summary


def _adjusted(row: Any) -> Adjusted | None:
    if row.adjusted_ci95 is None:
        return None
    if len(row.adjusted) != len(row.returns):
        raise ValueError("an adjusted score does not fit its returns")
    return Adjusted(np.array(row.adjusted, dtype=np.float64), row.adjusted_ci95)


def _learning(numbers: list[float], horizon: int) -> Learning | None:
    """The learning curve of a row; None without numbers, if rewards were not kept."""
    if not numbers:
        return None
    decisions, mean, ci95 = np.array(numbers, dtype=np.float64).reshape(3, -1)
    # Written so that NaN is refused too, except as the interval of a single MDP.
    with np.errstate(invalid="ignore"):  # of numbers that are not finite
        increase = (np.diff(decisions, prepend=0) >= 1).all() and not (decisions % 1).any()
    small = (np.abs(mean) < _MOST_LEARNT).all() and not ((ci95 < 0) | (ci95 > _MOST_LEARNT)).any()
    if not increase or not small or decisions[-1] != horizon:
        raise ValueError("a learning curve does not fit its experiment")
    return Learning(decisions.astype(np.int64), mean, ci95)
