"""A progress bar for terminals, notebooks and pipes.

It is one line of plain text that overwrites itself, which terminals and notebooks show alike. In a
pipe, the bars of commands are a new line from time to time.
"""

import shutil
import sys
import threading
import time
from typing import Self, TextIO

from .arguments import counted, format_seconds

APPEARS_AFTER = 3.0
"""Seconds until a bar appears that nobody asked for."""

_REDRAWN_AFTER = 0.2  # seconds
_NEXT_LINE_AFTER = 30.0  # seconds, in a pipe
_WIDTH = 12  # characters
_SHORTEST_NAME = 10  # characters


class Bar:
    """A context with a line such as `beb on GC ███────── 125 of 500 trajectories, 9 s left`."""

    def __init__(
        self,
        name: str,
        total: float | None,
        counted: str = "",
        shown: bool | None = None,
        delay: float | None = None,
    ) -> None:
        """Decide whether and where to show the line.

        The number of steps is shown if they are `counted`, in the singular. If `shown` is None, the
        line appears in notebooks and terminals after `delay` seconds, in pipes only if it is given.
        """
        self._name, self._counted = _printable(name), counted
        self._stage: str | None = ""  # None: the number of steps is shown instead
        screen, in_pipe = _screen(), sys.stderr if shown or delay is not None else None
        self._stream = None if shown is False else screen or in_pipe
        self._is_log = screen is None and shown is None
        self._delay = 0.0 if shown else APPEARS_AFTER if delay is None else delay
        self._timer = threading.Timer(self._delay, self._appear)
        self._timer.daemon = True
        self._drawing = threading.Lock()
        self._length, self._drawn, self._has_appeared = 0, time.monotonic(), False
        self.done: float = 0  # steps
        self._total = total
        self._seconds_left: float | None = None
        self._began = time.monotonic()

    @property
    def is_used(self) -> bool:
        """True if the line can appear."""
        return self._stream is not None

    def __enter__(self) -> Self:
        if self.is_used and self._delay == 0:
            self._appear()
        elif self.is_used:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        if self._timer.is_alive():
            self._timer.join()
        if not self._is_log:
            self._write("")

    def begin(self, stage: str) -> None:
        """Name the stage that begins; the time left is estimated from now on."""
        self.done, self._stage, self._began = 0, f": {stage}", time.monotonic()
        self._redraw()

    def advance(self, number: float, total: float | None = None) -> None:
        """Count finished steps, and estimate the time left."""
        done, total = self.done + number, total or self._total
        elapsed = time.monotonic() - self._began
        left = elapsed * (total - done) / done if total and done else None
        self.show(done, left, total)

    def show(
        self,
        done: float,
        seconds_left: float | None = None,
        total: float | None = None,
        name: str | None = None,
    ) -> None:
        """Show the number of finished steps, and the time left if it is known."""
        self.done, self._seconds_left, self._stage = done, seconds_left, None
        self._total = total or self._total
        self._name = self._name if name is None else _printable(name)
        self._redraw()

    def _line(self) -> str:
        total, left = self._total, self._seconds_left
        if self._stage is not None or not total:
            return self._name + (self._stage or "")
        filled = min(_WIDTH, round(_WIDTH * self.done / total))
        rest = " " + "█" * filled + "─" * (_WIDTH - filled)
        rest += f" {self.done:g} of {counted(total, self._counted, 'g')}" if self._counted else ""
        rest += "" if left is None else f", {format_seconds(left, digits=2)} left"
        room = max(_SHORTEST_NAME, shutil.get_terminal_size().columns - 1 - len(rest))
        name = self._name if len(self._name) <= room else self._name[: room - 1] + "…"
        return name + rest

    def _redraw(self) -> None:
        pause = _NEXT_LINE_AFTER if self._is_log else _REDRAWN_AFTER
        if self._has_appeared and time.monotonic() - self._drawn > pause:
            self._write(self._line())

    def _appear(self) -> None:
        self._has_appeared = True
        if not self._is_log:
            self._write(self._line())

    def _write(self, line: str) -> None:
        """Overwrite the last line; add one in a pipe."""
        with self._drawing:
            if self._stream is not None and self._is_log:
                self._stream.write(f"{line}\n")
                self._stream.flush()
                self._drawn = time.monotonic()
            elif self._stream is not None and (line or self._length):
                line = line[: shutil.get_terminal_size().columns - 1]
                self._stream.write(f"\r{line.ljust(self._length)}" + ("" if line else "\r"))
                self._stream.flush()
                self._length, self._drawn = len(line), time.monotonic()


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else "?" for each in text)


def _screen() -> TextIO | None:
    """The output of a notebook, or the terminal; None if there is neither."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ == "ZMQInteractiveShell":
        return sys.stdout
    return sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None
