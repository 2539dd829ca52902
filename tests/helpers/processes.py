"""Watching processes, for the tests of what starts and ends them."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brlbench.executors.dask import Dask


def environment(**more: str) -> dict[str, str]:
    """Variables for a process that imports these helpers."""
    path = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), **more}


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


TESTS = Path(__file__).parents[1]
PATIENCE = 300.0  # seconds, after which a test hangs for sure


def wait_for(condition: Callable[[], object]) -> None:
    """Return as soon as a condition holds."""
    deadline, pause = time.monotonic() + PATIENCE, 0.01
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(pause)
        pause = min(1.2 * pause, 0.2)  # asking can cost a process


def when(condition: Callable[[], object], action: Callable[[], object]) -> None:
    """Do something as soon as a condition holds, in the background."""

    def go() -> None:
        wait_for(condition)
        action()

    threading.Thread(target=go, daemon=True).start()


@contextmanager
def soon() -> Iterator[None]:
    """A context that must not hang."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < PATIENCE


def wait_for_the_end_of(processes: list[int]) -> None:
    """Return as soon as none of the processes runs."""
    wait_for(lambda: not any(map(is_running, processes)))


OWN_SPACE = ("unshare", "--user", "--map-root-user", "--mount")
"""Runs a command in a name space of its own, in which any user may mount folders."""


def can_mount() -> bool:
    """Whether this system allows such name spaces."""
    if shutil.which(OWN_SPACE[0]) is None:
        return False
    return not subprocess.run([*OWN_SPACE, "true"], capture_output=True, check=False).returncode


class Gate:
    """A gate, in a folder, at which units wait until the test lets them go on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def wait_for_units(self, number: int) -> None:
        """Wait until so many units have come to the gate since the beginning."""
        begun = self.folder / "begun"
        wait_for(lambda: begun.exists() and len(begun.read_text()) >= number)

    def open(self) -> None:
        """Let all units pass."""
        (self.folder / "open").touch()


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


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


def address_of(executor: "Dask") -> str:
    """The address of the scheduler of an executor."""
    address: str = executor.client.scheduler.address
    return address


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
