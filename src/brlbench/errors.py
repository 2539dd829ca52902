"""The errors that users see: one sentence with the value, its place and a remedy."""

import difflib
from collections.abc import Iterable


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
    """What went wrong, as a part of a sentence."""
    return str(error) if isinstance(error, BrlbenchError) else f"{type(error).__name__}: {error}"


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """A hint that names the choice most like a word; empty if none is close."""
    by_lower = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1)
    return f" (did you mean {by_lower[close[0]]!r}?)" if close else ""
