"""What runs inside a child process: it performs the units that its parent sends."""

import fcntl
import os
import pickle
import select
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from ..arguments import import_named
from ..errors import reason
from .base import Done, Failed, Notify, Outcome

# The parent sends a pickled request or the word to stop; the child sends pairs (kind, content).
STOP = b"stop"
STARTED, MESSAGE, END = "started", "message", "end"

UnitFunction = Callable[[Any, Notify], Any]


class Pickled(NamedTuple):
    """An argument that only the child unpickles: processes on the way may lack its modules."""

    data: bytes


def serve(channel: int, parent: int, core: int | None) -> None:
    """Perform the units that the parent sends, one after the other, until the parent ends."""
    _end_with(parent)
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    connection: Connection[Any, Any] = Connection(channel)
    while True:
        try:
            message = connection.recv_bytes()
        except (EOFError, OSError):
            return
        if message == STOP:
            continue  # meant for a unit that has ended meanwhile
        outcome = _outcome(message, connection)
        try:
            connection.send((END, outcome))
        except Exception as error:
            connection.send((END, Failed(f"its result can't be sent: {reason(error)}")))


def _outcome(request: bytes, connection: "Connection[Any, Any]") -> Outcome:
    stopping = False

    def notify(message: Any) -> bool:
        nonlocal stopping
        connection.send((MESSAGE, message))
        while connection.poll():
            stopping = connection.recv_bytes() == STOP
        return stopping

    try:
        function_name, argument = pickle.loads(request)
        if isinstance(argument, Pickled):
            argument = pickle.loads(argument.data)
        function: UnitFunction = import_named(function_name, "function")
        connection.send((STARTED, None))
        return Done(function(argument, notify))
    except BaseException as error:  # also SystemExit: an agent that exits has failed
        return Failed(reason(error))


def _end_with(parent: int) -> None:
    """End this process, with all it starts, within a second of its parent's end.

    The parent holds the other end of the standard input and never writes to it.
    """
    lifeline = os.dup(0)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    if hasattr(fcntl, "F_SETSIG"):  # the kernel kills, even if something holds the GIL
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)

    def watch() -> None:
        while os.getppid() == parent and not select.select([lifeline], [], [], 0.5)[0]:
            pass
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
