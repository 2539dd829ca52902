"""The errors that users see: one sentence with the value, its place and a remedy."""

import difflib
import reprlib
from collections.abc import Iterable

_LONGEST = 1000  # characters of a message that are shown


class BrlbenchError(Exception):
    """The base of all errors raised on purpose by this package."""


class InvalidInput(BrlbenchError, ValueError):
    """A value that a user gave can't be used; the message says which, where and why."""


class Pointless(InvalidInput):
    """Values that are each allowed but make no sense together; studies skip them."""


class AgentError(BrlbenchError):
    """An agent raised an exception or returned nonsense while training or playing."""


class ExecutorError(BrlbenchError):
    """An executor can't go on; the message says why."""


class StoreError(BrlbenchError):
    """A file can't be read, is damaged, or would be overwritten."""


class WrongKind(StoreError):
    """A file of this package holds something other than was asked for."""


def reason(error: BaseException) -> str:
    """The kind and the message of an error, as a part of a sentence."""
    kind = "" if isinstance(error, BrlbenchError) else type(error).__name__
    return ": ".join(filter(None, [kind, said(error)]))


def said(error: BaseException) -> str:
    """The message of an error, cut if it is long; a user's own class may fail to tell it."""
    try:
        text = str(error)
    except BaseException:
        return "its message can't be read"
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"
    return encodable(shown)


def short(value: object) -> str:
    """A value for a message, cut if it is long; a user's own class may fail to show it."""
    try:
        return encodable(reprlib.repr(value))
    except BaseException:
        # Python prints no number of more than 4300 digits.
        is_number = isinstance(value, int)
        kind = type(value).__name__
        return "a number of thousands of digits" if is_number else f"something of type {kind}"


def encodable(text: str) -> str:
    """A text with escapes for halves of characters (surrogates), which no file can hold."""
    return text.encode(errors="backslashreplace").decode()


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """A hint that names the choice most like a word; empty if none is close."""
    by_lower = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1) or [
        choice for choice in by_lower if sorted(choice) == sorted(word.lower())
    ]
    return f" (did you mean {by_lower[close[0]]!r}?)" if close else ""
