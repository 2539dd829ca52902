"""Units in processes on this machine."""

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Self

from ..arguments import num_cores, num_workers
from .base import NO_LIMITS, Died, Limits, Outcome
from .child import Child


@dataclass(eq=False)
class _Waiting:
    """A unit that no worker has begun."""

    function_name: str
    argument: Any
    limits: Limits
    guest: str | None
    future: Future[Outcome] = field(default_factory=Future)


class Local:
    """Processes on this machine, one per worker, each on a core of its own if there are enough."""

    def __init__(self, workers: int | None = None) -> None:
        workers = num_workers(workers)
        self.num_workers = workers
        self._children = [Child(core) for core in _cores(workers)]
        self._idle = list(reversed(self._children))
        self._waiting: list[_Waiting] = []
        self._choosing = threading.Lock()
        self._threads = ThreadPoolExecutor(workers)
        self._stopped = False

    def submit(
        self,
        function_name: str,
        argument: Any,
        limits: Limits = NO_LIMITS,
        guest: str | None = None,
    ) -> Future[Outcome]:
        """Perform a unit on a free worker, one with the unit's guest if there is one."""
        unit = _Waiting(function_name, argument, limits, guest)
        with self._choosing:
            self._waiting.append(unit)
        self._threads.submit(self._perform_one)
        return unit.future

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

    def _perform_one(self) -> None:
        child, unit = self._choose()
        try:
            if not unit.future.set_running_or_notify_cancel():
                return
            if self._stopped:
                unit.future.set_result(Died("stopped before it started"))
                return
            unit.future.set_result(
                child.perform(unit.function_name, unit.argument, unit.limits, unit.guest)
            )
        except BaseException as error:
            unit.future.set_exception(error)
        finally:
            with self._choosing:
                self._idle.append(child)

    def _choose(self) -> tuple[Child, _Waiting]:
        """An idle child and a unit: with the same guest if there are such, so that none restarts.

        Otherwise the child used last, which is running and warm, and the first unit.
        """
        with self._choosing:
            pairs = ((child, unit) for unit in self._waiting for child in reversed(self._idle))
            alike = (pair for pair in pairs if pair[0].guest == pair[1].guest)
            child, unit = next(alike, (self._idle[-1], self._waiting[0]))
            self._idle.remove(child)
            self._waiting.remove(unit)
        return child, unit


def _cores(workers: int) -> list[int | None]:
    """The core of each worker; all None if there are too few."""
    if not hasattr(os, "sched_getaffinity") or workers > num_cores():
        return [None] * workers
    return list(sorted(os.sched_getaffinity(0))[:workers])
