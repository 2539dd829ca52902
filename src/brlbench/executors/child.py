"""Units in a supervised process, which may fail, hang, grow or die.

A `Child` is a process that performs units one after the other and is replaced when it ends. It is
not a `multiprocessing.Process`: daemonic processes could not start one.
"""

import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

from ..errors import reason
from .base import NO_LIMITS, Died, Failed, Limits, Outcome
from .serving import END, MESSAGE, STOP

# A process that has not imported all and started its unit by then never will.
_START_SECONDS = 120.0
_EXIT_SECONDS = 1.0
_MEMORY_CHECK_SECONDS = 0.05
_ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA", "VECLIB")
} | {"POLARS_MAX_THREADS": "1"}


class Child:
    """A process for units; it starts with the first one and never outlives this process.

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
        on_message: Callable[[Any], None] | None = None,
        attempts: int = 3,
    ) -> Outcome:
        """Call `function(argument, notify)` in the process; retry if the process ends by itself.

        `Died` is returned only after `stop` or `kill`: the unit neither finished nor failed.
        """
        try:
            request = pickle.dumps((function_name, argument))
        except Exception as error:
            return Failed(f"its argument can't be sent to a process: {reason(error)}")
        with self._performing:
            for _ in range(attempts):
                outcome = self._attempt(request, limits, on_message)
                if not isinstance(outcome, Died) or self._stopped or self._killed:
                    return outcome
                why = outcome.reason
        return Failed(f"its process ended {attempts} times: {why}")

    def stop(self) -> None:
        """Ask the running unit, and all that follow, to stop early: `notify` returns True."""
        with self._sending:
            self._stopped = True
            self._send(STOP)

    def kill(self) -> None:
        """End the process at once and for good."""
        self._killed = True
        _kill_group(self._process)  # or a full pipe would block `_sending`
        with self._sending:
            _kill_group(self._process)  # it may just have been started
        with self._performing:
            self._end()

    def _attempt(
        self, request: bytes, limits: Limits, on_message: Callable[[Any], None] | None
    ) -> Outcome:
        with self._sending:
            if self._killed:
                return Died("killed on request")
            if self._process is None:
                self._start()
            self._send(request)
            if self._stopped:
                self._send(STOP)
        try:
            return self._supervise(limits, on_message)
        except BaseException:
            self._end()
            raise

    def _start(self) -> None:
        ours, its = socket.socketpair()
        path = [entry or os.getcwd() for entry in sys.path]
        path += [entry for entry in (*self._path, os.getcwd()) if entry not in path]
        code = f"import sys; sys.path[:] = {path!r}; from brlbench.executors import serving; "
        code += f"serving.serve({its.fileno()}, {os.getpid()}, {self._core})"
        with its:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                bufsize=0,
                stdin=subprocess.PIPE,  # never written to; it closes when this process ends
                stdout=2,  # what agents print must not mix with results
                pass_fds=[its.fileno()],
                env={**os.environ, **_ONE_THREAD},
                start_new_session=True,  # only the parent handles Ctrl-C
            )
        self._connection = Connection(ours.detach())

    def _send(self, message: bytes) -> None:
        if self._connection is not None:
            with suppress(OSError):  # reading will notice that the process has ended
                self._connection.send_bytes(message)

    def _supervise(self, limits: Limits, on_message: Callable[[Any], None] | None) -> Outcome:
        assert self._connection is not None
        started, since = False, time.monotonic()
        preparation = limits.preparation
        while True:
            seconds = limits.seconds if started else _START_SECONDS
            if started and seconds is not None:
                seconds += preparation
            left = None if seconds is None else since + seconds - time.monotonic()
            if left is not None and left <= 0:
                self._end()
                return Failed(f"took more than {seconds:g} s" + ("" if started else " to begin"))
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
                return Failed(f"its result can't be read: {reason(error)}")
            if kind == END:
                return content  # type: ignore[no-any-return]
            started, since = True, time.monotonic()
            if kind == MESSAGE:
                preparation = 0.0
                if on_message is not None:
                    on_message(content)

    def _memory(self) -> int:
        """Bytes of resident memory; 0 where the system doesn't tell."""
        try:
            pages = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        except OSError:
            return 0
        return int(pages) * resource.getpagesize()

    def _end(self, patience: float = 0) -> str:
        """End the process, after `patience` seconds at the latest; return how it ended."""
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
    """Kill a process and all that it started."""
    if process is not None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _size(num_bytes: int) -> str:
    return f"{num_bytes / 1e9:.3g} GB" if num_bytes >= 1e9 else f"{num_bytes / 1e6:.3g} MB"
