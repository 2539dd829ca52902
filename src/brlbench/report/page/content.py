"""What the page holds: scores, times, and the tests of all pairs of agents that can meet.

It holds no returns. An agent is left out of the tests if another of its algorithm is never slower
and always preferred: it can't be the best of its algorithm within any bounds. Learning curves are
those of the agents that are tested, where results keep single decisions.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ...analysis.bounds import LEVEL, Comparison, contenders
from ...analysis.scores import few_mdps_warning
from ...analysis.significance import z_against
from ...analysis.times import ONLINE
from ...mdps.sparse import Floats
from ...protocol.score import Score
from ...protocol.summary import Summary
from ..answers import standings_on
from ..data import REFERENCE, ExperimentData, ReportData
from ..looks import looks_of
from ..words import format_bound
from .packing import Numbers

LEVELS = (0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999)
_LIMITS = [NormalDist().inv_cdf(level) for level in LEVELS]
_STEPS = 1000  # Z statistics are stored in thousandths
_FAR = 32_000  # and cut off at ±32; widths are stored in parts of the largest


class Packed(NamedTuple):
    """The numbers that the page's JSON refers to."""

    numbers: Numbers
    tests: Numbers
    curves: Numbers

    @classmethod
    def empty(cls) -> "Packed":
        """No numbers yet."""
        return cls(Numbers("<f8"), Numbers("<i2"), Numbers("<f4"))


def page_content(data: ReportData, packed: Packed) -> dict[str, Any]:
    """The page's data, ready for JSON; arrays go to `packed`."""
    experiments = [experiment for experiment in data.experiments if experiment.summaries]
    names = {summary.algorithm for experiment in experiments for summary in experiment.summaries}
    algorithms = sorted(names, key=lambda name: (name == REFERENCE, name))
    cases = [_case(experiment) for experiment in experiments]
    times_used = Counter(cases)
    return {
        "algorithms": [
            {"name": name, **look._asdict()} for name, look in looks_of(algorithms).items()
        ],
        "reference": algorithms.index(REFERENCE) if REFERENCE in names else -1,
        "levels": LEVELS,
        "limits": _LIMITS,
        "level": LEVELS.index(LEVEL),
        "feature": ONLINE,
        "steps": _STEPS,
        "far": _FAR / _STEPS,
        "experiments": [
            {
                "problem": case[0],
                "accurate": experiment.accurate,
                "notes": list(map(str, data.notes_on([experiment]))),
                "case": case[1] if times_used[case] == 1 else f"{case[1]} [{experiment.hash[:6]}]",
                **_experiment(experiment, algorithms, packed),
            }
            for experiment, case in zip(experiments, cases, strict=True)
        ],
    }


def _case(experiment: ExperimentData) -> tuple[str, str]:
    """The problem that was played, and what prior the agents had."""
    prior, test = (experiment.settings[name] or "unnamed" for name in ("prior", "test"))
    return test, "accurate" if experiment.accurate else f"wrong: {prior}"


def _experiment(
    experiment: ExperimentData, algorithms: list[str], packed: Packed
) -> dict[str, Any]:
    summaries = experiment.summaries
    numbers = packed.numbers
    num_mdps = max(len(summary.returns) for summary in summaries)
    features = [
        name
        for name in summaries[0].seconds
        if name != "offline" and all(name in summary.seconds for summary in summaries)
    ]
    comparisons = [Comparison(summaries, honest=honest) for honest in (False, True)]
    ranked = [_ranked(comparison, features) for comparison in comparisons]
    return {
        "name": experiment.name,
        "settings": {name: experiment.settings.get(name) for name in ("discount", "horizon")},
        "numMdps": num_mdps,
        **_bound(experiment.upper_bound),
        "warnings": [few_mdps_warning(num_mdps), few_mdps_warning(num_mdps // 2)],
        "labels": [summary.marked_label for summary in summaries],
        "parameters": [
            [[name, str(value)] for name, value in summary.parameters.items() if value is not None]
            for summary in summaries
        ],
        "algorithms": [algorithms.index(summary.algorithm) for summary in summaries],
        "offline": numbers.add(summary.seconds["offline"] for summary in summaries),
        "features": {
            name: numbers.add(summary.seconds[name] for summary in summaries) for name in features
        },
        "memory": _memory(summaries, numbers),
        "learning": _learning(summaries, sorted({*ranked[0], *ranked[1]}), packed.curves),
        # By honest = False, True:
        "measured": [
            {
                **_scores(experiment, comparison.tested, numbers),
                "ranked": agents,
                "tests": packed.tests.add(z_steps(comparison.testing[agents])),
                **_widths(comparison.testing[agents], packed.tests),
            }
            for comparison, agents in zip(comparisons, ranked, strict=True)
        ],
    }


def _memory(summaries: Sequence[Summary], numbers: Numbers) -> Any:
    """The bytes of memory of all agents, NaN where they are not known; None if none is."""
    sizes = [math.nan if each.peak_bytes is None else each.peak_bytes for each in summaries]
    return None if all(map(math.isnan, sizes)) else numbers.add(sizes)


def _bound(bound: float | None) -> dict[str, Any]:
    """What no agent can pass, as a number and as text; both None if it is not known."""
    return {"bound": bound, "boundText": None if bound is None else format_bound(bound)}


def _scores(experiment: ExperimentData, mdps: slice, numbers: Numbers) -> dict[str, Any]:
    """The scores of all agents on some of the MDPs."""
    summaries = experiment.summaries
    standings = standings_on(experiment, summaries, mdps)
    scores = [standing.score for standing in standings]
    scaled = [each.normalised for each in standings if each.normalised is not None]
    return {
        "numMdps": max(len(summary.returns[mdps]) for summary in summaries),
        "scores": numbers.add(score.mean for score in scores),
        "ci95": numbers.add(score.ci95 for score in scores),
        "unadjusted": (_unadjusted(summaries, mdps, numbers) if standings[0].unadjusted else None),
        "normalised": numbers.add(scaled) if scaled else None,
    }


def _unadjusted(summaries: Sequence[Summary], mdps: slice, numbers: Numbers) -> list[Any]:
    """The mean returns and their intervals."""
    means, widths = zip(*(Score.of(each.returns[mdps]) for each in summaries), strict=True)
    return [numbers.add(means), numbers.add(widths)]


def _learning(
    summaries: Sequence[Summary], agents: list[int], curves: Numbers
) -> dict[str, Any] | None:
    """The learning curves of some agents, those that have one; None if there are none."""
    known = {i: each for i in agents if (each := summaries[i].learning) is not None}
    if not known:
        return None
    decisions = next(iter(known.values())).decisions
    shown = [each.at(decisions) for each in known.values()]
    return {
        "decisions": decisions.tolist(),
        "agents": list(known),
        "curves": curves.add(np.ravel([(each.mean, each.ci95) for each in shown])),
    }


def _ranked(comparison: Comparison, features: list[str]) -> list[int]:
    """The agents that are the best of their algorithm within some bounds, best first."""
    summaries, order = comparison.summaries, comparison.allowed()
    algorithms = [summary.algorithm for summary in summaries]
    found: set[int] = set()
    for feature in features:
        times = [(summary.seconds["offline"], summary.seconds[feature]) for summary in summaries]
        found.update(contenders(order, algorithms, times))
    return [i for i in order if i in found]


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
        own = np.diag(covariance)
        of_pairs = own[first] + own[second] - 2 * covariance[first, second]
        chosen = common == number
        variances[chosen] = of_pairs[chosen].clip(0) / number
    return variances


def _widths(returns: Floats, tests: Numbers) -> dict[str, Any]:
    """The half-widths of the 95% intervals of all differences, in the order of `z_steps`."""
    num_mdps = returns.shape[1]
    if num_mdps < 2:
        return {"widths": tests.add([]), "widest": 0.0}
    widths = 2 * np.sqrt(_variances(returns))
    widest = float(widths.max(initial=0.0))
    parts = np.rint(widths / (widest or 1.0) * _FAR)
    return {"widths": tests.add(parts.astype(np.int64)), "widest": widest / _FAR}
