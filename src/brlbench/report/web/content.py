"""The data of pages: scores, times, and the tests of all pairs of agents that can meet.

It has no returns. An agent is left out of the tests if another of its algorithm is never slower
and always preferred: it can't be the best of its algorithm within any bounds. Learning curves are
those of the agents that are tested, where results keep single decisions.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...analysis.bounds import LEVEL, Comparison, contenders
from ...analysis.significance import student_limits
from ...mdps.sparse import Floats, Integers
from ...results.summary import Summary, is_own
from ...results.times import ONLINE
from ..answers import rows_on, warning_on
from ..data import REFERENCE, ExperimentData, ReportData
from ..quantities import QUANTITIES, column_texts, numbers_of
from ..styles import styles_of
from ..words import feature_texts, format_bound

LEVELS = (0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999)
WAYS = (True, False)  # values of `honest`
_STEPS = 1000  # Z statistics are stored in thousandths
_FAR = 32_000  # and cut off at ±32; widths are stored in parts of the largest


def page_content(
    data: ReportData, algorithms: Sequence[str] = (), ways: Sequence[bool] = WAYS
) -> dict[str, Any]:
    """The data of experiments, ready for `embedded_json`.

    Args:
        data: the experiments.
        algorithms: those of all pages of a site; by default those of the experiments.
        ways: the values of `honest` that the page offers.
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
                **_experiment(experiment, algorithms, ways),
            }
            for experiment, case in zip(experiments, cases, strict=True)
        ],
    }


def algorithms_content(algorithms: Sequence[str]) -> list[dict[str, Any]]:
    """The names and the styles of algorithms."""
    return [
        {"name": name, "isOwn": is_own(name), **style._asdict()}
        for name, style in styles_of(algorithms).items()
    ]


def bound_content(bound: float | None) -> dict[str, Any]:
    """The bound on scores, as a number and as text; both None if it is not known."""
    return {"bound": bound, "boundText": None if bound is None else format_bound(bound)}


def learning_content(summaries: Sequence[Summary], episode: int | None) -> dict[str, Any]:
    """The learning curves of agents that have some, at the decisions of the first.

    Where there are episodes, decisions are counted in these.
    """
    curves = [each.learning for each in summaries if each.learning is not None]
    decisions = curves[0].decisions
    shown = [curve.at(decisions) for curve in curves]
    return {
        "unit": "episode" if episode else "decision",
        "decisions": (decisions // (episode or 1)).tolist(),
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
    experiment: ExperimentData, algorithms: Sequence[str], ways: Sequence[bool]
) -> dict[str, Any]:
    summaries = list(experiment.summaries)
    num_mdps = max(len(summary.returns) for summary in summaries)
    features = _features(experiment)
    comparisons = [Comparison(summaries, honest=honest) for honest in ways]
    competing = [Comparison(experiment.competitors, honest=honest) for honest in ways]
    ranked = [_ranked(comparison, features) for comparison in comparisons]
    quantities = [(each, numbers_of(each, summaries)) for each in QUANTITIES]
    learners = [
        i for i in sorted({i for agents in ranked for i in agents}) if summaries[i].learning
    ]
    episode = experiment.settings.get("episode")
    curves = learning_content([summaries[i] for i in learners], episode) if learners else {}
    return {
        "name": experiment.name,
        "settings": {
            name: experiment.settings.get(name) for name in ("discount", "horizon", "episode")
        },
        "numMdps": num_mdps,
        **bound_content(experiment.upper_bound),
        "above": [i for i, each in enumerate(summaries) if experiment.is_above(each)],
        "warnings": [warning_on(each, each.within()) for each in competing],
        "labels": [summary.marked_label for summary in summaries],
        "parameters": [
            [[name, str(value)] for name, value in summary.parameters.items() if value is not None]
            for summary in summaries
        ],
        "algorithms": [algorithms.index(summary.algorithm) for summary in summaries],
        "told": [  # of others than the reference, which the reader may let compete
            i
            for i, each in enumerate(summaries)
            if each.is_reference and each.algorithm != REFERENCE
        ],
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
        # By way: honest, and as in the paper.
        "measured": [
            {
                **_scores(experiment, comparison.num_choosing),
                "ranked": agents,
                **_tests(comparison, agents),
                **_widths(comparison, agents),
            }
            for comparison, agents in zip(comparisons, ranked, strict=True)
        ],
    }


def _intervals(summaries: Sequence[Summary]) -> list[Floats] | None:
    """The ends of the intervals of all processor times; None if none is known."""
    known = [each.processor_interval or (math.nan, math.nan) for each in summaries]
    return None if np.isnan(known).all() else list(np.array(known).T.copy())


def _scores(experiment: ExperimentData, num_choosing: int) -> dict[str, Any]:
    """The scores of all agents, if the first MDPs only choose agents."""
    summaries = experiment.summaries
    rows = rows_on(experiment, summaries, num_choosing)
    scores, ci95 = np.array([row.score for row in rows]).T
    means, widths = None, None
    if any(row.unadjusted for row in rows):
        means, widths = np.array([row.unadjusted or row.score for row in rows]).T
    scaled = [row.normalised for row in rows if row.normalised is not None]
    return {
        "numMdps": max(len(each.returns[each.scored_mdps(num_choosing)]) for each in summaries),
        "scores": scores,
        "ci95": ci95,
        "meanReturns": means,
        "meanReturnsCi95": widths,
        "normalised": np.array(scaled) if scaled else None,
    }


def _ranked(comparison: Comparison, features: list[str]) -> list[int]:
    """The agents that are the best of their algorithm within some bounds, best first."""
    summaries, order = comparison.summaries, comparison.candidates()
    algorithms = [summary.algorithm for summary in summaries]
    able: set[int] = set()
    for feature in features:
        times = [(summary.seconds["offline"], summary.seconds[feature]) for summary in summaries]
        able.update(contenders(order, algorithms, times))
    return [i for i in order if i in able]


def _tests(comparison: Comparison, agents: Sequence[int]) -> dict[str, Any]:
    """The Z statistics of all pairs, and the limits that they are significant above.

    Limits depend on the number of a pair's MDPs: the page looks them up by it.
    """
    steps, numbers = z_steps(comparison, agents)
    distinct, places = np.unique(numbers, return_inverse=True)
    limits = {level: student_limits(level, distinct) for level in LEVELS}
    return {
        # Two MDPs have limits up to 318.
        "tests": steps.astype(np.int16 if np.abs(steps).max(initial=0) <= _FAR else np.float32),
        "limits": [[min(limit, _FAR) for limit in limits[level].tolist()] for level in LEVELS],
        # Of each pair: the place of its limits. Nearly always, all pairs have the same.
        "limitOf": places.astype(np.int16) if len(distinct) > 1 else None,
    }


def z_steps(comparison: Comparison, agents: Sequence[int]) -> tuple[Integers, Integers]:
    """The Z statistic, in steps, of each agent against each after it, and the pair's MDPs.

    Rounding down never takes a statistic from above a level's limit to below it, so the page finds
    the same winners as Python.
    """
    pairs = [comparison.z_against(i, agents[k + 1 :]) for k, i in enumerate(agents[:-1])]
    z = np.concatenate([np.zeros(0), *(each for each, _ in pairs)])
    numbers = np.concatenate([np.zeros(0, np.int64), *(each for _, each in pairs)])
    far = np.where(numbers == 2, 10 * _FAR, _FAR)
    steps = np.floor(_STEPS * z).clip(-far, far)
    for level in LEVELS:
        limits = student_limits(level, numbers)
        steps = np.where((z >= limits) & (steps < _STEPS * limits), np.ceil(_STEPS * limits), steps)
    return steps.clip(-far, far).astype(np.int64), numbers


def _widths(comparison: Comparison, agents: Sequence[int]) -> dict[str, Any]:
    """The half-widths of the 95% intervals of all differences, in the order of `z_steps`."""
    if comparison.num_tested < 2:
        return {"widths": np.zeros(0, np.int16), "widest": 0.0}
    blocks = (comparison.widths_against(i, agents[k + 1 :]) for k, i in enumerate(agents))
    widths = np.concatenate([np.zeros(0), *blocks])
    widest = float(widths.max(initial=0.0))
    parts = np.rint(widths / (widest or 1.0) * _FAR)
    return {"widths": parts.astype(np.int16), "widest": widest / _FAR}
