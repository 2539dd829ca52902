"""Tables for programs: every agent, the best agent of each algorithm, tests and pairs.

Each table selects its columns from the cells of its rows; `_KINDS` has the types of all columns.
"""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from ..results.schema import Place, shown_in
from ..results.score import Score
from .answers import Answer, Row, Test, rows_on
from .pairs import Pair

_QUANTITIES = {each.name: each.summary_kind for each in shown_in(Place.EXPORT)}
_TYPES = {int: pl.Int64, float: pl.Float64}
_KINDS: dict[str, Any] = {  # of columns; all others are numbers
    **dict.fromkeys(("experiment", "agent", "algorithm", "first", "second"), pl.String),
    **dict.fromkeys(("own", "winner", "straddles", "best_of_algorithm", "above_bound"), pl.Boolean),
    **{name: _TYPES[kind] for name, kind in _QUANTITIES.items()},
}
_AGENT = ("experiment", "agent", "algorithm", "own", "winner", "straddles")
_SETTINGS = ("num_mdps", "trajectories_per_mdp", "discount", "horizon", "seed", "prior", "test")
_SCORES = (
    *("score", "ci95", "mean_return", "mean_return_ci95"),
    *("normalised", "regret", "bound", "above_bound"),
)
_NUMBERS = (*_SCORES, "offline_seconds", "online_seconds", *_QUANTITIES)
_FIRST = ("agent", "score", "ci95", "online_seconds", "offline_seconds")
_LAST = ("regret", "p_value", "winner")  # narrow ones: Polars prints both ends of wide tables
_PROBABILITY = ("probability_better", "probability_low", "probability_high")


def agents_table(answers: Iterable[Answer]) -> pl.DataFrame:
    """One row for every agent in every experiment."""
    rows = [
        _agent_cells(answer, row)
        for answer in answers
        for row in rows_on(answer.experiment, answer.experiment.summaries)
    ]
    # The schema is also needed where no agent has a quantity.
    kinds = {name: _KINDS[name] for name in _QUANTITIES} if rows else None
    return pl.DataFrame(rows, schema_overrides=kinds, infer_schema_length=None)


def best_table(answers: Iterable[Answer]) -> pl.DataFrame:
    """One row for the best agent of each algorithm in each experiment."""
    rows = [_cells(answer, row) for answer in answers for row in answer.rows]
    tests = [name for name in Test._fields if name not in ("low", "high", "z")]
    return _table(rows, [*_AGENT, *_NUMBERS, *tests, "stability"])


def everyone_table(answers: Iterable[Answer]) -> pl.DataFrame:
    """One row for every agent within the bounds of each experiment, the best first."""
    rows = [
        {**_cells(answer, row), "p_value": row.p_value}
        for answer in answers
        for row in answer.allowed
    ]
    return _table(rows, [*_AGENT, "best_of_algorithm", *_NUMBERS, "p_value"])


def for_readers(table: pl.DataFrame) -> pl.DataFrame:
    """A table of one experiment's agents, with the columns that matter most at its ends."""
    return table.select(*_FIRST, pl.exclude(*_FIRST, *_LAST), *_LAST)


def tests_table(answer: Answer) -> pl.DataFrame:
    """One row for each algorithm but the first: how much worse its best agent is."""
    rows = [_cells(answer, row) for row in answer.rows if row.test]
    return _table(rows, ["agent", *Test._fields])


def pairs_table(pairs: Iterable[Pair]) -> pl.DataFrame:
    """One row for each experiment in which two agents are compared."""
    tests = [name for name in Test._fields if name != "p_holm"]
    columns = ["experiment", "first", "second", *tests, *_PROBABILITY]
    rows = [
        {
            "experiment": pair.experiment,
            "first": pair.first.label,
            "second": pair.second.label,
            **pair.test._asdict(),
            **dict(
                zip(_PROBABILITY, (pair.probability.value, *pair.probability.interval), strict=True)
            ),
        }
        for pair in pairs
    ]
    return _table(rows, columns)


def _table(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> pl.DataFrame:
    """The named columns of rows, which can have more cells."""
    kinds = {name: _KINDS.get(name, pl.Float64) for name in columns}
    return pl.DataFrame([[row[name] for name in columns] for row in rows], kinds, orient="row")


def _agent_cells(answer: Answer, row: Row) -> dict[str, Any]:
    """The cells of an agent with its experiment's settings and all time features."""
    cells, summary, experiment = _cells(answer, row), row.summary, answer.experiment
    return {
        "experiment": experiment.name,
        "experiment_hash": experiment.hash,
        **{name: experiment.settings[name] for name in _SETTINGS},
        **({"episode": episode} if (episode := experiment.settings.get("episode")) else {}),
        "algorithm": summary.algorithm,
        "agent": summary.label,
        "parameters": json.dumps(summary.parameters, default=str),
        "played_mdps": len(summary.returns),
        "stopped": summary.stopped.reason if summary.stopped else None,
        **{name: cells[name] for name in _SCORES},
        **{f"{name}_seconds": seconds for name, seconds in summary.seconds.items()},
        **{name: cells[name] for name in (*_QUANTITIES, "own", "best_of_algorithm", "winner")},
        "processor": summary.machine.get("processor"),
    }


def _cells(answer: Answer, row: Row) -> dict[str, Any]:
    """The cells of an agent; tests are those of the best of its algorithm."""
    summary = row.summary
    best = {each.summary.label: each.winner for each in answer.rows}
    score, ci95 = _numbers(row.score)
    mean_return, mean_return_ci95 = _numbers(row.unadjusted or row.score)
    return {
        "experiment": answer.experiment.name,
        "agent": summary.label,
        "algorithm": summary.algorithm,
        "own": summary.is_own,
        "winner": best.get(summary.label, False),
        "straddles": answer.question.straddles(summary),
        "best_of_algorithm": summary.label in best,
        "score": score,
        "ci95": ci95,
        "mean_return": mean_return,
        "mean_return_ci95": mean_return_ci95,
        "normalised": row.normalised,
        "regret": row.regret,
        "bound": answer.experiment.upper_bound,
        "above_bound": answer.experiment.is_above(summary),
        "offline_seconds": summary.seconds["offline"],
        "online_seconds": summary.seconds[answer.question.feature],
        **{name: summary.quantities.get(name) for name in _QUANTITIES},
        **(row.test._asdict() if row.test else dict.fromkeys(Test._fields)),
        "stability": row.stability,
    }


def _numbers(score: Score) -> tuple[float, float | None]:
    return score.mean, None if math.isnan(score.ci95) else score.ci95
