"""Which agents come from entries, and what their authors say about them."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ...errors import StoreError
from ...files import files_below
from ...protocol.result import Result
from ...protocol.summary import Summary
from ...storage.compact import read_summaries
from ...storage.entries import Entry, read_entry


def entries_in(places: Iterable[Path | Result]) -> dict[str, Entry]:
    """By the full label of an agent, its entry, unless a compact file that is no entry has it too.

    A file that can't be read is left out: reports have a note on it.
    """
    found: dict[str, Entry | None] = {}
    for place in places:
        if isinstance(place, Result):
            continue
        for path in files_below(place, "*.parquet") if place.is_dir() else [place]:
            try:
                entry = read_entry(path)
                summaries = [summary for _, summary in read_summaries(path)]
            except StoreError:  # it may hold something else
                continue
            for summary in summaries:
                if entry is None:
                    found[summary.full_label] = None
                else:
                    found.setdefault(summary.full_label, entry)
                    found[marked(summary, entry).full_label] = entry
    return {label: entry for label, entry in found.items() if entry is not None}


def marked(summary: Summary, entry: Entry) -> Summary:
    """The agent as reports name it if its entry only seems to be of an agent that is known."""
    return replace(summary, algorithm=f"{summary.algorithm} [{entry.name}]")
