"""Packs results into an entry."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import InvalidInput
from ..files import check_free
from ..problems.frozen import NUM_MDPS
from ..report.loading import Sources, load
from ..results.compact import ExperimentHeader
from ..results.summary import Summary
from ..storage.entries import Entry, check_suffix, write_entry
from ..storage.frozen import why_not_frozen

Selection = list[tuple[ExperimentHeader, Sequence[Summary]]]


def new_entry(
    results: Sources,
    path: str | Path,
    *,
    name: str,
    authors: str | Sequence[str],
    description: str,
    licence: str,
    code: str = "",
    commit: str = "",
    paper: str = "",
    only: str | Iterable[str] = (),
    overwrite: bool = False,
) -> Entry:
    """Pack results on frozen sets into an entry: one file to be listed beside other agents.

    Args:
        results: results, or files and folders with results.
        path: the file to write; it ends with `.entry.parquet`.
        name: what the agent is called on a board.
        authors: who made it.
        description: what it does, in a few sentences.
        licence: the licence of its code, such as "MIT".
        code: the address of its code; needed for agents that are not built in.
        commit: the version of its code, as the hash of a commit; needed with `code`.
        paper: the address of a paper.
        only: the algorithms to pack, as tables name them; all by default.
        overwrite: whether an older file may be replaced.
    """
    listed = (authors,) if isinstance(authors, str) else tuple(authors)
    entry = Entry(name, listed, description, code, commit, paper, licence)
    check_name(Path(path), overwrite)
    selection = select(results, [only] if isinstance(only, str) else list(only))
    pack(Path(path), entry, selection, overwrite)
    return entry


def pack(path: Path, entry: Entry, selection: Selection, overwrite: bool = False) -> None:
    """Write an entry with some results."""
    if has_own(selection) and not entry.code:
        raise InvalidInput("code is missing: give the address of the agent's code, and its commit")
    write_entry(path, entry, selection, overwrite)


def check_name(path: Path, overwrite: bool = False) -> None:
    """Raise unless an entry can be written there."""
    check_suffix(path)
    check_free(path, overwrite)


def select(results: Sources, only: Sequence[str] = ()) -> Selection:
    """The results of some algorithms, or of all, by experiment; InvalidInput if one is unfit."""
    experiments = load(results, learning=True, as_stored=True).experiments
    algorithms = {each.algorithm for experiment in experiments for each in experiment.summaries}
    for missing in [name for name in only if name not in algorithms]:
        raise InvalidInput(
            f"only = {missing!r}: no result is of this algorithm: must be one of "
            f"{', '.join(sorted(algorithms))}"
        )
    selection: Selection = []
    for experiment in experiments:
        summaries = [each for each in experiment.summaries if not only or each.algorithm in only]
        problem = why_not_frozen(experiment.hash, experiment.settings)
        if summaries and problem:
            raise InvalidInput(problem)
        number = max(experiment.num_mdps, NUM_MDPS)
        for summary in summaries:
            if len(summary.returns) < number:
                raise InvalidInput(
                    f"{summary.label} on {experiment.name} has {len(summary.returns)} of {number} "
                    "MDPs: play them all"
                )
        if summaries:
            name = experiment.settings["name"]
            selection.append((experiment.header._replace(name=name), summaries))
    return selection


def has_own(selection: Selection) -> bool:
    """True if an agent is not built in."""
    return any(summary.is_own for _, summaries in selection for summary in summaries)
