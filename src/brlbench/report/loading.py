"""Reads results for reports.

Each file is reduced to its summary before the next is read, so hundreds of results fit in memory.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..analysis.bayes_bound.known import SUFFIX, KnownBound, read_bound
from ..errors import InvalidInput, StoreError, WrongKind, encodable
from ..executors.child import Child
from ..files import files_below
from ..results.compact import ExperimentHeader, read_summaries
from ..results.result import Result
from ..results.summary import Summary, summarise
from ..results.times import (
    FEATURES,
    KNOWN_FEATURES,
    ONLINE,
    Feature,
    all_features,
    find_feature,
)
from ..storage import read_result
from ..storage.entries import Entry, is_entry, read_entry
from ..study.failures import failures_in
from .data import ExperimentData, ReportData
from .notes import Note, some
from .strangers import genuine, is_repeated, parser_in, with_distinct_names

_LARGEST_RETURN = 1e150  # squares of returns are added


def load(
    *places: Path | Result, feature: str = ONLINE, learning: bool = False, as_stored: bool = False
) -> ReportData:
    """Read all results in files and below folders; damaged files are left out, with a note.

    Results themselves are taken as they are. Summaries have all time features of the package, and
    `feature`, which may be a user's own; if `learning`, also learning curves, where there are any.
    Either all agents of an experiment have adjusted scores or none has, unless they are wanted
    `as_stored`. Files with bounds, NAME.bound.json, are read as well.
    """
    features = {**FEATURES, feature: find_feature(feature)}
    headers: dict[str, ExperimentHeader] = {}
    agents: dict[str, dict[str, Summary]] = {}  # by the experiment's hash and the full label
    sources: dict[Summary, Path | Result] = {}
    notes: list[Note] = []
    everything = _all_read(places, features, learning, notes)
    for read in everything:
        try:
            for header, summary in read.summaries:
                _check_time(read.source, summary, feature)
                _check_returns(read.source, summary, agents.get(header.hash, {}).values())
        except StoreError as error:
            notes.append(Note(f"left out: {error}"))
            continue
        pairs = read.summaries
        if read.entry is not None:
            pairs = with_distinct_names(pairs, read.entry, agents)
        for header, summary in pairs:
            name = headers.setdefault(header.hash, header).name
            if text := _add(read, summary, agents.setdefault(header.hash, {}), sources, name):
                notes.append(Note(f"left out: {text}", experiment=name))
    if not agents:
        read_none = f"no results that can be read ({some([note.text for note in notes])})"
        what = read_none if notes else "no results"
        where = " and ".join(map(str, places)) or "the list"
        raise InvalidInput(f"{where} has {what}: make some with brlbench run, play or demo")
    notes += _failed(places)
    bounds = _bounds(places, notes)
    experiments = _distinctly_named(
        with_common_mdps(
            [ExperimentData(*headers[key], list(agents[key].values()), bounds) for key in agents]
        )
    )
    if not as_stored:
        experiments = [_alike(experiment, notes) for experiment in experiments]
    # Names of files can hold bytes that no text can.
    readable = [replace(note, text=encodable(note.text)) for note in notes]
    return ReportData(experiments, readable, _entries(everything, agents.values(), sources))


def _failed(places: Iterable[Path | Result]) -> list[Note]:
    """Notes on agents that failed."""
    return [
        Note(
            f"failed: {failure.agent} on {failure.experiment}: {failure.reason}",
            experiment=failure.experiment,
        )
        for place in places
        if not isinstance(place, Result)
        for failure in failures_in(place)
    ]


class _Read(NamedTuple):
    """The content of a source."""

    source: Path | Result
    entry: Entry | None  # if the source is one
    summaries: list[tuple[ExperimentHeader, Summary]]


def _all_read(
    places: Iterable[Path | Result],
    features: Mapping[str, Feature],
    learning: bool,
    notes: list[Note],
) -> list[_Read]:
    """The content of all sources; entries last, since other results count before them."""
    contents = []
    with Child() as child:  # it starts with the first entry
        for source in _sources(places, notes):
            try:
                contents.append(_read(source, features, learning, child))
            except StoreError as error:
                notes.append(Note(f"left out: {error}"))
    return sorted(contents, key=lambda read: read.entry is not None)


def _add(
    read: _Read,
    summary: Summary,
    agents: dict[str, Summary],
    sources: dict[Summary, Path | Result],
    experiment: str,
) -> str:
    """Add a summary to the agents of its experiment; returns what is left out, if anything is."""
    first = agents.setdefault(summary.full_label, summary)
    sources[summary] = read.source
    if first is summary:
        return ""
    both = f"{read.source} and {sources[first]}"
    if not is_repeated(summary, first):
        if read.entry is not None:
            return f"{both} hold different results of {summary.label} on {experiment}"
        raise InvalidInput(
            f"{both} hold different results of {summary.label} on {experiment}: give one agent "
            "another name, or keep what they differ in as an attribute named like its parameter, "
            "and play it again; or leave one of them out"
        )
    longer, shorter = sorted((first, summary), key=lambda each: -len(each.returns))
    agents[summary.full_label] = longer
    return f"{sources[shorter]} repeats {summary.label} on {experiment}"


def _entries(
    everything: Iterable[_Read],
    agents: Iterable[Mapping[str, Summary]],
    sources: Mapping[Summary, Path | Result],
) -> dict[str, Entry]:
    """By full label, the entries of agents of which nothing else is known."""
    entries = {str(read.source): read.entry for read in everything if read.entry is not None}
    said: dict[str, Entry] = {}
    known: set[str] = set()
    for of_experiment in agents:
        for label, summary in of_experiment.items():
            entry = entries.get(str(sources[summary]))
            if entry is None:
                known.add(label)
            else:
                said.setdefault(label, entry)
    return {label: entry for label, entry in said.items() if label not in known}


def _sources(places: Iterable[Path | Result], notes: list[Note]) -> Iterator[Path | Result]:
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
            if not place.name.endswith(SUFFIX):
                yield place
        else:
            raise InvalidInput(
                f"there is no {place}: give a folder or a file with results, from run, play or demo"
            )
    if unreadable:
        notes.append(Note("left out: folders that can't be read", unreadable))


def _bounds(places: Iterable[Path | Result], notes: list[Note]) -> list[KnownBound]:
    """The bounds in files that are given, and below folders; damaged files get a note."""
    bounds = []
    for place in places:
        if isinstance(place, Result):
            continue
        given = [place] if place.name.endswith(SUFFIX) else []
        for path in [*given, *files_below(place, f"*{SUFFIX}")]:
            try:
                bounds.append(read_bound(path))
            except StoreError as error:
                notes.append(Note(f"left out: {error}"))
    return bounds


def _read(
    source: Path | Result, features: Mapping[str, Feature], learning: bool, child: Child
) -> _Read:
    """The summaries of a result or in a file, each with its experiment."""
    if isinstance(source, Result):
        return _Read(source, None, [(_header(source), summarise(source, features, learning))])
    if is_entry(source):
        entry, pairs = read_entry(source, parser_in(child))
        checked = [(genuine(header, source), summary) for header, summary in pairs]
        return _Read(source, entry, _with_features(source, checked, features))
    try:
        return _Read(source, None, [_read_result(source, features, learning)])
    except WrongKind:
        with suppress(WrongKind):
            return _Read(source, None, _with_features(source, read_summaries(source), features))
        return _Read(source, None, [])  # the file holds something else


def _read_result(
    path: Path, features: Mapping[str, Feature], learning: bool
) -> tuple[ExperimentHeader, Summary]:
    result = read_result(path, decisions=learning or not features.keys() <= FEATURES.keys())
    unknown = [name for name in features if name not in FEATURES]
    if unknown and "nanoseconds" not in result.columns:
        raise StoreError(
            f"{path} has no single decisions, from which {unknown[0]} could be computed: play "
            "it again with keep_paths, or use another time feature"
        )
    return _header(result), summarise(result, features, learning)


def _with_features(
    path: Path,
    pairs: Iterable[tuple[ExperimentHeader, Summary]],
    features: Mapping[str, Feature],
) -> list[tuple[ExperimentHeader, Summary]]:
    """The summaries of a compact file, with all time features of the package."""
    complete = []
    for header, stored in pairs:
        summary = replace(stored, seconds=all_features(stored.seconds))
        unknown = [name for name in features if name not in {**summary.seconds, **FEATURES}]
        if unknown:
            raise StoreError(
                f"{path} is a compact file, in which {unknown[0]} can't be computed: use "
                "the results themselves, or another time feature"
            )
        complete.append((header, summary))
    return complete


def _header(result: Result) -> ExperimentHeader:
    return ExperimentHeader(result.settings["name"], result.experiment_hash, result.settings)


def _check_time(path: Path | Result, summary: Summary, feature: str) -> None:
    """Raise unless a summary has the time feature that is asked for."""
    if feature not in summary.seconds:
        raise StoreError(
            f"{path} has no single decisions, from which {feature} could be computed: use "
            f"another time feature, {' or '.join(KNOWN_FEATURES)}"
        )


def _check_returns(path: Path | Result, summary: Summary, others: Iterable[Summary]) -> None:
    """Raise unless a summary can be compared with the others of its experiment."""
    returns = summary.returns
    largest = np.abs([returns, summary.scored_returns]).max()
    if not largest < _LARGEST_RETURN:  # written so that NaN is refused too
        raise StoreError(f"{path} has a return of {largest}: must be less than {_LARGEST_RETURN}")
    other = next((each for each in others if each.stopped is None), summary)
    if summary.stopped is None and len(other.returns) != len(returns):
        raise StoreError(
            f"{path} has {len(returns)} MDPs, and {other.label} played {len(other.returns)} in the "
            "same experiment: make it again"
        )


def with_common_mdps(experiments: Iterable[ExperimentData]) -> list[ExperimentData]:
    """Add agents that played more MDPs, the same and others, to experiments with fewer.

    Agents whose labels would be the same get labels with all their parameters.
    """
    extended = []
    families: dict[str, list[ExperimentData]] = {}
    for experiment in experiments:
        families.setdefault(experiment.family, []).append(experiment)
    for family in families.values():
        family.sort(key=lambda experiment: experiment.num_mdps)
        for i, experiment in enumerate(family):
            summaries = {summary.full_label: summary for summary in experiment.summaries}
            for larger in family[i + 1 :]:
                for summary in larger.summaries:
                    summaries.setdefault(summary.full_label, summary.first(experiment.num_mdps))
            distinct = _distinctly_labelled(list(summaries.values()))
            extended.append(replace(experiment, summaries=distinct))
    return extended


def _alike(experiment: ExperimentData, notes: list[Note]) -> ExperimentData:
    """Without adjusted scores, if some agents have none: luck would count as a difference."""
    lacking = [each.label for each in experiment.summaries if not each.can_be_adjusted]
    if len(lacking) in (0, len(experiment.summaries)):
        return experiment
    text = (
        f"{len(lacking)} of {len(experiment.summaries)} results on {experiment.name} have no "
        "adjusted score, so mean returns are compared"
    )
    notes.append(Note(text, lacking, experiment.name))
    unadjusted = [replace(summary, adjusted=None) for summary in experiment.summaries]
    return replace(experiment, summaries=unadjusted)


def _distinctly_labelled(summaries: list[Summary]) -> list[Summary]:
    """Agents with the same label, since their defaults differed, show all their parameters."""
    times_used = Counter(summary.label for summary in summaries)
    return [
        summary if times_used[summary.label] == 1 else replace(summary, label=summary.full_label)
        for summary in summaries
    ]


def _distinctly_named(experiments: list[ExperimentData]) -> list[ExperimentData]:
    """Experiments with accurate priors first; equal names get the number of MDPs, then a hash."""
    experiments.sort(key=lambda e: (not e.accurate, e.name, e.num_mdps, e.hash))
    of_name = Counter(experiment.name for experiment in experiments)
    of_size = Counter((experiment.name, experiment.num_mdps) for experiment in experiments)

    def name(experiment: ExperimentData) -> str:
        same_size = of_size[experiment.name, experiment.num_mdps]
        differ_in_size = same_size < of_name[experiment.name]
        size = f" ({experiment.num_mdps} MDPs)" if differ_in_size else ""
        mark = f" [{experiment.hash[:6]}]" if same_size > 1 else ""
        return experiment.name + size + mark

    return [replace(experiment, name=name(experiment)) for experiment in experiments]
