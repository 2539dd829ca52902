"""The guard of a process for calls: it ends all that the process leaves behind.

Processes that a call starts may outlive it, even in sessions of their own. A guard is the parent of
its process, and on Linux also of all that this process orphans.
"""

import ctypes
import os
import resource
import select
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36  # from Linux's prctl.h
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_CHECK_SECONDS = 0.5


def fork_guarded(parent: int, channel: int) -> None:
    """Go on in a new process; this one becomes its guard, which ends when its parent does.

    The parent holds the other end of the standard input and never writes to it.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash must not fill the disk
    _prctl(_SET_CHILD_SUBREAPER, 1)
    guard = os.getpid()
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    # Before the fork, so that no signal is missed: each writes its number.
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, *_ENDING):
        signal.signal(number, lambda number, frame: None)
    guarded = os.fork()
    if guarded:
        os.close(channel)
        _guard(guarded, parent, wake)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, *_ENDING):
        signal.signal(number, signal.SIG_DFL)
    os.close(wake)
    os.close(woken)
    os.setpgid(0, 0)
    _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != guard:
        os._exit(1)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)


def _guard(guarded: int, parent: int, wake: int) -> NoReturn:
    """Wait for the end of the process, of the parent or of this; end all in the same way."""
    status = None
    while status is None and os.getppid() == parent:
        ready, _, _ = select.select([0, wake], [], [], _CHECK_SECONDS)
        if 0 in ready:
            break
        ending = set(os.read(wake, 4096)) - {signal.SIGCHLD} if wake in ready else set()
        status = min(ending) if ending else _reaped().get(guarded)
    _end_all(guarded)
    if status is None:
        os._exit(0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


def _reaped() -> dict[int, int]:
    """The status of each child that has ended since the last call."""
    statuses = {}
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            statuses[ended[0]] = ended[1]
    return statuses


def _end_all(guarded: int) -> None:
    """End a process, its group, and on Linux all that has descended from it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(guarded, signal.SIGKILL)
    # The children of a child that has ended are this process's.
    while killed := [child for child in _children(guarded) if _kill(child)]:
        for child in killed:
            with suppress(ChildProcessError):
                os.waitpid(child, 0)


def _children(guarded: int) -> list[int]:
    """The children of this process; where the system doesn't tell, only the one it guards."""
    if not Path("/proc/self/stat").exists():
        return [guarded]
    children = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = stat.read_bytes().rpartition(b")")[2].split()[1]
            if int(parent) == os.getpid():
                children.append(int(stat.parent.name))
    return children


def _kill(pid: int) -> bool:
    """Kill a process; False if there is none, or if it is another user's."""
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _prctl(option: int, value: int) -> None:
    """Call Linux's prctl; does nothing elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
