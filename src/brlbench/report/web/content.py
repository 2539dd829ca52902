"""The data of pages: scores, times, and the tests of all pairs of agents that can meet.

It has no returns. An agent is left out of the tests if another of its algorithm is never slower
and always preferred: it can't be the best of its algorithm within any bounds. Learning curves are
those of the agents that are tested, where results keep single decisions.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from ...analysis.bounds import LEVEL, Comparison, contenders
from ...analysis.scores import few_mdps_warning
from ...analysis.significance import z_against
from ...mdps.sparse import Floats
from ...results.summary import Summary
from ...results.times import ONLINE
from ..answers import rows_on
from ..data import REFERENCE, ExperimentData, ReportData
from ..quantities import QUANTITIES, column_texts, numbers_of
from ..styles import styles_of
from ..words import feature_texts, format_bound

LEVELS = (0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999)
_LIMITS = [NormalDist().inv_cdf(level) for level in LEVELS]
_STEPS = 1000  # Z statistics are stored in thousandths
_FAR = 32_000  # and cut off at ±32; widths are stored in parts of the largest


def page_content(
    data: ReportData, algorithms: Sequence[str] = (), halves: Sequence[bool] = (False, True)
) -> dict[str, Any]:
    """The data of experiments, ready for `embedded_json`.

    Args:
        data: the experiments.
        algorithms: those of all pages of a site; by default those of the experiments.
        halves: the values of `honest` that the page offers.
    """
    experiments = [experiment for experiment in data.experiments if experiment.summaries]
    names = {summary.algorithm for experiment in experiments for summary in experiment.summaries}
    algorithms = algorithms or sorted(names, key=lambda name: (name == REFERENCE, name))
    cases = [_case(experiment) for experiment in experiments]
    times_used = Counter(cases)
    features = {name for each in experiments for name in _features(each)}
    return {
        "algorithms": algorithms_content(algorithms),
        "reference": algorithms.index(REFERENCE) if REFERENCE in algorithms else -1,
        "levels": LEVELS,
        "limits": _LIMITS,
        "level": LEVELS.index(LEVEL),
        "feature": ONLINE,
        "features": [_feature(name) for name in sorted(features)],
        "steps": _STEPS,
        "far": _FAR / _STEPS,
        "experiments": [
            {
                "problem": case[0],
                "accurate": experiment.accurate,
                "notes": list(map(str, data.notes_on([experiment]))),
                "case": case[1] if times_used[case] == 1 else f"{case[1]} [{experiment.hash[:6]}]",
                **_experiment(experiment, algorithms, halves),
            }
            for experiment, case in zip(experiments, cases, strict=True)
        ],
    }


def algorithms_content(algorithms: Sequence[str]) -> list[dict[str, Any]]:
    """The names and the styles of algorithms."""
    return [{"name": name, **style._asdict()} for name, style in styles_of(algorithms).items()]


def bound_content(bound: float | None) -> dict[str, Any]:
    """The bound on scores, as a number and as text; both None if it is not known."""
    return {"bound": bound, "boundText": None if bound is None else format_bound(bound)}


def learning_content(summaries: Sequence[Summary]) -> dict[str, Any]:
    """The learning curves of agents that have some, at the decisions of the first."""
    curves = [each.learning for each in summaries if each.learning is not None]
    decisions = curves[0].decisions
    shown = [curve.at(decisions) for curve in curves]
    return {
        "decisions": decisions.tolist(),
        "curves": [[np.float32(curve.mean), np.float32(curve.ci95)] for curve in shown],
    }


def _case(experiment: ExperimentData) -> tuple[str, str]:
    """The problem that was played, and the prior that the agents had."""
    prior, test = (experiment.settings[name] or "unnamed" for name in ("prior", "test"))
    return test, "accurate" if experiment.accurate else f"wrong: {prior}"


def _features(experiment: ExperimentData) -> list[str]:
    """The features of online time that are known of all agents."""
    summaries = list(experiment.summaries)
    known = set.intersection(*(set(summary.seconds) for summary in summaries)) - {"offline"}
    return [name for name in summaries[0].seconds if name in known]


def _feature(name: str) -> dict[str, Any]:
    texts = feature_texts(name)
    within, per_decision = texts.within, texts.per_decision
    return {"key": name, "title": texts.title, "within": within, "perDecision": per_decision}


def _experiment(
    experiment: ExperimentData, algorithms: Sequence[str], halves: Sequence[bool]
) -> dict[str, Any]:
    summaries = list(experiment.summaries)
    num_mdps = max(len(summary.returns) for summary in summaries)
    features = _features(experiment)
    comparisons = [Comparison(summaries, honest=honest) for honest in halves]
    ranked = [_ranked(comparison, features) for comparison in comparisons]
    quantities = [(each, numbers_of(each, summaries)) for each in QUANTITIES]
    learners = [
        i for i in sorted({i for agents in ranked for i in agents}) if summaries[i].learning
    ]
    curves = learning_content([summaries[i] for i in learners]) if learners else {}
    return {
        "name": experiment.name,
        "settings": {name: experiment.settings.get(name) for name in ("discount", "horizon")},
        "numMdps": num_mdps,
        **bound_content(experiment.upper_bound),
        "warnings": [few_mdps_warning(num_mdps), few_mdps_warning(num_mdps // 2)],
        "labels": [summary.marked_label for summary in summaries],
        "parameters": [
            [[name, str(value)] for name, value in summary.parameters.items() if value is not None]
            for summary in summaries
        ],
        "algorithms": [algorithms.index(summary.algorithm) for summary in summaries],
        "offline": quantities[0][1],
        "features": [
            {
                "key": name,
                "values": np.array([summary.seconds[name] for summary in summaries]),
                "intervals": _intervals(summaries) if name == ONLINE else None,
            }
            for name in features
        ],
        "quantities": [
            {**column_texts(quantity), "values": values}
            for quantity, values in quantities
            if not np.isnan(values).all()
        ],
        "learning": {**curves, "agents": learners} if learners else None,
        # By honest = False, True:
        "measured": [
            {
                **_scores(experiment, comparison.tested),
                "ranked": agents,
                "tests": np.fromiter(z_steps(comparison.testing[agents]), np.int16),
                **_widths(comparison.testing[agents]),
            }
            for comparison, agents in zip(comparisons, ranked, strict=True)
        ],
    }


def _intervals(summaries: Sequence[Summary]) -> list[Floats] | None:
    """The ends of the intervals of all processor times; None if none is known."""
    known = [each.processor_interval or (math.nan, math.nan) for each in summaries]
    return None if np.isnan(known).all() else list(np.array(known).T.copy())


def _scores(experiment: ExperimentData, mdps: slice) -> dict[str, Any]:
    """The scores of all agents on some of the MDPs."""
    rows = rows_on(experiment, experiment.summaries, mdps)
    scores, ci95 = np.array([row.score for row in rows]).T
    means, widths = None, None
    if rows[0].unadjusted is not None:
        means, widths = np.array([row.unadjusted or row.score for row in rows]).T
    scaled = [row.normalised for row in rows if row.normalised is not None]
    return {
        "numMdps": max(len(summary.returns[mdps]) for summary in experiment.summaries),
        "scores": scores,
        "ci95": ci95,
        "meanReturns": means,
        "meanReturnsCi95": widths,
        "normalised": np.array(scaled) if scaled else None,
    }


def _ranked(comparison: Comparison, features: list[str]) -> list[int]:
    """The agents that are the best of their algorithm within some bounds, best first."""
    summaries, order = comparison.summaries, comparison.allowed()
    algorithms = [summary.algorithm for summary in summaries]
    able: set[int] = set()
    for feature in features:
        times = [(summary.seconds["offline"], summary.seconds[feature]) for summary in summaries]
        able.update(contenders(order, algorithms, times))
    return [i for i in order if i in able]


def z_steps(returns: Floats) -> Iterator[int]:
    """The Z statistic, in steps, of every row against each row below it.

    Rounding down never takes a statistic from above a level's limit to below it, so the page finds
    the same winners as Python.
    """
    for i in range(len(returns) - 1):
        z = z_against(returns[i], returns[i + 1 :])
        steps = np.nan_to_num(np.floor(_STEPS * z), nan=_FAR).clip(-_FAR, _FAR)
        for limit in _LIMITS:
            steps[(z >= limit) & (steps < _STEPS * limit)] = np.ceil(_STEPS * limit)
        yield from steps.astype(np.int64).tolist()


def _variances(returns: Floats) -> Floats:
    """The variance of the mean difference of each pair of rows, on the MDPs that both have."""
    first, second = np.triu_indices(len(returns), 1)
    numbers = (~np.isnan(returns)).sum(axis=1)  # of each row, its first ones
    common = np.minimum(numbers[first], numbers[second])
    variances = np.zeros(len(first))
    for number in np.unique(common[common > 1]):
        covariance = np.atleast_2d(np.cov(returns[:, :number]))  # NaN for those that have fewer
        alone = np.diag(covariance)
        of_pairs = alone[first] + alone[second] - 2 * covariance[first, second]
        chosen = common == number
        variances[chosen] = of_pairs[chosen].clip(0) / number
    return variances


def _widths(returns: Floats) -> dict[str, Any]:
    """The half-widths of the 95% intervals of all differences, in the order of `z_steps`."""
    num_mdps = returns.shape[1]
    if num_mdps < 2:
        return {"widths": np.zeros(0, np.int16), "widest": 0.0}
    widths = 2 * np.sqrt(_variances(returns))
    widest = float(widths.max(initial=0.0))
    parts = np.rint(widths / (widest or 1.0) * _FAR)
    return {"widths": parts.astype(np.int16), "widest": widest / _FAR}
