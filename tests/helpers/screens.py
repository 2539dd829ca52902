"""A terminal that remembers what is drawn on it."""

import io
from types import SimpleNamespace

import pytest

from brlbench import progress


class Screen(io.StringIO):
    """A terminal, or a notebook's output."""

    def isatty(self) -> bool:
        return True

    def seen(self) -> str:
        """What the line shows in the end: each return of the carriage overwrites."""
        line = ""
        for text in self.getvalue().split("\r"):
            line = text + line[len(text) :]
        return line.rstrip()


def patch_screen(monkeypatch: pytest.MonkeyPatch, columns: int = 80) -> Screen:
    """A terminal on which bars are drawn at every step."""
    screen = Screen()
    # Not sys.stderr itself, which pytest sets anew after fixtures.
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=screen, modules={}))
    monkeypatch.setattr(progress, "_REDRAWN_AFTER", -1.0)
    monkeypatch.setenv("COLUMNS", str(columns))
    return screen
