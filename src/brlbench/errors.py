"""The errors that users see: one sentence with the value, its place and a remedy."""


class BrlbenchError(Exception):
    """The base of all errors raised on purpose by this package."""


class InvalidInput(BrlbenchError, ValueError):
    """A value that a user gave can't be used; the message says which, where and why."""


class AgentError(BrlbenchError):
    """An agent raised an exception or returned nonsense while training or playing."""


class StoreError(BrlbenchError):
    """A file can't be read, is damaged, or would be overwritten."""
