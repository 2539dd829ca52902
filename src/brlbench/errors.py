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
    """What performs units of work can't go on; the message says why."""


class StoreError(BrlbenchError):
    """A file can't be read, is damaged, or would be overwritten."""


class WrongKind(StoreError):
    """A file is one of this package's, but holds something else than was asked for."""


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """A hint at the choice most like a word, or nothing."""
    by_lower = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1)
    return f" (did you mean {by_lower[close[0]]!r}?)" if close else ""
