"""The interactive page: one HTML file that holds the results and needs no network.

Names are JSON. Numbers are float64, so that the page finds the winners that Python finds. The
returns of an agent are left out if another of its algorithm is never slower and always preferred:
it can't be the best of its algorithm within any bounds.
"""

import base64
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from ..analysis.bounds import LEVEL, Comparison
from ..analysis.statistics import few_mdps_warning
from ..errors import InvalidInput
from ..files import atomic_write
from ..sparse import Floats
from .data import ONLINE, REFERENCE, ExperimentData, ReportData
from .figures import styles

LEVELS = (0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999)
_SCRIPTS = ("data", "answer", "format", "draw", "scatter", "map", "bound", "table", "main")


def write_page(data: ReportData, path: Path, overwrite: bool = False) -> None:
    """Write the page."""
    if not data.experiments:
        raise InvalidInput("there are no results to make a page from")
    numbers = _Numbers()
    content = json.dumps(_content(data, numbers)).replace("<", "\\u003c")
    style, script = _template("page.css"), "\n".join(_template(f"{name}.js") for name in _SCRIPTS)
    parts = {
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "content": content,
        "numbers": numbers.packed(),
    }
    page = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _template("page.html"))
    atomic_write(path, page.encode(), overwrite)


class _Numbers:
    """Arrays put end to end; JSON refers to each by its start and length."""

    def __init__(self) -> None:
        self._arrays: list[Floats] = []
        self._length = 0

    def add(self, values: Iterable[float] | Floats) -> list[int]:
        """Append an array and give its place."""
        array = np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype="<f8")
        self._arrays.append(array.ravel())
        self._length += array.size
        return [self._length - array.size, array.size]

    def packed(self) -> str:
        """All numbers as text: first bytes of all, then second bytes, which deflates better."""
        raw = np.concatenate(self._arrays).view(np.uint8).reshape(-1, 8)
        return base64.b64encode(zlib.compress(raw.T.tobytes(), 9)).decode()


def _content(data: ReportData, numbers: _Numbers) -> dict[str, Any]:
    names = {entry.algorithm for e in data.experiments for entry in e.entries}
    algorithms = sorted(names, key=lambda name: (name == REFERENCE, name))
    looks = styles(algorithms)
    cases = [_case(experiment) for experiment in data.experiments]
    times_used = Counter(cases)
    return {
        "notes": data.notes,
        "algorithms": [
            {"name": name, "marker": looks[name]["marker"], **_colours(looks[name]["color"])}
            for name in algorithms
        ],
        "reference": algorithms.index(REFERENCE) if REFERENCE in algorithms else -1,
        "levels": [[level, NormalDist().inv_cdf(level)] for level in LEVELS],
        "level": LEVELS.index(LEVEL),
        "feature": ONLINE,
        "experiments": [
            {
                "problem": case[0],
                "case": case[1] if times_used[case] == 1 else f"{case[1]} [{experiment.hash[:6]}]",
                **_experiment(experiment, algorithms, numbers),
            }
            for experiment, case in zip(data.experiments, cases, strict=True)
        ],
    }


def _case(experiment: ExperimentData) -> tuple[str, str]:
    """The problem that was played, and what the agents were told of it."""
    prior, test = (experiment.settings[name] or "unnamed" for name in ("prior", "test"))
    return test, "accurate" if experiment.accurate else f"wrong: {prior}"


def _experiment(
    experiment: ExperimentData, algorithms: list[str], numbers: _Numbers
) -> dict[str, Any]:
    entries = experiment.entries
    contenders = [entry.contender() for entry in entries]
    num_mdps = len(entries[0].returns)
    means = [Comparison(contenders, honest=honest).means for honest in (False, True)]
    features = [name for name in entries[0].features if name != "offline"]
    times = {name: np.array([entry.features[name] for entry in entries]) for name in features}
    offline = np.array([entry.features["offline"] for entry in entries])
    numbers_of = [algorithms.index(entry.algorithm) for entry in entries]
    chosen = sorted(
        {
            i
            for online in times.values()
            for mean in means
            for i in _candidates(numbers_of, offline, online, mean)
        }
    )
    scale = [experiment.normalised(entry.mean) for entry in entries]
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
        "algorithms": numbers_of,
        "offline": numbers.add(offline),
        "features": {name: numbers.add(online) for name, online in times.items()},
        "means": [numbers.add(mean) for mean in means],
        "ci95": numbers.add(entry.ci95 for entry in entries),
        "normalised": None if None in scale else numbers.add(s for s in scale if s is not None),
        "candidates": chosen,
        "returns": numbers.add(np.array([entries[i].returns for i in chosen])),
    }


def _candidates(
    algorithms: list[int], offline: Floats, online: Floats, means: Floats
) -> Iterable[int]:
    """The agents that are the best of their algorithm within some bounds."""
    kept: dict[int, list[int]] = {}
    for i in sorted(range(len(means)), key=lambda i: (-means[i], i)):
        better = kept.setdefault(algorithms[i], [])
        if not ((offline[better] <= offline[i]) & (online[better] <= online[i])).any():
            better.append(i)
            yield i


def _colours(colour: str) -> dict[str, str]:
    """The colour on light and on dark ground: black would vanish there."""
    brightest = max(bytes.fromhex(colour.removeprefix("#")))
    return {"light": colour, "dark": "#E6E6E6" if brightest < 64 else colour}


def _template(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What the page's content security policy allows to run, and nothing else."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
