"""Calls inside a process that serves several runs, such as a worker of a Dask cluster.

Each thread of the process has a child of its own for the calls of a run.
"""

import threading

from ..errors import ExecutorError
from . import wire
from .base import Call, Died, Outcome
from .child import Child

_here = threading.local()
_lock = threading.Lock()
_children: dict[str, list[Child]] = {}
_stopped_runs: set[str] = set()


def perform_here(call: Call, run: str = "", path: tuple[str, ...] = ()) -> Outcome:
    """Make a call of a run, whose argument is packed, in this thread's child.

    Raises if this process is about to end: the call can be tried elsewhere.
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
    outcome = child.perform(call._replace(argument=wire.unpack(call.argument)))
    if isinstance(outcome, Died) and child.is_killed and run not in _stopped_runs:
        raise ExecutorError("the worker has closed")
    return outcome


def stop_here(run: str = "") -> None:
    """Ask all calls of a run in this process to stop early; start no others."""
    with _lock:
        _stopped_runs.add(run)
        for child in _children.get(run, []):
            child.stop()


def kill_here(run: str = "") -> None:
    """End all calls of a run in this process at once; start no others."""
    _stopped_runs.add(run)
    close_here(run)


def close_here(run: str = "") -> None:
    """End the children of a run, and the calls they make."""
    with _lock:
        for child in _children.pop(run, []):
            child.kill()
