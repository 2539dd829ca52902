"""Reads results for reports.

Rewards and times of single decisions are read, reduced and dropped file by file, so that hundreds
of results fit in memory.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.times import FEATURES, find_feature, time_of
from ..errors import InvalidInput, StoreError, WrongKind
from ..protocol.result import Result, label_of
from ..storage import read_result
from ..study.failures import failures_in
from . import compact
from .data import Entry, ExperimentData, ReportData

_UNLIKE_SPEEDS = 1.5  # the ratio of two calibrations that are worth a note
_MANY_OVERRUNS = 0.01  # of the decisions
_OVERLOADED = 0.1  # the share of its time that a thread waited for a processor


def load(*places: Path, own_features: Iterable[str] = ()) -> ReportData:
    """Read all results of files and below folders; damaged files are left out, which is noted."""
    features = {**FEATURES, **{name: find_feature(name) for name in own_features}}
    found: dict[str, ExperimentData] = {}
    notes = []
    for path in _files(places):
        try:
            read = list(_read(path, features))
        except StoreError as error:
            notes.append(f"left out: {error}")
            continue
        for experiment, entry in read:
            experiment = found.setdefault(experiment.hash, experiment)
            if any(other.label == entry.label for other in experiment.entries):
                notes.append(f"left out: {path} has {entry.label} on {experiment.name} once more")
            else:
                experiment.entries.append(entry)
    if not found:
        what = f"no results that can be read ({_some(notes)})" if notes else "no results"
        where = " and ".join(map(str, places))
        raise InvalidInput(f"{where} has {what}: make some with brlbench run, play or demo")
    notes += [
        f"failed: {failure.agent} on {failure.experiment}: {failure.reason}"
        for place in places
        for failure in failures_in(place)
    ]
    experiments = _distinctly_named(list(found.values()))
    notes += _machine_notes(experiments) + _deadline_notes(experiments) + _gaps(experiments)
    return ReportData(experiments, notes)


def _files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        if place.is_dir():
            yield from sorted(place.rglob("*.parquet"))
        elif place.is_file():
            yield place
        else:
            raise InvalidInput(
                f"there is no {place}: give a folder with results, from run, play or demo, or a "
                "file with some"
            )


def _read(path: Path, features: dict[str, Any]) -> Iterator[tuple[ExperimentData, Entry]]:
    """The agents in a file, each with its experiment; none if the file holds something else."""
    try:
        result = read_result(path)
        yield _experiment(result), _entry(result, features)
    except WrongKind:
        with suppress(WrongKind):
            for experiment, entry in compact.read(path):
                missing = [name for name in features if name not in entry.features]
                if missing:
                    raise StoreError(
                        f"{path} is a compact file, in which {missing[0]} can't be computed: use "
                        "the results themselves, or another time feature"
                    ) from None
                yield experiment, entry


def _entry(result: Result, features: dict[str, Any]) -> Entry:
    nanoseconds = result.nanoseconds.reshape(-1, result.nanoseconds.shape[2])
    decisions = nanoseconds.astype(np.float64) * 1e-9
    times = {
        name: time_of(feature, name, result.offline_seconds, decisions)
        for name, feature in features.items()
    }
    return Entry(
        result.algorithm,
        result.parameters,
        result.label,
        result.returns,
        times,
        result.machine,
        result.overruns,
    )


def _experiment(result: Result) -> ExperimentData:
    return ExperimentData(result.settings["name"], result.experiment_hash, result.settings, [])


def _distinctly_named(experiments: list[ExperimentData]) -> list[ExperimentData]:
    """Experiments with accurate priors first; equal names get what tells them apart."""
    experiments.sort(key=lambda e: (not e.accurate, e.name, e.hash))
    names = [experiment.name for experiment in experiments]
    return [
        experiment
        if names.count(experiment.name) == 1
        else ExperimentData(
            f"{experiment.name} [{experiment.hash[:6]}]",
            experiment.hash,
            experiment.settings,
            experiment.entries,
        )
        for experiment in experiments
    ]


def _machine_notes(experiments: list[ExperimentData]) -> list[str]:
    """Why times should be compared with care."""
    described = [entry.machine for experiment in experiments for entry in experiment.entries]
    machines = [one for machine in described for one in machine.get("machines", [machine])]
    notes = []
    kinds = {str(machine.get("processor")) for machine in machines}
    speeds = [machine.get("calibration_microseconds", 0.0) for machine in machines]
    if len(kinds) > 1:
        notes.append(
            f"times come from unlike machines ({', '.join(sorted(kinds))}): compare with care"
        )
    elif min(speeds) > 0 and max(speeds) > _UNLIKE_SPEEDS * min(speeds):
        notes.append(
            "times come from machines, or moments, of which some were "
            f"{max(speeds) / min(speeds):.1f} times as fast as others: compare with care"
        )
    waited = [machine.get("waiting_share", 0.0) > _OVERLOADED for machine in described]
    if any(waited):
        notes.append(
            f"the machine was overloaded for {sum(waited)} of {len(waited)} results, which makes "
            "their times too long: use fewer workers"
        )
    return notes


def _deadline_notes(experiments: list[ExperimentData]) -> list[str]:
    """That results depend on the clock, and who did not keep to it."""
    limited = [
        (entry, experiment.name, entry.overruns)
        for experiment in experiments
        for entry in experiment.entries
        if entry.overruns is not None
    ]
    if not limited:
        return []
    return [
        "results within a deadline depend on the machine's speed: they are not reproducible",
        *(
            f"{entry.label} on {name}: {100 * overruns:.1f}% of its decisions took longer"
            for entry, name, overruns in limited
            if overruns > _MANY_OVERRUNS
        ),
    ]


def _gaps(experiments: list[ExperimentData]) -> list[str]:
    """Which agents were not run in some of the experiments."""
    labels = dict.fromkeys(_agent(entry) for e in experiments for entry in e.entries)
    notes = []
    for experiment in experiments:
        present = {_agent(entry) for entry in experiment.entries}
        missing = [label for label in labels if label not in present]
        if missing:
            notes.append(
                f"{experiment.name} lacks {len(missing)} of {len(labels)} agents: {_some(missing)}"
            )
    return notes


def _agent(entry: Entry) -> str:
    """An agent, whatever its deadline."""
    return label_of(entry.algorithm, entry.parameters)


def _some(texts: list[str]) -> str:
    return ", ".join(texts[:3]) + (", …" if len(texts) > 3 else "")
