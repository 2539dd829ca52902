"""Tables for programs: every agent, and the best agent of each algorithm."""

import json
import math
from collections.abc import Iterable
from typing import Any

import polars as pl

from ..protocol.score import Score
from .answers import Answer, Test
from .pairs import Pair

_SETTINGS = (
    "num_mdps", "trajectories_per_mdp", "discount", "horizon", "seed", "prior", "test",
)  # fmt: skip
_BEST: dict[str, Any] = {
    **dict.fromkeys(("experiment", "agent", "algorithm"), pl.String),
    **dict.fromkeys(("own", "winner"), pl.Boolean),
    **dict.fromkeys(("score", "ci95", "mean_return", "mean_return_ci95"), pl.Float64),
    **dict.fromkeys(("normalised", "bound", "offline_seconds", "online_seconds"), pl.Float64),
    "peak_bytes": pl.Int64,
    **dict.fromkeys(("difference", "p_value", "p_holm", "p_permutation"), pl.Float64),
    **dict.fromkeys(("effect_size", "stability"), pl.Float64),
}

_EVERYONE: dict[str, Any] = {
    **dict.fromkeys(("experiment", "agent", "algorithm"), pl.String),
    **dict.fromkeys(("own", "winner", "best_of_algorithm"), pl.Boolean),
    **dict.fromkeys(("score", "ci95", "mean_return", "mean_return_ci95"), pl.Float64),
    **dict.fromkeys(("normalised", "bound", "offline_seconds", "online_seconds"), pl.Float64),
    "peak_bytes": pl.Int64,
    "p_value": pl.Float64,
}


def agents_table(answers: Iterable[Answer]) -> pl.DataFrame:
    """One row for every agent in every experiment."""
    rows: list[dict[str, Any]] = []
    for found in answers:
        experiment = found.experiment
        best = {row.summary.label: row.winner for row in found.rows}
        settings = {name: experiment.settings[name] for name in _SETTINGS}
        for summary in experiment.summaries:
            score, ci95 = _numbers(summary.score)
            mean_return, mean_return_ci95 = _numbers(summary.unadjusted)
            times = {f"{name}_seconds": value for name, value in summary.seconds.items()}
            rows.append(
                {
                    "experiment": experiment.name,
                    "experiment_hash": experiment.hash,
                    **settings,
                    "algorithm": summary.algorithm,
                    "agent": summary.label,
                    "parameters": json.dumps(summary.parameters, default=str),
                    "played_mdps": len(summary.returns),
                    "stopped": summary.stopped.reason if summary.stopped else None,
                    "score": score,
                    "ci95": ci95,
                    "mean_return": mean_return,
                    "mean_return_ci95": mean_return_ci95,
                    "normalised": _or_none(experiment.normalised(summary.score.mean)),
                    "bound": experiment.upper_bound,
                    **times,
                    "peak_bytes": summary.peak_bytes,
                    "own": summary.is_own,
                    "best_of_algorithm": summary.label in best,
                    "winner": best.get(summary.label, False),
                    "processor": summary.machine.get("processor"),
                }
            )
    kinds = {"peak_bytes": pl.Int64} if rows else None  # also where none is known
    return pl.DataFrame(rows, schema_overrides=kinds, infer_schema_length=None)


def best_table(answers: Iterable[Answer]) -> pl.DataFrame:
    """One row for the best agent of each algorithm in each experiment."""
    rows = [
        (
            found.experiment.name, row.summary.label, row.summary.algorithm, row.summary.is_own,
            row.winner,
            *_numbers(row.score), *_numbers(row.unadjusted or row.score), row.normalised,
            found.experiment.upper_bound,
            row.summary.seconds["offline"], row.summary.seconds[found.question.feature],
            row.summary.peak_bytes, *_tested(row.test), row.stability,
        )
        for found in answers
        for row in found.rows
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=_BEST, orient="row")


def tests_table(found: Answer) -> pl.DataFrame:
    """One row for each algorithm but the first: how much worse its best agent is."""
    columns = ("agent", "difference", "low", "high", "z", "p_value", "p_holm", "p_permutation",
               "effect_size")  # fmt: skip
    rows = [
        (row.summary.label, test.difference, *test.interval, test.z, test.p_value, test.holm,
         test.permutation, test.effect)
        for row in found.rows
        if (test := row.test) is not None
    ]  # fmt: skip
    kinds: dict[str, Any] = dict.fromkeys(columns, pl.Float64)
    return pl.DataFrame(rows, schema=kinds | {"agent": pl.String}, orient="row")


def pairs_table(pairs: Iterable[Pair]) -> pl.DataFrame:
    """One row for each experiment in which two agents are compared."""
    texts = ("experiment", "first", "second")
    numbers = ("difference", "low", "high", "z", "p_value", "p_permutation", "effect_size",
               "probability_better", "probability_low", "probability_high")  # fmt: skip
    rows = [
        (
            pair.experiment, pair.first.label, pair.second.label, pair.difference, *pair.interval,
            pair.z, pair.p_value, pair.permutation, pair.effect, pair.probability.value,
            *pair.probability.interval,
        )
        for pair in pairs
    ]  # fmt: skip
    kinds: dict[str, Any] = dict.fromkeys(texts, pl.String) | dict.fromkeys(numbers, pl.Float64)
    return pl.DataFrame(rows, schema=kinds, orient="row")


def everyone_table(answers: Iterable[Answer]) -> pl.DataFrame:
    """One row for every agent within the bounds of each experiment, the best first."""
    rows = []
    for found in answers:
        best = {row.summary.label: row.winner for row in found.rows}
        for standing, p_value in zip(found.standings, found.p_values, strict=True):
            summary = standing.summary
            rows.append((
                found.experiment.name, summary.label, summary.algorithm, summary.is_own,
                best.get(summary.label, False), summary.label in best,
                *_numbers(standing.score), *_numbers(standing.unadjusted or standing.score),
                standing.normalised, found.experiment.upper_bound, summary.seconds["offline"],
                summary.seconds[found.question.feature], summary.peak_bytes, p_value,
            ))  # fmt: skip
    return pl.DataFrame(rows, schema=_EVERYONE, orient="row")


def _tested(test: Test | None) -> tuple[float | None, ...]:
    if test is None:
        return (None,) * 5
    return test.difference, test.p_value, test.holm, test.permutation, test.effect


def _numbers(score: Score) -> tuple[float, float | None]:
    return score.mean, _or_none(score.ci95)


def _or_none(number: float | None) -> float | None:
    return None if number is None or math.isnan(number) else number
