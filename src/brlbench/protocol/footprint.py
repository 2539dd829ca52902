"""Peak memory of an agent: growth of the process's peak RSS while it trains or plays.

Memory in use before, such as the program, its compiled code and earlier agents, does not count.
Only Linux can reset the peak of a process. Elsewhere, the memory of agents is not known.
"""

import ctypes
import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from pathlib import Path

from ..memory import process_bytes
from ..results.schema import largest

_MOST_GARBAGE = 2**21  # bytes that may be unreachable when something is measured
_least: int | None = None  # lowest RSS since the last gc.collect()
_lock = threading.Lock()
_begun = _ended = 0  # measurements in this process


def return_free_memory() -> None:
    """Return free memory to the system: an agent that reused it would seem to need less.

    gc.collect() takes a tenth of a second, so it is called only if the process has grown since the
    last time.
    """
    global _least
    trim = _malloc_trim()
    trim(0)
    resident = process_bytes("VmRSS") or 0
    if _least is None or resident > _least + _MOST_GARBAGE:
        gc.collect()
        trim(0)
        _least = resident = process_bytes("VmRSS") or 0
    _least = min(_least, resident)


@cache
def _malloc_trim() -> Callable[[int], object]:
    """The C library's function that returns free memory to the system, if it has one."""
    return getattr(ctypes.CDLL(None), "malloc_trim", lambda pad: None)


class Meter:
    """Measures the growth of this process's peak RSS in several contexts."""

    def __init__(self) -> None:
        self._peaks: list[int | None] = []

    @property
    def peak_bytes(self) -> int | None:
        """The largest growth; None if it is not known, or nothing was measured."""
        peak: int | None = largest(self._peaks)
        return peak

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Measure a context; overlapping ones, nested or in threads, have no known peak."""
        global _begun, _ended
        with _lock:
            _begun += 1
            number, is_alone = _begun, _begun == _ended + 1
        level = _reset_peak()
        try:
            yield
        finally:
            peak = process_bytes("VmHWM")
            with _lock:
                _ended += 1
                is_alone = is_alone and _begun == number
            if not is_alone or level is None or peak is None:
                self._peaks.append(None)
            else:
                self._peaks.append(max(0, peak - level))


def measuring(meter: Meter | None) -> AbstractContextManager[None]:
    """Measure a context if there is a meter."""
    return nullcontext() if meter is None else meter.measuring()


def _reset_peak() -> int | None:
    """Reset the peak RSS, and return it; None where the system can't do that."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return process_bytes("VmHWM")
