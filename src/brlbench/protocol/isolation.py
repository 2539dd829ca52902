"""Restores process state changed by users' agents, for other agents and the caller.

Threads, memory and patched libraries can't be restored: studies run each user's agent in separate
processes.
"""

import decimal
import gc
import locale
import os
import pickle
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NoReturn

import numpy as np
from numpy.random import mtrand

from ..agents import AGENTS, describe
from ..agents.base import Agent, TrainingStopped
from ..errors import AgentError, reason
from ..streams import Words


def is_users(agent: Agent) -> bool:
    """True for a user's agent, False for a built-in one."""
    return type(agent) not in AGENTS.values()


class Visit:
    """The time during which an agent runs."""

    def __init__(self, agent: Agent) -> None:
        self.name = describe(agent)[0]
        self.is_interrupted = False  # whether a signal handler of the caller has run

    def blame(self, error: BaseException, where: str) -> NoReturn:
        """Raise an error that says where the agent failed, and why.

        Exceptions of the caller's signal handlers and progress callbacks are passed on.
        """
        is_signal = self.is_interrupted and not isinstance(error, Exception)
        if is_signal or isinstance(error, TrainingStopped):
            raise error
        raise AgentError(f"{self.name} failed {where}: {reason(error)}") from error

    @contextmanager
    def blaming(self, where: str) -> Iterator[None]:
        """Blame the agent for any exception raised in this context."""
        try:
            yield
        except BaseException as error:  # also SystemExit: an agent that exits has failed
            self.blame(error, where)


@contextmanager
def isolated(agent: Agent) -> Iterator[Visit]:
    """Let an agent run, then restore the process state that it changed."""
    visit = Visit(agent)
    with ExitStack() as stack:
        stack.enter_context(_shared_by_threads())
        stack.enter_context(np.errstate(call=np.geterrcall()))  # type: ignore[arg-type]
        stack.enter_context(np.printoptions())
        stack.enter_context(decimal.localcontext())
        if threading.current_thread() is threading.main_thread():
            stack.enter_context(_signals(visit))
        yield visit


def seed_globals(key: Words) -> None:
    """Seed `random` and `numpy.random`, for agents that use these instead of their generator."""
    random.seed(key.tobytes())
    np.random.seed(key.view(np.uint32))  # noqa: NPY002


def global_states() -> dict[str, Any]:
    """The states of `random` and `numpy.random`, by name."""
    of_numpy = np.random.get_state(legacy=False)  # noqa: NPY002
    return {"random": random.getstate(), "numpy.random": pickle.dumps(of_numpy)}


class GlobalNumbers:
    """Seeds the global generators for each trajectory, and notes whether an agent uses them."""

    def __init__(self) -> None:
        self.are_used = False
        self._before: dict[str, Any] = {}

    def seed(self, key: Words) -> None:
        """A trajectory begins."""
        seed_globals(key)
        if not self.are_used:
            self._before = global_states()

    def look(self) -> None:
        """A trajectory has ended."""
        self.are_used = self.are_used or global_states() != self._before


@contextmanager
def _signals(visit: Visit) -> Iterator[None]:
    """Note when a handler of the caller runs; restore handlers, the mask and the alarm."""

    def noting(handler: Callable[..., Any]) -> Callable[..., Any]:
        def handle(number: int, frame: Any) -> Any:
            visit.is_interrupted = True
            return handler(number, frame)

        return handle

    handlers = {number: signal.getsignal(number) for number in range(1, signal.NSIG)}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    has_alarm = any(signal.getitimer(signal.ITIMER_REAL))
    for number, handler in handlers.items():
        if callable(handler):
            signal.signal(number, noting(handler))
    try:
        yield
    finally:
        if not has_alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in handlers.items():
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)


_lock = threading.Lock()
_num_visits = 0
_undo = ExitStack()
_for_agents = np.random.MT19937(0)  # takes the place of the caller's, behind `numpy.random`


@contextmanager
def _shared_by_threads() -> Iterator[None]:
    """Restore the state that threads share, as soon as no agent runs in any of them."""
    global _num_visits
    with _lock:
        if _num_visits == 0:
            _save()
        _num_visits += 1
    try:
        yield
    finally:
        with _lock:
            _num_visits -= 1
            if _num_visits == 0:
                _undo.close()


def _save() -> None:
    _undo.enter_context(warnings.catch_warnings())
    _undo.callback(mtrand.set_bit_generator, mtrand.get_bit_generator())
    mtrand.set_bit_generator(_for_agents)
    for read, write in _SETTINGS:
        with suppress(OSError):  # the current folder may be gone
            _undo.callback(_set_back, write, read())


def _set_back(write: Callable[[Any], object], before: Any) -> None:
    with suppress(OSError, locale.Error):  # the folder may be gone
        write(before)


def _objects() -> tuple[Any, ...]:
    """Objects that an agent may change or replace; copies follow those that can be changed."""
    streams = sys.stdin, sys.stdout, sys.stderr
    return os.environ, dict(os.environ), sys.path, sys.path.copy(), streams


def _set_objects(before: tuple[Any, ...]) -> None:
    os.environ, variables, sys.path, folders, streams = before
    sys.stdin, sys.stdout, sys.stderr = streams
    sys.path[:] = folders
    if os.environ != variables:
        for name in os.environ.keys() - variables.keys():
            del os.environ[name]
        os.environ.update(variables)
        time.tzset()


_SETTINGS: list[tuple[Callable[[], Any], Callable[[Any], object]]] = [
    (os.getcwd, os.chdir),
    (_objects, _set_objects),
    (random.getstate, random.setstate),
    (lambda: locale.setlocale(locale.LC_ALL), lambda name: locale.setlocale(locale.LC_ALL, name)),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (sys.getswitchinterval, sys.setswitchinterval),
    (gc.isenabled, lambda enabled: gc.enable() if enabled else gc.disable()),
]
"""(read, write) of each setting of the process."""
