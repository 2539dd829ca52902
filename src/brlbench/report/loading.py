"""Reads results for reports.

Each file is reduced to its summary before the next is read, so hundreds of results fit in memory.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..analysis.bayes_bound.known import SUFFIX, read_bound
from ..arguments import counted
from ..errors import InvalidInput, StoreError, WrongKind, encodable, short
from ..executors.child import Child
from ..files import files_below
from ..results.compact import ExperimentHeader, read_summaries
from ..results.result import Result
from ..results.summary import Summary, summarise
from ..results.times import KNOWN_FEATURES, ONLINE, Feature, all_features, users_feature
from ..storage import read_result
from ..storage.entries import Entry, is_entry, read_entry
from ..study.failures import failures_in
from .data import ExperimentData, ReportData
from .notes import Note, some
from .strangers import genuine, is_repeated, parser_in, with_distinct_names

Source = Result | str | os.PathLike[str]
"""A result, or a file or a folder with results."""

Sources = Source | Iterable[Source]

_SOURCE: Any = Result | str | os.PathLike
_LARGEST_RETURN = 1e150  # squares of returns are added


def load(
    *results: Sources,
    feature: str = ONLINE,
    learning: bool = False,
    as_stored: bool = False,
) -> ReportData:
    """The summaries of results, of files and below folders; damaged files get a note.

    Summaries have all time features of the package, and `feature`, which may be a user's own; if
    `learning`, also learning curves, where there are any. Either all agents of an experiment have
    adjusted scores or none has, unless they are wanted `as_stored`. Files with bounds,
    NAME.bound.json, are read as well.
    """
    own = users_feature(feature)
    places = list(places_of(results))
    notes: list[Note] = []
    sources, bound_files = _files(places, notes)
    headers: dict[str, ExperimentHeader] = {}
    agents: dict[str, dict[str, Summary]] = {}  # by the experiment's hash and the full label
    contents: dict[Summary, _Content] = {}
    for content in _contents(sources, own, learning, notes):
        with _noting(notes):
            pairs = content.pairs
            for header, summary in pairs:
                others = agents.get(header.hash, {}).values()
                _check(content.source, summary, feature, others)
            if content.entry is not None:
                pairs = with_distinct_names(pairs, content.entry, agents)
            for header, summary in pairs:
                name = headers.setdefault(header.hash, header).name
                contents[summary] = content
                if text := _add(summary, agents.setdefault(header.hash, {}), contents, name):
                    notes.append(Note(f"left out: {text}", experiment=name))
    if not agents:
        read_none = f"no results that can be read ({some([note.text for note in notes])})"
        what = read_none if notes else "no results"
        where = " and ".join(map(str, places)) or "the list"
        raise InvalidInput(f"{where} has {what}: make some with brlbench run, play or demo")
    notes += _failed(places)
    bounds = []
    for path in bound_files:
        with _noting(notes):
            bounds.append(read_bound(path))
    experiments = _distinctly_named(
        with_common_mdps(
            [ExperimentData(*headers[key], list(agents[key].values()), bounds) for key in agents]
        )
    )
    if not as_stored:
        experiments = [_alike(experiment, notes) for experiment in experiments]
    # Names of files can hold bytes that no text can.
    readable = [replace(note, text=encodable(note.text)) for note in notes]
    return ReportData(experiments, readable, _entries(agents.values(), contents))


def _failed(places: Iterable[Path | Result]) -> Iterator[Note]:
    """Notes on agents that failed."""
    for place in places:
        for each in [] if isinstance(place, Result) else failures_in(place):
            text = f"failed: {each.agent} on {each.experiment}: {each.reason}"
            yield Note(text, experiment=each.experiment)


@contextmanager
def _noting(notes: list[Note]) -> Iterator[None]:
    """A file that can't be read gets a note."""
    try:
        yield
    except StoreError as error:
        notes.append(Note(f"left out: {error}"))


def places_of(arguments: Iterable[Sources]) -> Iterator[Path | Result]:
    """The results, files and folders that a user named, alone or in lists."""
    for argument in arguments:
        listed = [argument] if isinstance(argument, _SOURCE) else argument
        if not isinstance(listed, Iterable):
            raise InvalidInput(f"results = {short(listed)}: must be results, or files or folders")
        for each in listed:
            if not isinstance(each, _SOURCE):
                raise InvalidInput(
                    f"{short(each)} is no result: must be one, or a file or a folder"
                )
            yield each if isinstance(each, Result) else Path(each)


def _files(
    places: Iterable[Path | Result], notes: list[Note]
) -> tuple[list[Path | Result], list[Path]]:
    """The results and the files that may hold some; the files with bounds."""
    sources: list[Path | Result] = []
    bounds: list[Path] = []
    unreadable: list[str] = []

    def note_error(error: OSError) -> None:
        unreadable.append(f"{error.filename}: {error.strerror}")

    for place in places:
        if isinstance(place, Result):
            sources.append(place)
        elif os.path.isdir(place):  # unlike the method of Path, takes any name
            sources += files_below(place, "*.parquet", note_error)
            bounds += files_below(place, f"*{SUFFIX}")
        elif os.path.isfile(place):
            (bounds if place.name.endswith(SUFFIX) else sources).append(place)
        else:
            raise InvalidInput(
                f"there is no {place}: give a folder or a file with results, from run, play or demo"
            )
    if unreadable:
        notes.append(Note("left out: folders that can't be read", unreadable))
    return sources, bounds


class _Content(NamedTuple):
    """The content of a source."""

    source: Path | Result
    entry: Entry | None  # if the source is one
    pairs: list[tuple[ExperimentHeader, Summary]]


def _contents(
    sources: Iterable[Path | Result],
    own: Mapping[str, Feature],
    learning: bool,
    notes: list[Note],
) -> list[_Content]:
    """The content of all sources; entries last, since other results count before them."""
    contents = []
    with Child() as child:  # it starts with the first entry
        for source in sources:
            with _noting(notes):
                contents.append(_read(source, own, learning, child))
    return sorted(contents, key=lambda content: content.entry is not None)


def _add(
    summary: Summary,
    agents: dict[str, Summary],
    contents: Mapping[Summary, _Content],
    experiment: str,
) -> str:
    """Add a summary to the agents of its experiment; returns what is left out, if anything is."""
    first = agents.setdefault(summary.full_label, summary)
    if first is summary:
        return ""
    content = contents[summary]
    if not is_repeated(summary, first):
        different = (
            f"{content.source} and {contents[first].source} hold different results of "
            f"{summary.label} on {experiment}"
        )
        if content.entry is not None:
            return different
        raise InvalidInput(
            f"{different}: give one agent another name, or keep what they differ in as an "
            "attribute named like its parameter, and play it again; or leave one of them out"
        )
    longer, shorter = sorted((first, summary), key=lambda each: -len(each.returns))
    agents[summary.full_label] = longer
    return f"{contents[shorter].source} repeats {summary.label} on {experiment}"


def _entries(
    agents: Iterable[Mapping[str, Summary]], contents: Mapping[Summary, _Content]
) -> dict[str, Entry]:
    """By full label, the entries of agents of which nothing else is known."""
    pairs = [(label, contents[each].entry) for known in agents for label, each in known.items()]
    others = {label for label, entry in pairs if entry is None}
    return {label: entry for label, entry in reversed(pairs) if entry and label not in others}


def _read(
    source: Path | Result, own: Mapping[str, Feature], learning: bool, child: Child
) -> _Content:
    """The summaries of a result or in a file, each with its experiment and a user's own feature."""
    if isinstance(source, Result):
        return _Content(source, None, [_summarised(source, own, learning)])
    if is_entry(source):
        entry, pairs = read_entry(source, parser_in(child))
        checked = ((genuine(header, source), summary) for header, summary in pairs)
        return _Content(source, entry, _with_features(source, checked, own))
    try:
        result = read_result(source, decisions=learning or bool(own))
    except WrongKind:
        with suppress(WrongKind):
            return _Content(source, None, _with_features(source, read_summaries(source), own))
        return _Content(source, None, [])  # the file holds something else
    if own and "nanoseconds" not in result.columns:
        raise StoreError(
            f"{source} has no single decisions, from which {next(iter(own))} could be computed: "
            "play it again with keep_paths, or use another time feature"
        )
    return _Content(source, None, [_summarised(result, own, learning)])


def _summarised(
    result: Result, own: Mapping[str, Feature], learning: bool
) -> tuple[ExperimentHeader, Summary]:
    settings = result.settings
    header = ExperimentHeader(settings["name"], result.experiment_hash, settings)
    return header, summarise(result, own, learning)


def _with_features(
    path: Path, pairs: Iterable[tuple[ExperimentHeader, Summary]], own: Iterable[str]
) -> list[tuple[ExperimentHeader, Summary]]:
    """The summaries of a compact file, with all time features of the package."""
    complete = []
    for header, summary in pairs:
        for name in own:
            raise StoreError(
                f"{path} is a compact file, in which {name} can't be computed: use "
                "the results themselves, or another time feature"
            )
        complete.append((header, replace(summary, seconds=all_features(summary.seconds))))
    return complete


def _check(path: Path | Result, summary: Summary, feature: str, others: Iterable[Summary]) -> None:
    """Raise unless a summary has the feature, and can be compared with others of its experiment."""
    if feature not in summary.seconds:
        raise StoreError(
            f"{path} has no single decisions, from which {feature} could be computed: use "
            f"another time feature, {' or '.join(KNOWN_FEATURES)}"
        )
    returns = summary.returns
    largest = np.abs([returns, summary.scored_returns]).max()
    if not largest < _LARGEST_RETURN:  # written so that NaN is refused too
        raise StoreError(f"{path} has a return of {largest}: must be less than {_LARGEST_RETURN}")
    other = next((each for each in others if each.stopped is None), summary)
    if summary.stopped is None and len(other.returns) != len(returns):
        raise StoreError(
            f"{path} has {counted(len(returns), 'MDP')}, and {other.label} played "
            f"{len(other.returns)} in the same experiment: make it again"
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
            labels = Counter(each.label for each in summaries.values())
            distinct = [
                each if labels[each.label] == 1 else replace(each, label=each.full_label)
                for each in summaries.values()
            ]
            extended.append(replace(experiment, summaries=distinct))
    return extended


def _alike(experiment: ExperimentData, notes: list[Note]) -> ExperimentData:
    """Without adjusted scores, if some agents have none: luck would count as a difference.

    Agents that left by halving are compared with nobody, and may have too few MDPs.
    """
    compared = [each for each in experiment.summaries if each.is_candidate]
    lacking = [each.label for each in compared if not each.can_be_adjusted]
    if len(lacking) in (0, len(compared)):
        return experiment
    text = (
        f"{len(lacking)} of {counted(len(experiment.summaries), 'result')} on {experiment.name} "
        "have no adjusted score, so mean returns are compared"
    )
    notes.append(Note(text, lacking, experiment.name))
    unadjusted = [replace(summary, adjusted=None) for summary in experiment.summaries]
    return replace(experiment, summaries=unadjusted)


def _distinctly_named(experiments: list[ExperimentData]) -> list[ExperimentData]:
    """Experiments with accurate priors first; equal names get the number of MDPs, then a hash."""
    experiments.sort(key=lambda e: (not e.accurate, e.name, e.num_mdps, e.hash))
    of_name = Counter(experiment.name for experiment in experiments)
    of_size = Counter((experiment.name, experiment.num_mdps) for experiment in experiments)

    def name(experiment: ExperimentData) -> str:
        same_size = of_size[experiment.name, experiment.num_mdps]
        differ_in_size = same_size < of_name[experiment.name]
        size = f" ({counted(experiment.num_mdps, 'MDP')})" if differ_in_size else ""
        mark = f" [{experiment.hash[:6]}]" if same_size > 1 else ""
        return experiment.name + size + mark

    return [replace(experiment, name=name(experiment)) for experiment in experiments]
