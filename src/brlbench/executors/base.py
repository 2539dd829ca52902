"""What all executors have in common."""

from concurrent.futures import Future
from typing import Any, Protocol, Self

from .child import NO_LIMITS, Limits, Outcome


class Executor(Protocol):
    """Performs units of work; leaving its context waits for them, an exception kills them."""

    @property
    def num_workers(self) -> int:
        """How many units can be performed at once."""

    def submit(
        self, function_name: str, argument: Any, limits: Limits = NO_LIMITS
    ) -> Future[Outcome]:
        """Have a unit performed: `function(argument, report)`, the function as "module:name"."""

    def stop(self) -> None:
        """Ask running units to stop early; no other begins."""

    def kill(self) -> None:
        """End all units at once."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None: ...
