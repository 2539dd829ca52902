"""A line that shows how far something is: in a terminal or a notebook, once it takes seconds.

It is plain text that overwrites itself, which terminals and notebooks show alike. It is drawn
between parts, so it does not disturb the times of decisions.
"""

import shutil
import sys
import threading
import time
from typing import Self, TextIO

from ..arguments import format_seconds

APPEARS_AFTER = 3.0
"""Seconds until a bar appears that nobody asked for."""

_REDRAWN_AFTER = 0.2  # seconds
_WIDTH = 12  # characters
_LONGEST_NAME = 30  # characters


class Bar:
    """A context with a line such as `beb on GC ███────── 125 of 500 trajectories, 9 s left`."""

    def __init__(self, name: str, total: int, unit: str, wanted: bool | None) -> None:
        """Decide whether and where to show the line.

        Args:
            name: what is going on.
            total: how many units there are.
            unit: what is counted, in the plural.
            wanted: whether to show it; None: if somebody watches and it takes some seconds.
        """
        shown = "".join(each if each.isprintable() else "?" for each in name)
        self._name = shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "…"
        self._total, self._unit = total, unit
        self._stream = None if wanted is False else _watched() or (sys.stderr if wanted else None)
        self._timer = threading.Timer(APPEARS_AFTER, self._appear)
        self._timer.daemon = True
        self._drawing = threading.Lock()
        self._line, self._length, self._drawn = self._name, 0, 0.0
        self._appears_at_once, self._has_appeared = wanted is True, False
        self._done, self._began = 0, time.monotonic()

    @property
    def is_used(self) -> bool:
        """Whether the line can appear."""
        return self._stream is not None

    def __enter__(self) -> Self:
        if self._appears_at_once:
            self._appear()
        elif self.is_used:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_used:
            self._timer.cancel()
            if self._timer.is_alive():
                self._timer.join()
            self._write("")

    def begin(self, stage: str) -> None:
        """Say what begins; the time left is estimated from now on."""
        self._done, self._began = 0, time.monotonic()
        self._show(f"{self._name}: {stage}")

    def advance(self, number: int) -> None:
        """Count units that are done."""
        share = (self._done + number) / self._total
        elapsed = time.monotonic() - self._began
        self.show(self._done + number, elapsed * (1 - share) / share)

    def show(self, done: int, seconds_left: float | None) -> None:
        """Show how many units are done in all."""
        self._done = done
        bar = ("█" * round(_WIDTH * done / self._total)).ljust(_WIDTH, "─")
        left = "" if seconds_left is None else f", {format_seconds(seconds_left, digits=2)} left"
        self._show(f"{self._name} {bar} {done} of {self._total} {self._unit}{left}")

    def _show(self, line: str) -> None:
        self._line = line
        if self._has_appeared and time.monotonic() - self._drawn > _REDRAWN_AFTER:
            self._write(line)

    def _appear(self) -> None:
        self._has_appeared = True
        self._write(self._line)

    def _write(self, line: str) -> None:
        """Overwrite the last line."""
        with self._drawing:
            if self._stream is not None and (line or self._length):
                line = line[: shutil.get_terminal_size().columns - 1]
                self._stream.write(f"\r{line.ljust(self._length)}" + ("" if line else "\r"))
                self._stream.flush()
                self._length, self._drawn = len(line), time.monotonic()


def _watched() -> TextIO | None:
    """Where somebody sees the line: a notebook or a terminal; None if there is neither."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ == "ZMQInteractiveShell":
        return sys.stdout
    return sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None
