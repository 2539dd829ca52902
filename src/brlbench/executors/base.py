"""What all executors have in common."""

from concurrent.futures import Future
from typing import Any, Protocol, Self

from .. import machine
from ..errors import InvalidInput
from ..worker import NO_LIMITS, Limits, Outcome


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


def checked_workers(workers: int | None) -> int:
    """A number of workers; None means as many as there are cores."""
    if workers is None:
        return machine.cores()
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InvalidInput(f"workers = {workers!r}: must be a whole number, at least 1")
    return workers
