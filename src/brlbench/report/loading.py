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

from ..analysis.learning import learning_of
from ..analysis.times import FEATURES, ONLINE, Feature, all_features, find_feature, summarise
from ..errors import InvalidInput, StoreError, WrongKind, encodable
from ..files import files_below
from ..protocol.result import Result, label_of
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


def load(*places: Path | Result, feature: str = ONLINE, learning: bool = False) -> ReportData:
    """Read all results in files and below folders; damaged files are left out, with a note.

    Results themselves are taken as they are. Summaries have all time features of the package, and
    `feature`, which may be a user's own; if `learning`, also learning curves, where there are any.
    """
    features = {**FEATURES, feature: find_feature(feature)}
    headers: dict[str, ExperimentHeader] = {}
    found: dict[str, dict[str, Summary]] = {}  # by the experiment's hash and the agent's label
    sources: dict[Summary, Path | Result] = {}
    notes: list[str] = []
    for source in _sources(places, notes):
        try:
            read = list(_read(source, features, learning))
            for header, summary in read:
                _check_returns(source, summary, found.get(header.hash, {}).values())
        except StoreError as error:
            notes.append(f"left out: {error}")
            continue
        for header, summary in read:
            name = headers.setdefault(header.hash, header).name
            first = found.setdefault(header.hash, {}).setdefault(summary.label, summary)
            if first is not summary:
                _check_repeated(summary, first, f"{source} and {sources[first]}", name)
                notes.append(f"left out: {source} repeats {summary.label} on {name}")
            sources[summary] = source
    if not found:
        what = f"no results that can be read ({_some(notes)})" if notes else "no results"
        where = " and ".join(map(str, places)) or "the list"
        raise InvalidInput(f"{where} has {what}: make some with brlbench run, play or demo")
    notes += [
        f"failed: {failure.agent} on {failure.experiment}: {failure.reason}"
        for place in places
        if not isinstance(place, Result)
        for failure in failures_in(place)
    ]
    experiments = _distinctly_named(
        with_common_mdps(
            [ExperimentData(*headers[key], list(found[key].values())) for key in found]
        )
    )
    notes += _machine_notes(experiments) + _deadline_notes(experiments) + _gaps(experiments)
    # Names of files can hold bytes that no text can.
    return ReportData(experiments, list(map(encodable, notes)))


def _sources(places: Iterable[Path | Result], notes: list[str]) -> Iterator[Path | Result]:
    """The results that are given, and the files that may hold some."""
    unreadable: list[str] = []
    for place in places:
        if isinstance(place, Result):
            yield place
        elif os.path.isdir(place):  # unlike the method of Path, takes any name
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
    source: Path | Result, features: Mapping[str, Feature], learning: bool
) -> Iterator[tuple[ExperimentHeader, Summary]]:
    """The summaries of a result or in a file, each with its experiment."""
    if isinstance(source, Result):
        return iter([(_header(source), _summary(source, features, learning))])
    return _read_file(source, features, learning)


def _read_file(
    path: Path, features: Mapping[str, Feature], learning: bool
) -> Iterator[tuple[ExperimentHeader, Summary]]:
    """The summaries in a file, each with its experiment; none if the file holds something else."""
    try:
        result = read_result(path, decisions=learning or not features.keys() <= FEATURES.keys())
        unknown = [name for name in features if name not in FEATURES]
        if unknown and result.totals is not None:
            raise StoreError(
                f"{path} has no single decisions, from which {unknown[0]} could be computed: play "
                "it again with keep_paths, or use another time feature"
            )
        yield _header(result), _summary(result, features, learning)
    except WrongKind:
        with suppress(WrongKind):
            for header, stored in read_summaries(path):
                summary = replace(stored, seconds=all_features(stored.seconds))
                missing = [name for name in features if name not in summary.seconds]
                if missing:
                    raise StoreError(
                        f"{path} is a compact file, in which {missing[0]} can't be computed: use "
                        "the results themselves, or another time feature"
                    ) from None
                yield header, summary


def _summary(result: Result, features: Mapping[str, Feature], learning: bool) -> Summary:
    summary = summarise(result, features)
    return replace(summary, learning=learning_of(result)) if learning else summary


def _header(result: Result) -> ExperimentHeader:
    return ExperimentHeader(result.settings["name"], result.experiment_hash, result.settings)


def _check_repeated(summary: Summary, first: Summary, both: str, experiment: str) -> None:
    """Raise if two agents share a label: they differ in something that the label does not show."""
    is_timed = summary.overruns is not None  # under a deadline, another run of the agent can differ
    if not is_timed and not np.allclose(summary.returns, first.returns, rtol=1e-9):
        raise InvalidInput(
            f"{both} hold different results of {summary.label} on {experiment}: give one agent "
            "another name, or keep what they differ in as an attribute named like its parameter, "
            "and play it again; or leave one of them out"
        )


def _check_returns(path: Path | Result, summary: Summary, others: Iterable[Summary]) -> None:
    """Raise unless a summary can be compared with the others of its experiment."""
    returns = summary.returns
    largest = np.abs([returns, summary.scored_returns]).max()
    if not largest < _LARGEST_RETURN:  # written so that NaN is refused too
        raise StoreError(f"{path} has a return of {largest}: must be less than {_LARGEST_RETURN}")
    other = next(iter(others), summary)
    if len(other.returns) != len(returns):
        raise StoreError(
            f"{path} has {len(returns)} MDPs, and {other.label} played {len(other.returns)} in the "
            "same experiment: make it again"
        )


def with_common_mdps(experiments: Iterable[ExperimentData]) -> list[ExperimentData]:
    """Add agents that played more MDPs, the same and others, to experiments with fewer."""
    extended = []
    families: dict[str, list[ExperimentData]] = {}
    for experiment in experiments:
        families.setdefault(experiment.family, []).append(experiment)
    for family in families.values():
        family.sort(key=lambda experiment: experiment.num_mdps)
        for i, experiment in enumerate(family):
            summaries = {summary.label: summary for summary in experiment.summaries}
            for larger in family[i + 1 :]:
                for summary in larger.summaries:
                    summaries.setdefault(summary.label, summary.first(experiment.num_mdps))
            extended.append(replace(experiment, summaries=list(summaries.values())))
    return extended


def _distinctly_named(experiments: list[ExperimentData]) -> list[ExperimentData]:
    """Experiments with accurate priors first; equal names get the number of MDPs, or a hash."""
    experiments.sort(key=lambda e: (not e.accurate, e.name, e.num_mdps, e.hash))
    times_used = Counter(experiment.name for experiment in experiments)
    sizes: dict[str, set[int]] = {}
    for experiment in experiments:
        sizes.setdefault(experiment.name, set()).add(experiment.num_mdps)

    def name(experiment: ExperimentData) -> str:
        same_name = times_used[experiment.name]
        if same_name == 1:
            return experiment.name
        differ_in_size = len(sizes[experiment.name]) == same_name
        mark = f"({experiment.num_mdps} MDPs)" if differ_in_size else f"[{experiment.hash[:6]}]"
        return f"{experiment.name} {mark}"

    return [replace(experiment, name=name(experiment)) for experiment in experiments]


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
