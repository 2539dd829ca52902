"""Processes: their descendants, and the processor time that they use."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

# Bound before any agent's code is imported, which could put other clocks in their place.
from time import process_time_ns, thread_time_ns

_USER_TIME, _END = 11, 15  # places of four times in a process's `stat`, after its name


def descendants(pid: int) -> Iterator[int]:
    """All descendants of a process; none where the system doesn't tell."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb", 0) as file:
            for child in map(int, file.read().split()):
                yield child
                yield from descendants(child)


def tree_seconds(pid: int) -> float | None:
    """Processor seconds of a process, of those it has waited for, and of all its descendants.

    None where the system doesn't tell.
    """
    known = list(filter(None, map(_seconds, (pid, *descendants(pid)))))
    return sum(known) if known else None


def own_nanoseconds() -> int:
    """Processor time of this process and of all that it started."""
    return thread_time_ns() + others_nanoseconds()


def others_nanoseconds() -> int:
    """Processor time of all threads but this one, and of all processes that this one started."""
    threads = process_time_ns() - thread_time_ns()
    usage, pid = getrusage(RUSAGE_CHILDREN), os.getpid()
    children = usage.ru_utime + usage.ru_stime
    children += sum(_seconds(child) or 0.0 for child in descendants(pid))
    return threads + int(children * 1e9)


def _seconds(pid: int) -> float | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return sum(map(int, fields[_USER_TIME:_END])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return None
