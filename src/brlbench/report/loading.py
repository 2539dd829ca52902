"""Reads results for reports.

Each file is reduced to its summary before the next is read, so hundreds of results fit in memory.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..analysis.times import FEATURES, ONLINE, Feature, find_feature, summarise
from ..errors import InvalidInput, StoreError, WrongKind, encodable
from ..files import files_below
from ..protocol.result import label_of
from ..protocol.summary import Summary
from ..storage import read_result
from ..storage.compact import ExperimentHeader, read_summaries
from ..study.failures import failures_in
from .data import ExperimentData, ReportData

_LARGEST_RETURN = 1e150  # squares of returns are added

# Notes are given above these:
_UNLIKE_SPEEDS = 1.5  # ratio of two machines' calibrations
_MANY_OVERRUNS = 0.01  # share of decisions past the deadline
_OVERLOADED = 0.1  # share of a thread's time spent waiting for a core


def load(*places: Path, feature: str = ONLINE) -> ReportData:
    """Read all results in files and below folders; damaged files are left out, with a note.

    Summaries have all time features of the package, and `feature`, which may be a user's own.
    """
    features = {**FEATURES, feature: find_feature(feature)}
    headers: dict[str, ExperimentHeader] = {}
    found: dict[str, dict[str, Summary]] = {}  # by the experiment's hash and the agent's label
    notes: list[str] = []
    for path in _files(places, notes):
        try:
            read = list(_read(path, features))
            for header, summary in read:
                _check_returns(path, summary, found.get(header.hash, {}).values())
        except StoreError as error:
            notes.append(f"left out: {error}")
            continue
        for header, summary in read:
            name = headers.setdefault(header.hash, header).name
            if found.setdefault(header.hash, {}).setdefault(summary.label, summary) is not summary:
                notes.append(f"left out: {path} repeats {summary.label} on {name}")
    if not found:
        what = f"no results that can be read ({_some(notes)})" if notes else "no results"
        where = " and ".join(map(str, places))
        raise InvalidInput(f"{where} has {what}: make some with brlbench run, play or demo")
    notes += [
        f"failed: {failure.agent} on {failure.experiment}: {failure.reason}"
        for place in places
        for failure in failures_in(place)
    ]
    experiments = _distinctly_named(
        [ExperimentData(*headers[key], list(found[key].values())) for key in found]
    )
    notes += _machine_notes(experiments) + _deadline_notes(experiments) + _gaps(experiments)
    # Names of files can hold bytes that no text can.
    return ReportData(experiments, list(map(encodable, notes)))


def _files(places: Iterable[Path], notes: list[str]) -> Iterator[Path]:
    unreadable: list[str] = []
    for place in places:
        if os.path.isdir(place):  # unlike the method of Path, takes any name
            yield from files_below(
                place,
                "*.parquet",
                lambda error: unreadable.append(f"{error.filename}: {error.strerror}"),
            )
        elif os.path.isfile(place):
            yield place
        else:
            raise InvalidInput(
                f"there is no {place}: give a folder or a file with results, from run, play or demo"
            )
    if unreadable:
        notes.append(f"left out: folders that can't be read ({_some(unreadable)})")


def _read(
    path: Path, features: Mapping[str, Feature]
) -> Iterator[tuple[ExperimentHeader, Summary]]:
    """The summaries in a file, each with its experiment; none if the file holds something else."""
    try:
        result = read_result(path, decisions=not features.keys() <= FEATURES.keys())
        unknown = [name for name in features if name not in ("offline", *result.online_seconds)]
        if unknown and result.totals is not None:
            raise StoreError(
                f"{path} has no single decisions, from which {unknown[0]} could be computed: play "
                "it again with keep_paths, or use another time feature"
            )
        header = ExperimentHeader(result.settings["name"], result.experiment_hash, result.settings)
        yield header, summarise(result, features)
    except WrongKind:
        with suppress(WrongKind):
            for header, summary in read_summaries(path):
                missing = [name for name in features if name not in summary.seconds]
                if missing:
                    raise StoreError(
                        f"{path} is a compact file, in which {missing[0]} can't be computed: use "
                        "the results themselves, or another time feature"
                    ) from None
                yield header, summary


def _check_returns(path: Path, summary: Summary, others: Iterable[Summary]) -> None:
    """Raise unless a summary can be compared with the others of its experiment."""
    returns = summary.returns
    largest = np.abs(returns).max()
    if not largest < _LARGEST_RETURN:  # written so that NaN is refused too
        raise StoreError(f"{path} has a return of {largest}: must be less than {_LARGEST_RETURN}")
    other = next(iter(others), summary)
    if len(other.returns) != len(returns):
        raise StoreError(
            f"{path} has {len(returns)} MDPs, and {other.label} played {len(other.returns)} in the "
            "same experiment: make it again"
        )


def _distinctly_named(experiments: list[ExperimentData]) -> list[ExperimentData]:
    """Experiments with accurate priors first; equal names get a part of the hash."""
    experiments.sort(key=lambda e: (not e.accurate, e.name, e.hash))
    times_used = Counter(experiment.name for experiment in experiments)
    return [
        experiment
        if times_used[experiment.name] == 1
        else replace(experiment, name=f"{experiment.name} [{experiment.hash[:6]}]")
        for experiment in experiments
    ]


def _machine_notes(experiments: list[ExperimentData]) -> list[str]:
    """Reasons to compare times with care."""
    described = [summary.machine for experiment in experiments for summary in experiment.summaries]
    machines = [one for machine in described for one in machine.get("machines", [machine])]
    notes = []
    kinds = {str(machine.get("processor")) for machine in machines}
    speeds = [machine.get("calibration_microseconds", 0.0) for machine in machines]
    if len(kinds) > 1:
        notes.append(
            f"times come from different machines ({', '.join(sorted(kinds))}): compare with care"
        )
    elif min(speeds) > 0 and max(speeds) > _UNLIKE_SPEEDS * min(speeds):
        notes.append(
            f"the speed of the machine varied by a factor of {max(speeds) / min(speeds):.1f}: "
            "compare times with care"
        )
    waited = [machine.get("waiting_share", 0.0) > _OVERLOADED for machine in described]
    if any(waited):
        notes.append(
            f"the machine was overloaded during {sum(waited)} of {len(waited)} results, so their "
            "times are too long: use fewer workers"
        )
    return notes


def _deadline_notes(experiments: list[ExperimentData]) -> list[str]:
    """Notes on results under a deadline: not reproducible, and which agents missed it."""
    limited = [
        (summary, experiment.name, summary.overruns)
        for experiment in experiments
        for summary in experiment.summaries
        if summary.overruns is not None
    ]
    if not limited:
        return []
    return [
        "results under a deadline depend on the machine's speed: they are not reproducible",
        *(
            f"{summary.label} on {name}: {100 * overruns:.1f}% of its decisions missed the deadline"
            for summary, name, overruns in limited
            if overruns > _MANY_OVERRUNS
        ),
    ]


def _gaps(experiments: list[ExperimentData]) -> list[str]:
    """Notes on experiments in which some of the agents were not run."""
    labels = dict.fromkeys(_agent(summary) for e in experiments for summary in e.summaries)
    notes = []
    for experiment in experiments:
        present = {_agent(summary) for summary in experiment.summaries}
        missing = [label for label in labels if label not in present]
        if missing:
            notes.append(
                f"{experiment.name} lacks {len(missing)} of {len(labels)} agents: {_some(missing)}"
            )
    return notes


def _agent(summary: Summary) -> str:
    """The agent's label without its deadline."""
    return label_of(summary.algorithm, summary.parameters)


def _some(texts: list[str]) -> str:
    return ", ".join(texts[:3]) + (", …" if len(texts) > 3 else "")
