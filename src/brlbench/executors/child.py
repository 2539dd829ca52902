"""Units of work in a supervised process of their own, which may fail, hang, grow or die.

A `Child` is a process that performs units one after the other and is replaced when it ends.
It is no `multiprocessing.Process`, so that a daemonic process can have one as well.
"""

import fcntl
import importlib
import os
import pickle
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, Self

from ..errors import BrlbenchError, ExecutorError

Report = Callable[[Any], bool]
"""Sends a message to the parent, restarts the clock; True if the unit should stop early."""

Work = Callable[[Any, Report], Any]
"""What a unit calls, named as "module:function"."""


class Done(NamedTuple):
    """A unit returned this."""

    value: Any


class Failed(NamedTuple):
    """A unit raised, passed a limit, or ended its process too often."""

    reason: str


class Died(NamedTuple):
    """A unit's process ended, which says nothing about the unit: it can be tried again."""

    reason: str


Outcome = Done | Failed | Died


@dataclass(frozen=True)
class Limits:
    """What a unit may take: seconds without a report, bytes of resident memory (on Linux).

    Before its first report, in which it may have to compile, it has `preparation` seconds more.
    """

    seconds: float | None = None
    memory: int | None = None
    preparation: float = 0.0


NO_LIMITS = Limits()


class Pickled(NamedTuple):
    """An argument that only the child may unpickle: what it needs isn't known on the way there."""

    data: bytes


# A process that has not begun its unit after so long, with all its imports, never will.
_START_SECONDS = 120.0
_EXIT_SECONDS = 1.0
_MEMORY_CHECK_SECONDS = 0.05
_ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA", "VECLIB")
} | {"POLARS_MAX_THREADS": "1"}

# From the parent comes a pickled request or the word to stop, from the child a pair.
_STOP = b"stop"
_BEGAN, _REPORT, _END = "began", "report", "end"


class Child:
    """A process for units of work; it starts with the first one and never outlives this one.

    Args:
        core: the core it is pinned to, where the system can do that.
        path: folders to import modules from, after this process's own.
    """

    def __init__(self, core: int | None = None, path: tuple[str, ...] = ()) -> None:
        self._core = core
        self._path = path
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection[Any, Any] | None = None
        self._stopped = False
        self._killed = False
        self._performing = threading.Lock()
        self._sending = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def pid(self) -> int | None:
        """The process's id, if there is one."""
        return self._process.pid if self._process else None

    def perform(
        self,
        function_name: str,
        argument: Any,
        limits: Limits = NO_LIMITS,
        on_report: Callable[[Any], None] | None = None,
        attempts: int = 3,
    ) -> Outcome:
        """Call `function(argument, report)` in the process, again if the process ends by itself.

        `Died` comes back only after `stop` or `kill`: the unit was neither finished nor at fault.
        """
        try:
            request = pickle.dumps((function_name, argument))
        except Exception as error:
            return Failed(f"its argument can't be sent to a process: {told(error)}")
        with self._performing:
            for _ in range(attempts):
                outcome = self._attempt(request, limits, on_report)
                if not isinstance(outcome, Died) or self._stopped or self._killed:
                    return outcome
                reason = outcome.reason
        return Failed(f"its process ended {attempts} times: {reason}")

    def stop(self) -> None:
        """Ask the running unit, and all that follow, to stop early: `report` returns True."""
        with self._sending:
            self._stopped = True
            self._send(_STOP)

    def kill(self) -> None:
        """End the process at once and for good."""
        self._killed = True
        _kill_group(self._process)  # so that nothing waits for it to read
        with self._sending:
            _kill_group(self._process)  # if it was just being started
        with self._performing:
            self._end()

    def _attempt(
        self, request: bytes, limits: Limits, on_report: Callable[[Any], None] | None
    ) -> Outcome:
        with self._sending:
            if self._killed:
                return Died("killed on request")
            if self._process is None:
                self._start()
            self._send(request)
            if self._stopped:
                self._send(_STOP)
        try:
            return self._supervise(limits, on_report)
        except BaseException:
            self._end()
            raise

    def _start(self) -> None:
        ours, its = socket.socketpair()
        path = [entry or os.getcwd() for entry in sys.path]
        path += [entry for entry in (*self._path, os.getcwd()) if entry not in path]
        code = f"import sys; sys.path[:] = {path!r}; import brlbench.executors.child as worker; "
        code += f"worker.serve({its.fileno()}, {os.getpid()}, {self._core})"
        with its:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                bufsize=0,
                stdin=subprocess.PIPE,  # stays silent; its end is the end of this process
                stdout=2,  # what agents print is no result
                pass_fds=[its.fileno()],
                env={**os.environ, **_ONE_THREAD},
                start_new_session=True,  # Ctrl-C is for the parent to deal with
            )
        self._connection = Connection(ours.detach())

    def _send(self, message: bytes) -> None:
        if self._connection is not None:
            with suppress(OSError):  # a process that has ended is noticed when it is listened to
                self._connection.send_bytes(message)

    def _supervise(self, limits: Limits, on_report: Callable[[Any], None] | None) -> Outcome:
        assert self._connection is not None
        began, since = False, time.monotonic()
        preparation = limits.preparation
        while True:
            seconds = limits.seconds if began else _START_SECONDS
            if began and seconds is not None:
                seconds += preparation
            left = None if seconds is None else since + seconds - time.monotonic()
            if left is not None and left <= 0:
                self._end()
                return Failed(f"took more than {seconds:g} s" + ("" if began else " to begin"))
            if limits.memory is not None:
                used = self._memory()
                if used > limits.memory:
                    self._end()
                    return Failed(f"used {_size(used)} of memory, more than {_size(limits.memory)}")
                left = min(left or _MEMORY_CHECK_SECONDS, _MEMORY_CHECK_SECONDS)
            try:
                if not self._connection.poll(left):
                    continue
                kind, content = self._connection.recv()
            except (EOFError, OSError):
                return Died(self._end(_EXIT_SECONDS))
            except Exception as error:
                self._end()
                return Failed(f"its result can't be read: {told(error)}")
            if kind == _END:
                return content  # type: ignore[no-any-return]
            began, since = True, time.monotonic()
            if kind == _REPORT:
                preparation = 0.0
                if on_report is not None:
                    on_report(content)

    def _memory(self) -> int:
        """Bytes of resident memory; 0 where the system doesn't tell."""
        try:
            pages = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        except OSError:
            return 0
        return int(pages) * resource.getpagesize()

    def _end(self, patience: float = 0) -> str:
        """End the process, or let it end for some seconds, and say how it ended."""
        if self._process is None or self._connection is None:
            return "not running"
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        with self._sending:
            _kill_group(self._process)
            code = self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._connection.close()
            self._process = self._connection = None
        return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


def _kill_group(process: "subprocess.Popen[bytes] | None") -> None:
    """Kill a process and all that it has started."""
    if process is not None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def told(error: BaseException) -> str:
    """What went wrong, in words for a sentence."""
    return str(error) if isinstance(error, BrlbenchError) else f"{type(error).__name__}: {error}"


def _size(num_bytes: int) -> str:
    return f"{num_bytes / 1e9:.3g} GB" if num_bytes >= 1e9 else f"{num_bytes / 1e6:.3g} MB"


# For processes that perform units of several runs, such as the workers of a cluster.

_here = threading.local()
_lock = threading.Lock()
_children: dict[str, list[Child]] = {}
_stopped_runs: set[str] = set()


def perform_here(
    function_name: str,
    argument: Any,
    limits: Limits = NO_LIMITS,
    run: str = "",
    path: tuple[str, ...] = (),
) -> Outcome:
    """Perform a unit of a run in this thread's own child; see `Child.perform`.

    Raises if this process is about to end: the unit can be tried elsewhere.
    """
    with _lock:
        if run in _stopped_runs:
            return Died("stopped before it began")
        if getattr(_here, "run", None) != run:
            if hasattr(_here, "child"):
                _here.child.kill()
            _here.run, _here.child = run, Child(path=path)
            _children.setdefault(run, []).append(_here.child)
    outcome: Outcome = _here.child.perform(function_name, argument, limits)
    if isinstance(outcome, Died) and run not in _stopped_runs:
        raise ExecutorError("the worker has closed")
    return outcome


def stop_here(run: str = "") -> None:
    """Ask all units of a run in this process to stop early; those to come won't begin."""
    with _lock:
        _stopped_runs.add(run)
        for child in _children.get(run, []):
            child.stop()


def kill_here(run: str = "") -> None:
    """End all units of a run in this process at once; none will begin."""
    _stopped_runs.add(run)
    close_here(run)


def close_here(run: str = "") -> None:
    """End the children of a run, and the units they perform."""
    with _lock:
        for child in _children.pop(run, []):
            child.kill()


# From here on: in the child.


def serve(channel: int, parent: int, core: int | None) -> None:
    """Perform what the parent sends, one unit after the other, until the parent ends."""
    _end_with(parent)
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    connection: Connection[Any, Any] = Connection(channel)
    while True:
        try:
            message = connection.recv_bytes()
        except (EOFError, OSError):
            return
        if message == _STOP:
            continue  # the unit it was meant for has ended meanwhile
        outcome = _outcome(message, connection)
        try:
            connection.send((_END, outcome))
        except Exception as error:
            connection.send((_END, Failed(f"its result can't be sent: {told(error)}")))


def _outcome(request: bytes, connection: "Connection[Any, Any]") -> Outcome:
    stopping = False

    def report(message: Any) -> bool:
        nonlocal stopping
        connection.send((_REPORT, message))
        while connection.poll():
            stopping = connection.recv_bytes() == _STOP
        return stopping

    try:
        function_name, argument = pickle.loads(request)
        module, _, name = function_name.partition(":")
        if isinstance(argument, Pickled):
            argument = pickle.loads(argument.data)
        function: Work = getattr(importlib.import_module(module), name)
        connection.send((_BEGAN, None))
        return Done(function(argument, report))
    except BaseException as error:  # sys.exit in an agent is its failure, not ours
        return Failed(told(error))


def _end_with(parent: int) -> None:
    """End this process, with all it starts, within a second of its parent's end.

    The parent holds the other end of the standard input and never writes to it.
    """
    lifeline = os.dup(0)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    if hasattr(fcntl, "F_SETSIG"):  # Linux itself kills, even if something holds the GIL
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)

    def watch() -> None:
        while os.getppid() == parent and not select.select([lifeline], [], [], 0.5)[0]:
            pass
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
