"""Where commands print: results to `console`, notes to `errors`."""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

console = Console()
errors = Console(stderr=True)


def say(text: object) -> None:
    """Print a text verbatim: without markup, without breaking its lines."""
    console.print(Text(str(text)), soft_wrap=True)


def print_notes(notes: Iterable[str]) -> None:
    """Print notes on results."""
    for note in notes:
        errors.print(Text(f"note: {note}"), soft_wrap=True)
