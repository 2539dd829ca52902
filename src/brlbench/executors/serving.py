"""The loop of a child process: it makes the calls that its parent sends."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from ..arguments import import_named
from ..errors import reason
from ..hosting import hidden
from . import wire
from .base import Notify
from .guard import fork_guarded
from .read_only import make_read_only
from .tracebacks import reason_and_place, traceback_lines

# The parent sends a request or the word to stop; the child sends pairs (kind, content).
STOP = b"stop"
STARTED, MESSAGE, DONE, FAILED = "started", "message", "done", "failed"


def serve(channel: int, parent: int, core: int | None, read_only: str | None) -> None:
    """Make the calls that the parent sends, one after the other, until the parent ends."""
    fork_guarded(parent, channel)
    if read_only is not None:
        make_read_only(read_only)
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    connection: Connection[Any, Any] = Connection(channel)
    with suppress(EOFError, OSError):  # the parent has ended, or a call has closed the connection
        while True:
            request = [connection.recv_bytes()]  # emptied, so that agents find no request in frames
            if request != [STOP]:  # or it was meant for a call that has ended meanwhile
                connection.send_bytes(_outcome(request, connection))
    with suppress(OSError):
        connection.close()


def _outcome(request: list[bytes], connection: "Connection[Any, Any]") -> bytes:
    try:
        call = _prepared(request.pop(), connection)
        connection.send_bytes(wire.pack((STARTED, os.getpid())))
        value = call()
    except BaseException as error:  # also SystemExit: an agent that exits has failed
        return wire.pack((FAILED, [reason_and_place(error), *traceback_lines(error)]))
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):  # a call may have put anything in their place
                stream.flush()
    try:
        return wire.pack((DONE, value))
    except Exception as error:
        return wire.pack((FAILED, [f"its result can't be sent: {reason(error)}"]))


def _prepared(request: bytes, connection: "Connection[Any, Any]") -> Callable[[], Any]:
    """The call that a request asks for."""
    stopping = False

    def notify(message: Any) -> bool:
        nonlocal stopping
        connection.send_bytes(wire.pack((MESSAGE, message)))
        while connection.poll():
            stopping = connection.recv_bytes() == STOP
        return stopping

    function_name, argument, folders = wire.unpack(request)
    sys.path[:0] = [folder for folder in folders if folder not in sys.path]
    function: Callable[[Any, Notify], Any] = import_named(function_name, "function")
    return hidden(partial(function, argument, notify))
