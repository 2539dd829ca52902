"""Units inside a process that serves several runs, such as a worker of a Dask cluster.

Each thread of the process has a child of its own for the units of a run.
"""

import threading

from ..errors import ExecutorError
from . import wire
from .base import NO_LIMITS, Died, Limits, Outcome
from .child import Child

_here = threading.local()
_lock = threading.Lock()
_children: dict[str, list[Child]] = {}
_stopped_runs: set[str] = set()


def perform_here(
    function_name: str,
    packed_argument: bytes,
    limits: Limits = NO_LIMITS,
    guest: str | None = None,
    run: str = "",
    path: tuple[str, ...] = (),
) -> Outcome:
    """Perform a unit of a run in this thread's own child; see `Executor.submit`.

    Raises if this process is about to end: the unit can be tried elsewhere.
    """
    with _lock:
        if run in _stopped_runs:
            return Died("stopped before it started")
        if getattr(_here, "run", None) != run:
            if hasattr(_here, "child"):
                _here.child.kill()
            _here.run, _here.child = run, Child(path=path)
            _children.setdefault(run, []).append(_here.child)
    child: Child = _here.child
    outcome = child.perform(function_name, wire.unpack(packed_argument), limits, guest)
    if isinstance(outcome, Died) and child.is_killed and run not in _stopped_runs:
        raise ExecutorError("the worker has closed")
    return outcome


def stop_here(run: str = "") -> None:
    """Ask all units of a run in this process to stop early; start no others."""
    with _lock:
        _stopped_runs.add(run)
        for child in _children.get(run, []):
            child.stop()


def kill_here(run: str = "") -> None:
    """End all units of a run in this process at once; start no others."""
    _stopped_runs.add(run)
    close_here(run)


def close_here(run: str = "") -> None:
    """End the children of a run, and the units they perform."""
    with _lock:
        for child in _children.pop(run, []):
            child.kill()
