"""Answers for other programs: CSV and JSON."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl
import polars.selectors as cs

from .answers import Answer, notes_on
from .data import ReportData
from .pairs import Pair
from .tables import agents_table, best_table, everyone_table, pairs_table
from .words import read_map, sentence


def csv_of(table: pl.DataFrame) -> bytes:
    """A table as CSV; a quote before a text that spreadsheets would compute as a formula."""
    texts = cs.string()
    is_formula = texts.str.contains(r"^(\s*[=+\-@]|[\t\r\n])")
    safe = pl.when(is_formula).then(pl.lit("'") + texts).otherwise(texts)
    return table.with_columns(safe.name.keep()).write_csv().encode()


def agents_json(data: ReportData, answers: Sequence[Answer]) -> bytes:
    """Every agent in every experiment with the answers in words, as JSON."""
    experiments = (
        {
            "name": answer.experiment.name,
            "hash": answer.experiment.hash,
            "settings": dict(answer.experiment.settings),
            "bound": answer.experiment.upper_bound,
            "answer": sentence(answer),
            "map": read_map(answer),
            "agents": [
                {**row, "parameters": json.loads(row["parameters"])}
                for row in agents_table([answer]).to_dicts()
            ],
        }
        for answer in answers
    )
    return _json(data, answers, experiments)


def answers_json(data: ReportData, answers: Sequence[Answer], everyone: bool) -> bytes:
    """The best agents of each experiment, or everyone within the bounds, as JSON."""
    name, table = ("agents", everyone_table) if everyone else ("best", best_table)
    experiments = (
        {
            "name": answer.experiment.name,
            "answer": sentence(answer),
            "bound": answer.experiment.upper_bound,
            "winners": [summary.label for summary in answer.winners],
            name: table([answer]).to_dicts(),
        }
        for answer in answers
    )
    return _json(data, answers, experiments)


def pairs_json(data: ReportData, answers: Sequence[Answer], pairs: Sequence[Pair]) -> bytes:
    """Two agents in each experiment with the comparison in words, as JSON."""
    rows = zip(pairs, pairs_table(pairs).to_dicts(), strict=True)
    return _json(data, answers, ({"answer": str(pair), **row} for pair, row in rows))


def _json(
    data: ReportData, answers: Sequence[Answer], experiments: Iterable[dict[str, Any]]
) -> bytes:
    """The experiments, after the notes on them."""
    notes = [note.in_full for note in notes_on(data, answers)]
    content = _finite({"notes": notes, "experiments": list(experiments)})
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _finite(value: Any) -> Any:
    """The value with null for numbers that JSON lacks: infinities and NaN."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
