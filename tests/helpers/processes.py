"""Watching processes, for the tests of what starts and ends them."""

import time
from collections.abc import Callable
from pathlib import Path


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for(condition: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


def children_of(pid: int) -> list[int]:
    """The processes that a process has started and that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == pid and state not in "ZX":
            found.append(int(stat.parent.name))
    return found


def descendants_of(pid: int) -> list[int]:
    """The children of a process, their children, and so on."""
    children = children_of(pid)
    return children + [found for child in children for found in descendants_of(child)]


def processes_with(text: str) -> list[int]:
    """The processes that run with some text in their environment."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            has_text = text.encode() in environment.read_bytes()
        except OSError:
            continue
        if has_text and is_running(int(environment.parent.name)):
            found.append(int(environment.parent.name))
    return found
