"""What the page holds: scores, times, and the tests of all pairs of agents that can meet.

It holds no returns. An agent is left out of the tests if another of its algorithm is never slower
and always preferred: it can't be the best of its algorithm within any bounds.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from ...analysis.bounds import LEVEL, Comparison, contenders
from ...analysis.scores import few_mdps_warning
from ...analysis.significance import z_against
from ...analysis.times import ONLINE
from ...mdps.sparse import Floats
from ...protocol.summary import Summary
from ..data import REFERENCE, ExperimentData, ReportData
from ..figures import styles
from .packing import Numbers

LEVELS = (0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999)
_LIMITS = [NormalDist().inv_cdf(level) for level in LEVELS]
_STEPS = 1000  # Z statistics are stored in thousandths
_FAR = 32_000  # and cut off at ±32


def page_content(data: ReportData, numbers: Numbers, tests: Numbers) -> dict[str, Any]:
    """The page's data, ready for JSON; arrays go to `numbers` and `tests`."""
    experiments = [experiment for experiment in data.experiments if experiment.summaries]
    names = {summary.algorithm for experiment in experiments for summary in experiment.summaries}
    algorithms = sorted(names, key=lambda name: (name == REFERENCE, name))
    looks = styles(algorithms)
    cases = [_case(experiment) for experiment in experiments]
    times_used = Counter(cases)
    return {
        "algorithms": [
            {"name": name, "marker": looks[name]["marker"], **_colours(looks[name]["color"])}
            for name in algorithms
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
                **_experiment(experiment, algorithms, numbers, tests),
            }
            for experiment, case in zip(experiments, cases, strict=True)
        ],
    }


def _case(experiment: ExperimentData) -> tuple[str, str]:
    """The problem that was played, and what prior the agents had."""
    prior, test = (experiment.settings[name] or "unnamed" for name in ("prior", "test"))
    return test, "accurate" if experiment.accurate else f"wrong: {prior}"


def _experiment(
    experiment: ExperimentData, algorithms: list[str], numbers: Numbers, tests: Numbers
) -> dict[str, Any]:
    summaries = experiment.summaries
    num_mdps = len(summaries[0].returns)
    scale = [experiment.normalised(summary.score.mean) for summary in summaries]
    features = [name for name in summaries[0].seconds if name != "offline"]
    comparisons = [Comparison(summaries, honest=honest) for honest in (False, True)]
    ranked = [_ranked(summaries, features, comparison.means) for comparison in comparisons]
    return {
        "name": experiment.name,
        "settings": {name: experiment.settings.get(name) for name in ("discount", "horizon")},
        "numMdps": num_mdps,
        "warnings": [few_mdps_warning(num_mdps), few_mdps_warning(num_mdps // 2)],
        "labels": [summary.label for summary in summaries],
        "parameters": [
            [[name, str(value)] for name, value in summary.parameters.items() if value is not None]
            for summary in summaries
        ],
        "algorithms": [algorithms.index(summary.algorithm) for summary in summaries],
        "offline": numbers.add(summary.seconds["offline"] for summary in summaries),
        "features": {
            name: numbers.add(summary.seconds[name] for summary in summaries) for name in features
        },
        "scores": numbers.add(summary.score.mean for summary in summaries),
        "ci95": numbers.add(summary.score.ci95 for summary in summaries),
        "unadjusted": _unadjusted(summaries, numbers),
        "normalised": None if None in scale else numbers.add(s for s in scale if s is not None),
        # Both by honest = False, True:
        "ranked": ranked,
        "tests": [
            tests.add(z_steps(comparison.testing[agents]))
            for comparison, agents in zip(comparisons, ranked, strict=True)
        ],
    }


def _unadjusted(summaries: Sequence[Summary], numbers: Numbers) -> list[Any] | None:
    """The mean returns and their intervals, or None if no score is adjusted."""
    if all(summary.adjusted is None for summary in summaries):
        return None
    means, widths = zip(*(summary.unadjusted for summary in summaries), strict=True)
    return [numbers.add(means), numbers.add(widths)]


def _ranked(summaries: Sequence[Summary], features: list[str], means: Floats) -> list[int]:
    """The agents that are the best of their algorithm within some bounds, best first."""
    order = sorted(range(len(means)), key=lambda i: (-means[i], i))
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


def _colours(colour: str) -> dict[str, str]:
    """The colour on light and on dark ground, where black would vanish."""
    brightest = max(bytes.fromhex(colour.removeprefix("#")))
    return {"light": colour, "dark": "#E6E6E6" if brightest < 64 else colour}
