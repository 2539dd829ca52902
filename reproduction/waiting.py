"""Which results waited for a core while they were played, so that their times are too long."""

from collections.abc import Sequence

from brlbench.results.summary import Summary

from .markdown import listed

BUSY = 0.1  # share of the time in which an agent could run
HALF = 0.5


def waited(summary: Summary, limit: float = BUSY) -> bool:
    """Whether an agent waited for a core for more than a share of its time."""
    return float(summary.machine.get("waiting_share", 0.0)) > limit


def number_waiting(summaries: Sequence[Summary], limit: float = BUSY) -> int:
    """The number of results that waited for more than a share of their time."""
    return sum(waited(summary, limit) for summary in summaries)


def who_waited(summaries: Sequence[Summary]) -> str:
    """The algorithms with such results, and how many of theirs are."""
    names = sorted({summary.algorithm for summary in summaries})
    of = {name: [each for each in summaries if each.algorithm == name] for name in names}
    count = {name: number_waiting(of[name]) for name in names}
    full = [name for name in names if count[name] == len(of[name])]
    some = [f"{count[n]} of {len(of[n])} of {n}" for n in names if 0 < count[n] < len(of[n])]
    parts = [f"all of {listed(full)}" if full else "", listed(some) if some else ""]
    return "; ".join(filter(None, parts)) or "none"
