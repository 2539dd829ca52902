"""Units in processes on this machine."""

import os
from concurrent.futures import Future, ThreadPoolExecutor
from queue import LifoQueue
from typing import Any, Self

from ..arguments import num_cores, num_workers
from .base import NO_LIMITS, Died, Limits, Outcome
from .child import Child


class Local:
    """Processes on this machine, one per worker, each on a core of its own if there are enough."""

    def __init__(self, workers: int | None = None) -> None:
        workers = num_workers(workers)
        self.num_workers = workers
        self._children = [Child(core) for core in _cores(workers)]
        # The child used last comes first: it is running and warm.
        self._idle: LifoQueue[Child] = LifoQueue()
        for child in reversed(self._children):
            self._idle.put(child)
        self._threads = ThreadPoolExecutor(workers)
        self._stopped = False

    def submit(
        self, function_name: str, argument: Any, limits: Limits = NO_LIMITS
    ) -> Future[Outcome]:
        """Perform a unit on the next free worker."""
        return self._threads.submit(self._perform, function_name, argument, limits)

    def stop(self) -> None:
        """Ask running units to stop early; start no others."""
        self._stopped = True
        for child in self._children:
            child.stop()

    def kill(self) -> None:
        """End all units at once."""
        self._stopped = True
        for child in self._children:
            child.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.kill()
        self._threads.shutdown()
        self.kill()

    def _perform(self, function_name: str, argument: Any, limits: Limits) -> Outcome:
        if self._stopped:
            return Died("stopped before it started")
        child = self._idle.get()
        try:
            return child.perform(function_name, argument, limits)
        finally:
            self._idle.put(child)


def _cores(workers: int) -> list[int | None]:
    """The core of each worker; all None if there are too few."""
    if not hasattr(os, "sched_getaffinity") or workers > num_cores():
        return [None] * workers
    return list(sorted(os.sched_getaffinity(0))[:workers])
