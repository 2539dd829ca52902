"""Places of failures: the line in the agent's code, and the traceback."""

import os
import sysconfig
import traceback
from pathlib import Path
from types import TracebackType

from ..errors import BrlbenchError, encodable, reason

_MOST_CHARACTERS = 20_000  # of a traceback
_PACKAGE = str(Path(__file__).parents[1])
_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))


def reason_and_place(error: BaseException) -> str:
    """The error's message, followed by the file and the line of the user's code."""
    cause = error.__cause__ if isinstance(error, BrlbenchError) and error.__cause__ else error
    places = _places(cause.__traceback__)
    return reason(error) + (f" ({places[-1]})" if places else "")


def traceback_lines(error: BaseException) -> list[str]:
    """The traceback of an error; the beginning of a very long one is cut."""
    try:
        text = "".join(traceback.format_exception(error))
    except BaseException:  # a user's own class may fail to tell its message
        text = "".join(traceback.format_tb(error.__traceback__))
    return encodable(text[-_MOST_CHARACTERS:]).splitlines()


def _places(trace: TracebackType | None) -> list[str]:
    """The places outside this package, and outside libraries unless there are no others."""
    frames = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(trace)
        if not frame.f_code.co_filename.startswith((_PACKAGE, "<"))
    ]
    users = [place for place in frames if not place[0].co_filename.startswith(_LIBRARIES)]
    return [
        encodable(f"{_shorter(code.co_filename)}, line {line}, in {code.co_name}")
        for code, line in users or frames
    ]


def _shorter(path: str) -> str:
    """A path from the current folder, if it is below that."""
    try:
        return path.removeprefix(os.getcwd() + os.sep)
    except OSError:  # the current folder may be gone
        return path
