"""The function `compare`: the best agents among results."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ..analysis.bounds import LEVEL
from ..errors import InvalidInput, short
from ..results.result import Result
from ..results.times import ONLINE
from .answers import Answer, Bound, Question, answer_all, notes_on
from .data import ReportData
from .loading import load

Given = Result | str | os.PathLike[str]
"""A result, or a file or a folder with results."""


def compare(
    results: Given | Iterable[Given],
    offline: Bound = None,
    online: Bound = None,
    *,
    experiment: str | None = None,
    feature: str = ONLINE,
    level: float = LEVEL,
    honest: bool = False,
) -> Answer:
    """Find the best agents of one experiment within bounds on offline and online time.

    Args:
        results: results, or files and folders with results.
        offline: the longest training, such as "1m"; None means no bound.
        online: the longest time of a decision, such as "5ms"; None means no bound.
        experiment: which one, by name, if there are several.
        feature: the online time that the bound applies to: mean, median, p95, max or total.
        level: how sure a test must be to call an agent worse, between 0 and 1.
        honest: choose agents on one half of the MDPs, and test them on the other.
    """
    question = Question.parse(offline, online, feature, level, honest)
    data = gather(results, feature)
    if experiment is None and len(data.experiments) > 1:
        names = ", ".join(each.name for each in data.experiments)
        raise InvalidInput(
            f"the results are of {len(data.experiments)} experiments ({names}): choose one with "
            "experiment="
        )
    [answer] = answer_all(data, question, experiment)
    return replace(answer, notes=list(map(str, notes_on(data, [answer]))))


def gather(
    results: Given | Iterable[Given],
    feature: str = ONLINE,
    learning: bool = False,
    as_stored: bool = False,
) -> ReportData:
    """The summaries of results, files and folders, by experiment; see `load`."""
    given = [results] if isinstance(results, Result | str | os.PathLike) else results
    if not isinstance(given, Iterable):
        raise InvalidInput(f"results = {short(given)}: must be results, or files or folders")
    places: list[Path | Result] = []
    for each in given:
        if not isinstance(each, Result | str | os.PathLike):
            raise InvalidInput(f"{short(each)} is no result: must be one, or a file or a folder")
        places.append(each if isinstance(each, Result) else Path(each))
    return load(*places, feature=feature, learning=learning, as_stored=as_stored)
