"""What all executors share: units, their limits and their outcomes.

A unit is what a worker is given at once: a function, named as "module:function", and its argument.
The argument and what the function returns are plain data (`wire`).
"""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

Notify = Callable[[Any], bool]
"""Sends a message to the parent and restarts the unit's clock; returns True to stop early."""


class Done(NamedTuple):
    """A unit returned this value."""

    value: Any


class Failed(NamedTuple):
    """A unit raised, exceeded a limit, or ended its process."""

    reason: str
    traceback: tuple[str, ...] = ()  # lines; empty if it did not raise


class Died(NamedTuple):
    """A unit's process ended through no fault of the unit: it can be tried again."""

    reason: str


Outcome = Done | Failed | Died


@dataclass(frozen=True)
class Limits:
    """What a unit may use.

    Until its first message it has `preparation` seconds more, since it may have to compile.
    """

    seconds: float | None = None  # between messages
    total: float | None = None  # seconds from its first message to its end
    memory: int | None = None  # bytes of resident memory (on Linux)
    preparation: float = 0.0


NO_LIMITS = Limits()


class Executor(Protocol):
    """Performs units; leaving its context waits for them, an exception kills them."""

    @property
    def num_workers(self) -> int:
        """How many units run at once."""

    def submit(
        self,
        function_name: str,
        argument: Any,
        limits: Limits = NO_LIMITS,
        guest: str | None = None,
    ) -> Future[Outcome]:
        """Perform a unit: `function(argument, notify)`, the function named as "module:function".

        A guest is a user's own code that the unit runs. The process in which it ran performs
        no unit of another guest or without one, so what it did there affects no other.
        """

    def stop(self) -> None:
        """Ask running units to stop early; start no others."""

    def kill(self) -> None:
        """End all units at once."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None: ...
