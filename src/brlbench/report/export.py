"""Answers for other programs: CSV, JSON and Parquet."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..storage.tables import write_table
from .data import ReportData
from .tables import Answer, agents_table, best_table, notes_on
from .words import read_map, sentence


def agents_csv(answers: Sequence[Answer]) -> bytes:
    """Every agent in every experiment, as CSV."""
    return agents_table(answers).write_csv().encode()


def agents_json(data: ReportData, answers: Sequence[Answer]) -> bytes:
    """Every agent in every experiment with the answers in words, as JSON."""
    experiments = []
    for found in answers:
        rows = agents_table([found]).to_dicts() if found.experiment.entries else []
        for row in rows:
            row["parameters"] = json.loads(row["parameters"])
        content = {
            "name": found.experiment.name,
            "hash": found.experiment.hash,
            "settings": found.experiment.settings,
            "answer": sentence(found),
            "map": read_map(found),
            "agents": rows,
        }
        experiments.append(content)
    return _json({"notes": notes_on(data, answers), "experiments": experiments})


def write_agents_parquet(path: Path, answers: Sequence[Answer], overwrite: bool = False) -> None:
    """Every agent in every experiment, as Parquet."""
    write_table(path, agents_table(answers), overwrite)


def best_csv(answers: Sequence[Answer]) -> bytes:
    """The best agent of each algorithm in each experiment, as CSV."""
    return best_table(answers).write_csv().encode()


def best_json(data: ReportData, answers: Sequence[Answer]) -> bytes:
    """The best agent of each algorithm in each experiment with the answers, as JSON."""
    experiments = [
        {
            "name": found.experiment.name,
            "answer": sentence(found),
            "winners": [entry.label for entry in found.winners],
            "best": best_table([found]).to_dicts(),
        }
        for found in answers
    ]
    return _json({"notes": notes_on(data, answers), "experiments": experiments})


def _json(content: dict[str, Any]) -> bytes:
    return (json.dumps(_finite(content), indent=1, ensure_ascii=False) + "\n").encode()


def _finite(value: Any) -> Any:
    """JSON has no infinite numbers; they become null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
