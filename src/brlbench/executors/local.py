"""Calls in processes on this machine."""

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from ..arguments import num_cores, num_workers
from .base import Call, Died, Outcome
from .child import Child


class Local:
    """Processes on this machine, one per worker, each on a core of its own if there are enough."""

    def __init__(self, workers: int | None = None) -> None:
        workers = num_workers(workers)
        self.num_workers = workers
        self._children = [Child(core) for core in _cores(workers)]
        self._idle = list(reversed(self._children))
        self._waiting: list[tuple[Call, Future[Outcome]]] = []
        self._choosing = threading.Lock()
        self._threads = ThreadPoolExecutor(workers)
        self._stopped = False

    def submit(self, call: Call) -> Future[Outcome]:
        """Make a call on a free worker, one with the call's guest if there is one."""
        future: Future[Outcome] = Future()
        with self._choosing:
            self._waiting.append((call, future))
        self._threads.submit(self._perform_one)
        return future

    def stop(self) -> None:
        """Ask running calls to stop early; start no others."""
        self._stopped = True
        for child in self._children:
            child.stop()

    def kill(self) -> None:
        """End all calls at once."""
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
        child, call, future = self._choose()
        try:
            if not future.set_running_or_notify_cancel():
                return
            stopped = Died("stopped before it started")
            future.set_result(stopped if self._stopped else child.perform(call))
        except BaseException as error:
            future.set_exception(error)
        finally:
            with self._choosing:
                self._idle.append(child)

    def _choose(self) -> tuple[Child, Call, Future[Outcome]]:
        """An idle child and a call: with the same guest if there are such, so that none restarts.

        Otherwise the child used last, which is running and warm, and the first call.
        """
        with self._choosing:
            pairs = ((child, each) for each in self._waiting for child in reversed(self._idle))
            alike = (pair for pair in pairs if pair[0].guest == pair[1][0].guest)
            child, waiting = next(alike, (self._idle[-1], self._waiting[0]))
            self._idle.remove(child)
            self._waiting.remove(waiting)
        return child, *waiting


def _cores(workers: int) -> list[int | None]:
    """The core of each worker; all None if there are too few."""
    if not hasattr(os, "sched_getaffinity") or workers > num_cores():
        return [None] * workers
    return list(sorted(os.sched_getaffinity(0))[:workers])
