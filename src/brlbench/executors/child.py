"""A supervised process for calls, which may fail, hang, grow or die.

A `Child` is a process that makes calls one after the other and is replaced when it ends. It is
not a `multiprocessing.Process`: daemonic processes could not start one.
"""

import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Self

from ..arguments import import_folders, import_named
from ..errors import reason
from ..memory import format_bytes, process_bytes
from ..processes import descendants, tree_seconds
from . import wire
from .base import Call, Died, Done, Failed, Limits, Outcome
from .serving import DONE, FAILED, MESSAGE, STARTED, STOP

TOOK_LONG = "took more than"
"""Prefix of timeout failures."""

# A process that has not imported all and started its call by then never will.
_START_SECONDS = 120.0
_NOT_STARTED = "its process has not started"
# A process that has closed its connection but not ended by then goes on without it.
_EXIT_SECONDS = 30.0
_GUARD_SECONDS = 10.0  # for its guard to end it, with all that it started
_MOST_SECONDS = 3600.0  # of waiting at once: the system can't wait for weeks
_MOST_BYTES = 2**31  # of one message
_MOST_OUTPUT = 10_000  # bytes that a call may print
_MEMORY_CHECK_SECONDS = 0.05
# Other signals, such as SIGSEGV, are caused by the process itself.
_OUTSIDE = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGXCPU")
_ONE_THREAD = {
    f"{library}_NUM_THREADS": "1"
    for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA", "VECLIB")
} | {"POLARS_MAX_THREADS": "1"}


class Clock:
    """The time that a call has left; messages of the call restart it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._heard = time.monotonic()
        self._first_message: float | None = None
        self.has_started = False

    def heard(self, kind: str) -> None:
        """Note that the call has started, or sent a message."""
        self.has_started, self._heard = True, time.monotonic()
        if kind == MESSAGE and self._first_message is None:
            self._first_message = self._heard

    def left(self) -> tuple[float, str]:
        """Seconds until the next timeout, and the length of that timeout in words."""
        limits, heard = self._limits, self._heard
        first, more = self._first_message, 0.0
        if not self.has_started:
            active: list[tuple[float, float | None, str]] = [(heard, _START_SECONDS, "")]
        elif first is None and limits.preparation:  # no limit that a user wrote is used up
            active = [(heard, limits.seconds, ""), (heard, limits.total, "")]
            more = limits.preparation
        else:
            active = [
                (heard, limits.seconds, limits.seconds_text),
                (heard if first is None else first, limits.total, limits.total_text),
            ]
        ends = [
            (since + most + more, text or f"{most + more:g} s")
            for since, most, text in active
            if most is not None
        ]
        end, text = min(ends, default=(math.inf, ""))
        return end - time.monotonic(), text


class Child:
    """A process for calls; it starts with the first one and never outlives this process."""

    def __init__(self, core: int | None = None, path: tuple[str, ...] = ()) -> None:
        self._core = core  # that it is pinned to, where the system can do that
        self._path = path  # folders to import modules from, after those of this process
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection[Any, Any] | None = None
        self._output: threading.Thread | None = None
        self._output_left = 0
        self.pid: int | None = None  # None: it has not begun a call
        self.guest: str | None = None  # that has run in the process
        self.is_killed = False
        self._stopped = False
        self._used: float | None = None  # processor seconds at the call's first message
        self._performing = threading.Lock()
        self._sending = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def perform(self, call: Call) -> Outcome:
        """Make a call in the process."""
        try:
            folders = [] if call.guest is None else [*import_folders(of_guests=True), *call.folders]
            request = wire.pack((call.function_name, call.argument, folders))
        except Exception as error:
            return Failed(f"its argument can't be sent to a process: {reason(error)}")
        with self._performing:
            if self.guest not in (None, call.guest):
                self._end()
            try:
                if not self._begin(request, call.read_only):
                    return Died("killed on request")
                self.guest = call.guest
                outcome = self._supervise(call.limits)
                if call.guest is not None:
                    outcome = self._checked(call, outcome)
                    if isinstance(outcome, Failed):
                        self._end()  # what the guest has changed must not reach its next call
                return outcome
            except BaseException:
                self._end()
                raise

    def stop(self) -> None:
        """Ask the running call, and all that follow, to stop early: `notify` returns True."""
        with self._sending:
            self._stopped = True
            self._send(STOP)

    def kill(self) -> None:
        """End the process at once and for good."""
        self.is_killed = True
        self._cut_lifeline()  # or a full pipe would block `_sending`
        with self._sending:
            self._cut_lifeline()  # it may just have been started
        with self._performing:
            self._end()

    def _begin(self, request: bytes, read_only: str | None) -> bool:
        """Send a request to the process, which is started if there is none; False if killed."""
        with self._sending:
            if self.is_killed:
                return False
            if self._process is None:
                self._start(read_only)
            self._output_left = _MOST_OUTPUT
            self._send(request)
            if self._stopped:
                self._send(STOP)
        return True

    def _start(self, read_only: str | None) -> None:
        ours, its = socket.socketpair()
        path = import_folders(of_guests=False)
        path += [entry for entry in self._path if entry not in path]
        code = f"import sys; sys.path[:] = {path!r}; from brlbench.executors import serving; "
        code += f"serving.serve({its.fileno()}, {os.getpid()}, {self._core}, {read_only!r})"
        with its:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                bufsize=0,
                stdin=subprocess.PIPE,  # never written to; it closes when this process ends
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,  # what agents print must not mix with results
                pass_fds=[its.fileno()],
                env={**os.environ, **_ONE_THREAD},
                start_new_session=True,  # only the parent handles Ctrl-C
            )
        self._connection = Connection(ours.detach())
        self._output = threading.Thread(target=self._pass_on, args=(self._process,), daemon=True)
        self._output.start()

    def _pass_on(self, process: "subprocess.Popen[bytes]") -> None:
        """Pass on the output of calls; a long one is cut, so that no log fills a disk."""
        assert process.stdout is not None
        with process.stdout as output:
            while data := output.read(2**16):
                shown = data[: self._output_left]
                self._output_left -= len(shown)
                if shown and not self._output_left:
                    shown += f"\n(more than {_MOST_OUTPUT} bytes: the rest is dropped)\n".encode()
                if sys.__stderr__ is not None:  # or another file may have its number
                    with suppress(OSError):
                        os.write(2, shown)

    def _send(self, message: bytes) -> None:
        if self._connection is not None:
            with suppress(OSError):  # reading will notice that the process has ended
                self._connection.send_bytes(message)

    def _supervise(self, limits: Limits) -> Outcome:
        assert self._connection is not None
        assert self._process is not None
        clock, self._used = Clock(limits), None
        while True:
            left, text = clock.left()
            if left <= 0:
                self._end()
                if not clock.has_started:
                    return Died(_NOT_STARTED)
                return Failed(f"{TOOK_LONG} {text}")
            left = min(left, _MOST_SECONDS)
            if limits.memory is not None:
                used = self._memory()
                if used > limits.memory:
                    self._end()
                    most = format_bytes(limits.memory)
                    return Failed(f"used {format_bytes(used)} of memory, more than {most}")
                left = min(left, _MEMORY_CHECK_SECONDS)
            try:
                if not self._connection.poll(left):
                    continue
                kind, content = wire.unpack(self._connection.recv_bytes(_MOST_BYTES))
            except (EOFError, ConnectionError):
                return self._how_it_ended()
            except (OSError, ValueError, TypeError) as error:
                self._end()
                return Failed(f"its result can't be read: {reason(error)}")
            if kind == DONE:
                return Done(content)
            if kind == FAILED:
                message, *lines = content if isinstance(content, list) and content else [content]
                return Failed(str(message), tuple(map(str, lines)))
            if kind == MESSAGE and self._used is None:
                self._used = tree_seconds(self._process.pid)
            clock.heard(kind)
            if kind == STARTED and self.pid is None:
                self.pid = content

    def _checked(self, call: Call, outcome: Outcome) -> Outcome:
        """The outcome of a guest's call, whose value may be refused."""
        if call.check is None or not isinstance(outcome, Done) or self._process is None:
            return outcome
        now = tree_seconds(self._process.pid)
        seconds = None if self._used is None or now is None else now - self._used
        try:
            import_named(call.check, "function")(call.argument, outcome.value, seconds)
        except Exception as error:
            return Failed(reason(error))
        return outcome

    def _memory(self) -> int:
        """Bytes of memory of the process and its descendants; 0 where the system doesn't tell."""
        assert self._process is not None
        pids = list(descendants(self._process.pid))
        if len(pids) == 1:
            return process_bytes("VmRSS", pids[0]) or 0
        # Of memory that n processes share, each counts 1/n.
        return sum(process_bytes("Pss", pid, "smaps_rollup") or 0 for pid in pids)

    def _how_it_ended(self) -> Outcome:
        """The outcome of a call whose process has ended."""
        assert self._process is not None
        try:
            code = self._process.wait(0 if self._goes_on() else _EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._end()
            return Failed("it closed the connection of its process")
        has_started = self.pid is not None
        self._end()
        if self.is_killed:
            return Died("killed on request")
        if code >= 0 and not has_started:
            return Died(f"{_NOT_STARTED}: exit code {code}")
        if code >= 0:
            return Failed(f"its process ended with exit code {code}")
        name = _signal_name(-code)
        if name not in _OUTSIDE:
            return Failed(f"its process crashed: {name}")
        cause = "from outside or for lack of memory" if name == "SIGKILL" else "from outside"
        return Died(f"its process was ended by {name}, {cause}")

    def _goes_on(self) -> bool:
        """True if the process is known to run on: Linux takes memory before it closes files."""
        return self.pid is not None and process_bytes("VmRSS", self.pid) is not None

    def _end(self) -> None:
        """End the process with all that it started."""
        if self._process is None or self._connection is None:
            return
        self._cut_lifeline()
        try:
            self._process.wait(_GUARD_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()  # the system kills what it guards
            self._process.wait()
        if self._output is not None:
            self._output.join(_GUARD_SECONDS)
        with self._sending:
            self._connection.close()
            self._process = self._connection = self._output = self.pid = self.guest = None

    def _cut_lifeline(self) -> None:
        """Tell the guard of the process to end it."""
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
