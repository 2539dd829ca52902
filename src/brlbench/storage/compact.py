"""Compact files: the summaries of many results, without single decisions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ..agents import AGENTS
from ..files import atomic_write, parse_json
from ..protocol.adjusted import Adjusted
from ..protocol.labels import label_of
from ..protocol.summary import Learning, Summary
from ..protocol.times import KNOWN_FEATURES
from .checks import (
    Rule,
    check,
    is_machine,
    is_settings,
    is_size,
    is_table,
    is_text,
    is_time,
    optional,
    reading,
)
from .results import renamed_settings, stopped_of
from .tables import pack_table, read_table

_MOST_LEARNT = 1e30  # pages show single precision


class ExperimentHeader(NamedTuple):
    """An experiment without its MDPs."""

    name: str
    hash: str
    settings: Mapping[str, Any]


def write_summaries(
    path: Path,
    experiments: Sequence[tuple[ExperimentHeader, Sequence[Summary]]],
    overwrite: bool = False,
    **metadata: Any,
) -> None:
    """Write the summaries of several experiments to one file, with more metadata if given."""
    rows: list[dict[str, Any]] = [
        {
            "experiment": index,
            "algorithm": summary.algorithm,
            "parameters": json.dumps(summary.parameters),
            "label": summary.label,
            "returns": summary.returns,
            "seconds": json.dumps(summary.seconds),
            "machine": json.dumps(summary.machine),
            "overruns": summary.overruns,
            "adjusted": np.zeros(0) if summary.adjusted is None else summary.adjusted.returns,
            "adjusted_ci95": None if summary.adjusted is None else summary.adjusted.ci95,
            "stopped": "" if summary.stopped is None else json.dumps(summary.stopped),
            "learning": [] if summary.learning is None else np.concatenate(summary.learning),
            "peak_bytes": summary.peak_bytes,
        }
        for index, (_, summaries) in enumerate(experiments)
        for summary in summaries
    ]
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0]}
    # Of empty lists alone, Polars would make a type that readers refuse.
    for name in ("adjusted", "learning"):
        columns[name] = pl.Series(map(list, columns[name]), dtype=pl.List(pl.Float64))
    columns["peak_bytes"] = pl.Series(columns["peak_bytes"], dtype=pl.Int64)
    headers = [header._asdict() for header, _ in experiments]
    packed = pack_table("compact", columns, {"experiments": headers, **metadata})
    atomic_write(path, packed, overwrite)


def read_summaries(path: Path) -> Iterator[tuple[ExperimentHeader, Summary]]:
    """Read all summaries of a file, each with its experiment."""
    table, metadata = read_table(path, "compact")
    with reading(path):
        headers = [_header(content) for content in metadata["experiments"]]
        if int(table["experiment"].min()) < 0:  # type: ignore[arg-type]
            raise ValueError("the number of an experiment is negative")
        found = [headers[index] for index in table["experiment"]]
        rows = table.iter_rows(named=True)
        summaries = [_summary(row, head) for row, head in zip(rows, found, strict=True)]
        for header, summary in zip(found, summaries, strict=True):
            missing = header.settings["num_mdps"] - len(summary.returns)
            if missing < 0 or (missing and summary.stopped is None):
                raise ValueError(f"{len(summary.returns)} returns")
    yield from zip(found, summaries, strict=True)


def _header(content: dict[str, Any]) -> ExperimentHeader:
    settings = renamed_settings(content["settings"])
    header = ExperimentHeader(content["name"], content["hash"], settings)
    check(header._asdict(), {"name": is_text, "hash": is_text, "settings": is_settings})
    return header


def _summary(row: dict[str, Any], header: ExperimentHeader) -> Summary:
    parsed = {name: parse_json(row[name]) for name in ("parameters", "seconds", "machine")}
    summary = Summary(
        algorithm=row["algorithm"],
        label=row["label"],
        returns=np.array(row["returns"], dtype=np.float64),
        overruns=row["overruns"],
        adjusted=_adjusted(row),
        deadline=header.settings.get("deadline"),
        stopped=stopped_of(parse_json(row["stopped"])) if row.get("stopped") else None,
        learning=_learning(row, header.settings["horizon"]),
        peak_bytes=row.get("peak_bytes"),
        **parsed,
    )
    check(vars(summary), _SUMMARY)
    if summary.algorithm not in AGENTS:
        return summary
    # Earlier versions stored labels with all parameters.
    label = label_of(summary.algorithm, summary.parameters, summary.deadline)
    return replace(summary, label=label)


def _adjusted(row: dict[str, Any]) -> Adjusted | None:
    """The adjusted score of a row; files of earlier versions have none."""
    ci95 = row.get("adjusted_ci95")
    if ci95 is None:
        return None
    if not is_time(ci95) or len(row["adjusted"]) != len(row["returns"]):
        raise ValueError("an adjusted score does not fit its returns")
    return Adjusted(np.array(row["adjusted"], dtype=np.float64), ci95)


def _learning(row: dict[str, Any], horizon: int) -> Learning | None:
    """The learning curve of a row; it has none if rewards were not kept, or in older files."""
    if not row.get("learning"):
        return None
    decisions, mean, ci95 = np.array(row["learning"], dtype=np.float64).reshape(3, -1)
    # Written so that NaN is refused too, except as the interval of a single MDP.
    with np.errstate(invalid="ignore"):  # of numbers that are not finite
        increase = (np.diff(decisions, prepend=0) >= 1).all() and not (decisions % 1).any()
    small = (np.abs(mean) < _MOST_LEARNT).all() and not ((ci95 < 0) | (ci95 > _MOST_LEARNT)).any()
    if not increase or not small or decisions[-1] != horizon:
        raise ValueError("a learning curve does not fit its experiment")
    return Learning(decisions.astype(np.int64), mean, ci95)


def _are_times(value: Any) -> bool:
    return value.keys() >= {"offline", *KNOWN_FEATURES} and all(map(is_time, value.values()))


_SUMMARY: dict[str, Rule] = {
    "algorithm": is_text,
    "parameters": is_table,
    "label": is_text,
    "returns": lambda returns: returns.ndim == 1 and len(returns) > 0,
    "seconds": _are_times,
    "machine": is_machine,
    "overruns": optional(is_time),
    "peak_bytes": optional(is_size),
}
