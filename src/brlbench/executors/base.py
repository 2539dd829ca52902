"""The interface of all executors: calls, their limits and their outcomes.

Arguments and values of functions are plain data (`wire`).
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

POLL_SECONDS = 0.2  # a wait without a timeout can miss an interrupt
Notify = Callable[[Any], bool]
"""Callback of a function: sends a message to the parent, which restarts the call's clock.

It returns True if the function should stop early.
"""


class Done(NamedTuple):
    """The value that a function returned."""

    value: Any


class Failed(NamedTuple):
    """The function raised, exceeded a limit, or ended its process."""

    reason: str
    traceback: tuple[str, ...] = ()  # lines; empty if it did not raise


class Died(NamedTuple):
    """The process ended through no fault of the function: the call can be repeated."""

    reason: str


Outcome = Done | Failed | Died


@dataclass(frozen=True)
class Limits:
    """Limits of a call.

    Until its first message it has `preparation` seconds more, since it may have to compile.
    """

    seconds: float | None = None  # between messages
    total: float | None = None  # seconds from its first message to its end
    memory: int | None = None  # bytes of resident memory (on Linux)
    preparation: float = 0.0
    seconds_text: str = ""  # the limit as its user knows it
    total_text: str = ""


NO_LIMITS = Limits()


class Call(NamedTuple):
    """The call `function(argument, notify)`.

    A guest is the name of a user's agent that the function runs. Its process serves no other guest,
    and none after a failure, so its side effects reach no other agent. It alone imports from users'
    folders. A value that `check(argument, value, seconds)` refuses by raising is a failure of the
    guest; seconds are the processor time of all its processes since its first message, or None.
    """

    function_name: str  # "module:function"
    argument: Any  # plain data
    limits: Limits = NO_LIMITS
    guest: str | None = None
    folders: tuple[str, ...] = ()  # of users' modules, besides those of the process that calls
    check: str | None = None  # "module:function"
    read_only: str | None = None  # a folder that a process started for this call can't change


class Executor(Protocol):
    """Makes calls; leaving its context waits for them, an exception kills them."""

    @property
    def num_workers(self) -> int:
        """The number of concurrent calls."""

    def submit(self, call: Call) -> Future[Outcome]:
        """Make a call."""

    def stop(self) -> None:
        """Ask running calls to stop early; start no others."""

    def kill(self) -> None:
        """End all calls at once."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None: ...


def completed(futures: Iterable[Future[Any]]) -> Iterator[Future[Any]]:
    """The futures, in the order in which they complete; interrupts are not missed."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, POLL_SECONDS, FIRST_COMPLETED)
        yield from done
