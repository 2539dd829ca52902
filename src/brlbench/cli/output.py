"""The streams of commands: `console` for results, `errors` for notes."""

import re
import sys

from rich.console import Console
from rich.text import Text

# Without emoji: names such as uniform:ring: hold none.
console = Console(emoji=False)
errors = Console(stderr=True, emoji=False)

# Codes that would move the cursor, change colours or turn text round; names can contain any.
_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def verbatim(text: object, style: str = "") -> Text:
    """A text as it is: no markup, and control characters as their codes; lines may end."""
    return Text(_CONTROLS.sub(_code, str(text)), style=style)


def one_line(text: str) -> str:
    """A text in one line, with control characters and ends of lines as their codes."""
    return _CONTROLS.sub(_code, text).replace("\n", "\\n")


def say(text: object) -> None:
    """Print a text verbatim, without breaking its lines."""
    console.print(verbatim(text), soft_wrap=True)


def write_out(data: bytes) -> None:
    """Print the content of a file, whose encoding is not the terminal's."""
    if sys.stdout is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


def _code(character: re.Match[str]) -> str:
    return repr(character[0])[1:-1]
