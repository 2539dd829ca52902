"""Calls on a Dask cluster.

Each thread of each worker has a supervised process for calls (`here.perform_here`), so limits hold
there as well. Dask replaces a worker that ends and repeats its calls.
"""

import asyncio
import itertools
import math
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Self

from ..arguments import import_folders, num_workers, require
from ..errors import ExecutorError, InvalidInput, reason
from . import wire
from .base import Call, Died, Failed, Outcome
from .here import kill_here, perform_here, stop_here

_CONNECT_SECONDS = 10
_CHECK_SECONDS = 1.0
_GONE = (OSError, RuntimeError, AttributeError)  # raised by a client whose scheduler is gone
_UNABLE = "a Dask worker can't make calls: {}: install the same version of brlbench there"
REPEATS = 3  # of a call whose worker ended


class Dask:
    """The running Dask cluster of a scheduler, or a new one with workers on this machine."""

    def __init__(self, scheduler: str | None = None, workers: int | None = None) -> None:
        require("cluster", "distributed")
        self._scheduler = scheduler
        self._workers = num_workers(workers if scheduler is None else None)
        self._run = uuid.uuid4().hex
        self._path = _user_path()
        self._lock = threading.Lock()
        self._futures: dict[str, tuple[Future[Outcome], Future[Outcome]]] = {}  # ours and Dask's
        self._stopped = False
        self._numbers = itertools.count()
        self._counted = -math.inf  # when threads were counted last
        self._executor: Any = None
        self._context = ExitStack()  # closed with the executor
        self.client: Any = None
        self.num_finished = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack, uninterrupted():
            if self._scheduler is None:
                cluster = stack.enter_context(local_cluster(self._workers))
                self.connect(cluster, stack)
                # Dask gives up workers that don't come back soon: this replaces them.
                repeat(lambda: cluster.scale(self._workers), _CHECK_SECONDS, stack)
            else:
                self.connect(self._scheduler, stack)
            self._context = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._context:
            self.end(wait_for_calls=kind is None)

    def connect(self, scheduler: Any, stack: ExitStack) -> None:
        """Connect to a new cluster or to the scheduler at an address, until the stack is closed."""
        from distributed import Client

        from .plugin import RunPlugin

        is_new = not isinstance(scheduler, str)
        try:
            if not is_new:
                with ThreadPoolExecutor(1) as thread:  # there may be a loop in this one
                    thread.submit(asyncio.run, _ask(scheduler)).result()
            client = Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False)
        except Exception as error:  # whatever is there can answer anything
            raise InvalidInput(
                f"scheduler = {scheduler!r}: no Dask scheduler could be reached there within "
                f"{_CONNECT_SECONDS} s: {reason(error)}"
            ) from None
        self.client = stack.enter_context(client)
        self._executor = client.get_executor(pure=False, retries=REPEATS)
        try:
            client.register_plugin(RunPlugin(self._run, is_new), name=self._run)
        except Exception as error:
            raise InvalidInput(_UNABLE.format(reason(error))) from None

    def end(self, wait_for_calls: bool) -> None:
        """Wait for all calls or end them, and leave nothing on the workers."""
        if wait_for_calls:
            wait(future for future, _ in list(self._futures.values()))
        self.kill()
        with suppress(*_GONE):
            self.client.unregister_worker_plugin(self._run)

    @property
    def num_workers(self) -> int:
        """The number of concurrent calls; a running cluster may grow and shrink."""
        if self._scheduler is not None and time.monotonic() > self._counted + _CHECK_SECONDS:
            threads: dict[str, int] = self.client.nthreads()
            self._workers = max(1, sum(threads.values()))
            self._counted = time.monotonic()
        return self._workers

    @property
    def num_unfinished(self) -> int:
        """The number of calls that wait or are being made."""
        return len(self._futures)

    def submit(self, call: Call) -> Future[Outcome]:
        """Make a call on the next free worker."""
        future: Future[Outcome] = Future()
        future.set_running_or_notify_cancel()  # so that only `stop` can cancel it
        try:
            folders = tuple(import_folders(of_guests=True))
            packed = call._replace(argument=wire.pack(call.argument), folders=folders)
        except Exception as error:
            future.set_result(Failed(f"its argument can't be sent to a process: {reason(error)}"))
            return future
        with self._lock:
            if self._stopped:
                future.set_result(Died("stopped before it started"))
                return future
            key = f"call-{self._run}-{next(self._numbers)}"
            theirs = self._executor.submit(perform_here, packed, self._run, self._path, key=key)
            self._futures[key] = future, theirs
        theirs.add_done_callback(lambda theirs: self._finish(key, theirs))
        return future

    def stop(self) -> None:
        """Ask running calls to stop early; start no others."""
        self._stopped = True
        # In a thread of its own: a signal may have interrupted what holds the lock.
        threading.Thread(target=self._stop, daemon=True).start()

    def kill(self) -> None:
        """End all calls at once."""
        with self._lock:
            self._stopped = True
        self._cancel()
        self._on_workers(kill_here)

    def fail(self, error: ExecutorError) -> None:
        """Give up: the futures of all calls raise this error."""
        with self._lock:
            self._stopped = True
            futures = [future for future, _ in self._futures.values()]
            self._futures.clear()
        for future in futures:
            future.set_exception(error)

    def _stop(self) -> None:
        begun: set[str] = set()
        with suppress(*_GONE):
            begun.update(*self.client.processing().values())
        self._cancel(begun)
        self._on_workers(stop_here)

    def _cancel(self, begun: Collection[str] = ()) -> None:
        """Cancel the calls that have not begun, by their keys."""
        with self._lock:
            waiting = [theirs for key, (_, theirs) in self._futures.items() if key not in begun]
        for dask_future in waiting:
            dask_future.cancel()

    def _on_workers(self, function: Any) -> None:
        with suppress(*_GONE):
            self.client.run(function, self._run, on_error="ignore")

    def _finish(self, key: str, theirs: Future[Outcome]) -> None:
        """Complete the future of a call with its outcome, and forget the call."""
        with self._lock:
            future, _ = self._futures.pop(key, (None, None))
        if future is None:
            return
        try:
            future.set_result(self._outcome(theirs))
            self.num_finished += 1
        except ExecutorError as error:
            future.set_exception(error)

    def _outcome(self, theirs: Future[Outcome]) -> Outcome:
        from distributed import KilledWorker

        try:
            return theirs.result()
        except KilledWorker as error:
            return Died(f"its Dask worker was ended {error.allowed_failures + 1} times")
        except CancelledError:
            if self._stopped:
                return Died("stopped before it was finished")
            raise ExecutorError(
                "the Dask scheduler is gone: run the same command again to resume"
            ) from None
        except ExecutorError as error:  # of `perform_here`
            return Died(str(error))
        except Exception as error:
            raise ExecutorError(_UNABLE.format(reason(error))) from None


def local_cluster(workers: int) -> Any:
    """A cluster on this machine alone, whose workers each make one call at a time."""
    import dask
    from distributed import LocalCluster

    with dask.config.set({"distributed.scheduler.allowed-failures": REPEATS}):
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # a page of its state, on any free port
            memory_limit=0,  # calls have limits of their own
        )


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the end: a half-started cluster can't be ended cleanly."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupts:
        signal.raise_signal(signal.SIGINT)


def repeat(action: Callable[[], object], seconds: float, stack: ExitStack) -> None:
    """Repeat an action every `seconds`, in a thread, until the stack is closed."""
    ended = threading.Event()

    def go() -> None:
        while not ended.wait(seconds):
            action()

    thread = threading.Thread(target=go, daemon=True)
    stack.callback(thread.join)
    stack.callback(ended.set)
    thread.start()


async def _ask(address: str) -> None:
    """Raise unless a Dask scheduler answers; a client would wait for ever, or not close again."""
    from distributed import Security, rpc

    arguments = Security().get_connection_args("client")
    async with asyncio.timeout(_CONNECT_SECONDS), rpc(address, connection_args=arguments) as it:
        await it.identity()


def _user_path() -> tuple[str, ...]:
    """Import paths outside this Python, without the folders for guests."""
    installed = (sys.prefix, sys.base_prefix)
    folders = import_folders(of_guests=False)
    return tuple(folder for folder in folders if not folder.startswith(installed))
