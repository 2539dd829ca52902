"""Answers for other programs: CSV, JSON and Parquet."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from ..storage.tables import write_table
from .answers import Answer, notes_on
from .data import ReportData
from .pairs import Pair
from .tables import agents_table, best_table, everyone_table, pairs_table
from .words import read_map, sentence


def agents_csv(answers: Sequence[Answer]) -> bytes:
    """Every agent in every experiment, as CSV."""
    return _csv(agents_table(answers))


def agents_json(data: ReportData, answers: Sequence[Answer]) -> bytes:
    """Every agent in every experiment with the answers in words, as JSON."""
    experiments = []
    for found in answers:
        rows = agents_table([found]).to_dicts() if found.experiment.summaries else []
        for row in rows:
            row["parameters"] = json.loads(row["parameters"])
        content = {
            "name": found.experiment.name,
            "hash": found.experiment.hash,
            "settings": dict(found.experiment.settings),
            "bound": found.experiment.upper_bound,
            "answer": sentence(found),
            "map": read_map(found),
            "agents": rows,
        }
        experiments.append(content)
    return _json({"notes": _notes(data, answers), "experiments": experiments})


def write_agents_parquet(path: Path, answers: Sequence[Answer], overwrite: bool = False) -> None:
    """Every agent in every experiment, as Parquet."""
    write_table(path, agents_table(answers), overwrite)


def everyone_csv(answers: Sequence[Answer]) -> bytes:
    """Every agent within the bounds of each experiment, as CSV."""
    return _csv(everyone_table(answers))


def everyone_json(data: ReportData, answers: Sequence[Answer]) -> bytes:
    """Every agent within the bounds of each experiment with the answers, as JSON."""
    return _answers_json(data, answers, agents=everyone_table)


def pairs_csv(pairs: Sequence[Pair]) -> bytes:
    """Two agents in each experiment, as CSV."""
    return _csv(pairs_table(pairs))


def pairs_json(data: ReportData, answers: Sequence[Answer], pairs: Sequence[Pair]) -> bytes:
    """Two agents in each experiment with what that means, as JSON."""
    experiments = [{"answer": str(pair), **pair.table.to_dicts()[0]} for pair in pairs]
    return _json({"notes": _notes(data, answers), "experiments": experiments})


def best_csv(answers: Sequence[Answer]) -> bytes:
    """The best agent of each algorithm in each experiment, as CSV."""
    return _csv(best_table(answers))


def best_json(data: ReportData, answers: Sequence[Answer]) -> bytes:
    """The best agent of each algorithm in each experiment with the answers, as JSON."""
    return _answers_json(data, answers, best=best_table)


def _answers_json(
    data: ReportData,
    answers: Sequence[Answer],
    **tables: Callable[[Sequence[Answer]], pl.DataFrame],
) -> bytes:
    experiments = [
        {
            "name": found.experiment.name,
            "answer": sentence(found),
            "bound": found.experiment.upper_bound,
            "winners": [summary.label for summary in found.winners],
            **{name: table([found]).to_dicts() for name, table in tables.items()},
        }
        for found in answers
    ]
    return _json({"notes": _notes(data, answers), "experiments": experiments})


def _notes(data: ReportData, answers: Sequence[Answer]) -> list[str]:
    return [note.in_full for note in notes_on(data, answers)]


def _csv(table: pl.DataFrame) -> bytes:
    """A table as CSV; a quote before a text that spreadsheets would compute as a formula."""
    texts = cs.string()
    is_formula = texts.str.contains(r"^[=+\-@\t\r]")
    safe = pl.when(is_formula).then(pl.lit("'") + texts).otherwise(texts)
    return table.with_columns(safe.name.keep()).write_csv().encode()


def _json(content: dict[str, Any]) -> bytes:
    return (json.dumps(_finite(content), indent=1, ensure_ascii=False) + "\n").encode()


def _finite(value: Any) -> Any:
    """The value with null for numbers that JSON lacks: infinities and NaN."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
