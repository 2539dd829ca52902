"""The interactive page: one HTML file that holds the results and needs no network.

It holds no returns but what follows from them: scores, and the tests of all pairs of agents that
can meet. An agent whose algorithm has another that is never slower and always preferred meets none:
it can't be the best of its algorithm within any bounds.
"""

import base64
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from ...analysis.bounds import LEVEL, Comparison
from ...analysis.statistics import few_mdps_warning, z_against
from ...errors import InvalidInput
from ...files import atomic_write, check_free
from ...mdps.sparse import Floats
from ..data import ONLINE, REFERENCE, Entry, ExperimentData, ReportData
from ..figures import styles

LEVELS = (0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999)
_LIMITS = [NormalDist().inv_cdf(level) for level in LEVELS]
_STEPS = 1000  # Z statistics are rounded to a thousandth
_FAR = 32_000  # and those beyond 32 are all the same
_SCRIPTS = ("data", "answer", "format", "draw", "scatter", "map", "bound", "table", "main")


def write_page(data: ReportData, path: Path, overwrite: bool = False) -> None:
    """Write the page."""
    check_free(path, overwrite)
    if not any(experiment.entries for experiment in data.experiments):
        raise InvalidInput("there are no results to make a page from")
    numbers, tests = _Numbers("<f8"), _Numbers("<i2")
    content = json.dumps(_content(data, numbers, tests)).replace("<", "\\u003c")
    style, script = _template("page.css"), "\n".join(_template(f"{name}.js") for name in _SCRIPTS)
    parts = {
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "content": content,
        "numbers": numbers.packed(),
        "tests": tests.packed(),
    }
    page = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _template("page.html"))
    atomic_write(path, page.encode(), overwrite)


class _Numbers:
    """Arrays of one type, put end to end; JSON refers to each by its start and length."""

    def __init__(self, dtype: str) -> None:
        self._dtype = np.dtype(dtype)
        self._arrays = [np.zeros(0, self._dtype)]
        self._length = 0

    def add(self, values: Iterable[float]) -> list[int]:
        """Append an array and give its place."""
        array = np.fromiter(values, self._dtype)
        self._arrays.append(array)
        self._length += len(array)
        return [self._length - len(array), len(array)]

    def packed(self) -> str:
        """All numbers as text: first bytes of all, then second bytes, which deflates better."""
        raw = np.concatenate(self._arrays).view(np.uint8).reshape(-1, self._dtype.itemsize)
        return base64.b64encode(zlib.compress(raw.T.tobytes(), 9)).decode()


def _content(data: ReportData, numbers: _Numbers, tests: _Numbers) -> dict[str, Any]:
    experiments = [experiment for experiment in data.experiments if experiment.entries]
    names = {entry.algorithm for experiment in experiments for entry in experiment.entries}
    algorithms = sorted(names, key=lambda name: (name == REFERENCE, name))
    looks = styles(algorithms)
    cases = [_case(experiment) for experiment in experiments]
    times_used = Counter(cases)
    return {
        "notes": data.notes,
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
                "case": case[1] if times_used[case] == 1 else f"{case[1]} [{experiment.hash[:6]}]",
                **_experiment(experiment, algorithms, numbers, tests),
            }
            for experiment, case in zip(experiments, cases, strict=True)
        ],
    }


def _case(experiment: ExperimentData) -> tuple[str, str]:
    """The problem that was played, and what the agents were told of it."""
    prior, test = (experiment.settings[name] or "unnamed" for name in ("prior", "test"))
    return test, "accurate" if experiment.accurate else f"wrong: {prior}"


def _experiment(
    experiment: ExperimentData, algorithms: list[str], numbers: _Numbers, tests: _Numbers
) -> dict[str, Any]:
    entries = experiment.entries
    num_mdps = len(entries[0].returns)
    scale = [experiment.normalised(entry.mean) for entry in entries]
    features = [name for name in entries[0].features if name != "offline"]
    contenders = [entry.contender() for entry in entries]
    comparisons = [Comparison(contenders, honest=honest) for honest in (False, True)]
    ranked = [_ranked(entries, features, comparison.means) for comparison in comparisons]
    return {
        "name": experiment.name,
        "settings": {name: experiment.settings.get(name) for name in ("discount", "horizon")},
        "numMdps": num_mdps,
        "warnings": [few_mdps_warning(num_mdps), few_mdps_warning(num_mdps // 2)],
        "labels": [entry.label for entry in entries],
        "parameters": [
            [[name, str(value)] for name, value in entry.parameters.items() if value is not None]
            for entry in entries
        ],
        "algorithms": [algorithms.index(entry.algorithm) for entry in entries],
        "offline": numbers.add(entry.features["offline"] for entry in entries),
        "features": {
            name: numbers.add(entry.features[name] for entry in entries) for name in features
        },
        "scores": numbers.add(entry.mean for entry in entries),
        "ci95": numbers.add(entry.ci95 for entry in entries),
        "normalised": None if None in scale else numbers.add(s for s in scale if s is not None),
        # For both ways of choosing:
        "ranked": ranked,
        "tests": [
            tests.add(_tests(comparison.testing[agents]))
            for comparison, agents in zip(comparisons, ranked, strict=True)
        ],
    }


def _ranked(entries: list[Entry], features: list[str], means: Floats) -> list[int]:
    """The agents that are the best of their algorithm within some bounds, the best first."""
    order = sorted(range(len(means)), key=lambda i: (-means[i], i))
    found: set[int] = set()
    for feature in features:
        kept: dict[str, list[tuple[float, float]]] = {}
        for i in order:
            offline, online = entries[i].features["offline"], entries[i].features[feature]
            better = kept.setdefault(entries[i].algorithm, [])
            if not any(first <= offline and second <= online for first, second in better):
                better.append((offline, online))
                found.add(i)
    return [i for i in order if i in found]


def _tests(returns: Floats) -> Iterator[int]:
    """The Z statistic, in steps, of every row against each row below it.

    It is rounded down, but never from above a level's limit to below, so that the page finds the
    winners that Python finds.
    """
    for i in range(len(returns) - 1):
        z = z_against(returns[i], returns[i + 1 :])
        steps = np.nan_to_num(np.floor(_STEPS * z), nan=_FAR).clip(-_FAR, _FAR)
        for limit in _LIMITS:
            steps[(z >= limit) & (steps < _STEPS * limit)] = np.ceil(_STEPS * limit)
        yield from steps.astype(np.int64).tolist()


def _colours(colour: str) -> dict[str, str]:
    """The colour on light and on dark ground: black would vanish there."""
    brightest = max(bytes.fromhex(colour.removeprefix("#")))
    return {"light": colour, "dark": "#E6E6E6" if brightest < 64 else colour}


def _template(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What the page's content security policy allows to run, and nothing else."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
