"""The end of every command: an exit code, and one sentence instead of a traceback.

`--debug`, anywhere on the command line, or the variable BRLBENCH_DEBUG adds the traceback.
"""

import errno
import io
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from ..errors import BrlbenchError, reason
from .output import one_line

DEBUG = "--debug"
_VARIABLE = "BRLBENCH_DEBUG"
_PLEASE_REPORT = (
    f"this is a bug of brlbench: please report it, with what the same command prints with {DEBUG}"
)


def run_to_end(command: Callable[[list[str]], object]) -> NoReturn:
    """Call a command with the arguments of this process, and end the process."""
    _print_any_text()
    arguments, debug = _without_debug(sys.argv[1:])
    try:
        code = _exit_code(command, arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        code = _say("interrupted", 130)
    except BrokenPipeError:  # as in `brlbench agents | head`: whoever reads has seen enough
        code = 1
    except Exception as error:
        if debug:
            traceback.print_exc()
        code = _say(f"error: {one_line(sentence_about(error))}", 1)
    _forget_unwritten()
    sys.exit(code)


def sentence_about(error: Exception) -> str:
    """The problem and its remedy."""
    if isinstance(error, BrlbenchError):
        return reason(error)
    if isinstance(error, MemoryError):
        what = f" ({error})" if str(error) else ""
        return f"there is not enough memory{what}: use smaller sizes or fewer workers"
    if isinstance(error, RecursionError):
        return "a value or a file is nested too deeply: make it flatter"
    if isinstance(error, OSError):
        return _system_says(error)
    return f"{reason(error)}: {_PLEASE_REPORT}"


def _system_says(error: OSError) -> str:
    if error.strerror is None or isinstance(error.filename, int):
        return reason(error)
    if error.filename is None and error.errno == errno.ENOENT:
        return "the current folder has been removed: change to another one"
    place = "a file or the output" if error.filename is None else os.fsdecode(error.filename)
    return f"{place} can't be read or written: {error.strerror}"


def _exit_code(command: Callable[[list[str]], object], arguments: list[str]) -> int:
    try:
        command(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _without_debug(arguments: list[str]) -> tuple[list[str], bool]:
    """The arguments without `--debug`, and whether a traceback is wanted."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = [argument for argument in arguments[:end] if argument != DEBUG]
    return options + arguments[end:], len(options) < end or bool(os.environ.get(_VARIABLE))


def _print_any_text() -> None:
    """Let characters that the output's encoding lacks be printed as their codes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _say(sentence: str, code: int) -> int:
    with suppress(OSError):  # the errors' output may be full or closed too
        print(sentence, file=sys.stderr, flush=True)
    return code


def _forget_unwritten() -> None:
    """Drop what an output did not take: Python would try again and complain at its very end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            with open(os.devnull, "w") as nothing:
                os.dup2(nothing.fileno(), stream.fileno())
