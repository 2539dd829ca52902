"""Tables for programs: every agent, and the best agent of each algorithm."""

import json
import math
from collections.abc import Iterable
from typing import Any

import polars as pl

from .answers import Answer, Test

_SETTINGS = (
    "num_mdps", "trajectories_per_mdp", "discount", "horizon", "seed", "prior", "test",
)  # fmt: skip
_BEST: dict[str, Any] = {
    **dict.fromkeys(("experiment", "agent", "algorithm"), pl.String),
    "winner": pl.Boolean,
    **dict.fromkeys(
        ("score", "ci95", "normalised", "offline_seconds", "online_seconds"), pl.Float64
    ),
    **dict.fromkeys(("difference", "p_value", "p_holm", "p_permutation"), pl.Float64),
    **dict.fromkeys(("effect_size", "stability"), pl.Float64),
}


def agents_table(answers: Iterable[Answer]) -> pl.DataFrame:
    """One row for every agent in every experiment."""
    rows: list[dict[str, Any]] = []
    for found in answers:
        experiment = found.experiment
        best = {row.summary.label: row.winner for row in found.rows}
        settings = {name: experiment.settings[name] for name in _SETTINGS}
        for summary in experiment.summaries:
            score = summary.score
            times = {f"{name}_seconds": value for name, value in summary.seconds.items()}
            rows.append(
                {
                    "experiment": experiment.name,
                    "experiment_hash": experiment.hash,
                    **settings,
                    "algorithm": summary.algorithm,
                    "agent": summary.label,
                    "parameters": json.dumps(summary.parameters, default=str),
                    "score": score.mean,
                    "ci95": _or_none(score.ci95),
                    "normalised": _or_none(experiment.normalised(score.mean)),
                    **times,
                    "best_of_algorithm": summary.label in best,
                    "winner": best.get(summary.label, False),
                    "processor": summary.machine.get("processor"),
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def best_table(answers: Iterable[Answer]) -> pl.DataFrame:
    """One row for the best agent of each algorithm in each experiment."""
    rows = [
        (
            found.experiment.name, row.summary.label, row.summary.algorithm, row.winner,
            row.score.mean, _or_none(row.score.ci95), row.normalised,
            row.summary.seconds["offline"], row.summary.seconds[found.question.feature],
            *_tested(row.test), row.stability,
        )
        for found in answers
        for row in found.rows
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=_BEST, orient="row")


def _tested(test: Test | None) -> tuple[float | None, ...]:
    if test is None:
        return (None,) * 5
    return test.difference, test.p_value, test.adjusted, test.permutation, test.effect


def _or_none(number: float | None) -> float | None:
    return None if number is None or math.isnan(number) else number
