"""How much memory an agent needs: the process's peak while it trains or plays, less that before.

What was there before, such as the program, its compiled code and earlier agents, does not count.
Only Linux can reset the peak of a process. Elsewhere, the memory of agents is not known.
"""

import ctypes
import gc
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

from ..memory import process_bytes

_MOST_GARBAGE = 2**21  # bytes that may be unreachable when something is measured
_least: int | None = None  # resident bytes since unreachable objects were looked for
_lock = threading.Lock()
_begun = _ended = 0  # measurements in this process


def largest(peaks: Iterable[int | None]) -> int | None:
    """The largest peak; None if one of them is not known, or there are none."""
    known: list[int] = []
    for peak in peaks:
        if peak is None:
            return None
        known.append(peak)
    return max(known, default=None)


def settle() -> None:
    """Return free memory to the system: an agent that reused it would seem to need less.

    Looking for unreachable objects takes a tenth of a second, so this is done only if the process
    has grown since it was done last.
    """
    global _least
    _trim()
    resident = process_bytes("VmRSS") or 0
    if _least is None or resident > _least + _MOST_GARBAGE:
        gc.collect()
        _trim()
        _least = resident = process_bytes("VmRSS") or 0
    _least = min(_least, resident)


def _trim() -> None:
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Any:
    """The C library's function that returns free memory to the system; None if it has none."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None)


class Meter:
    """Measures by how much the memory of this process grows, at most, in some pieces of work."""

    def __init__(self) -> None:
        self._peaks: list[int | None] = []

    @property
    def peak_bytes(self) -> int | None:
        """The largest growth; None if it is not known, or nothing was measured."""
        return largest(self._peaks)

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Measure a piece of work; two at once, nested or in threads, can't be told apart."""
        global _begun, _ended
        with _lock:
            _begun += 1
            number, is_alone = _begun, _begun == _ended + 1
        level = _reset_peak()
        try:
            yield
        finally:
            peak = _peak()
            with _lock:
                _ended += 1
                is_alone = is_alone and _begun == number
            is_known = is_alone and level is not None and peak is not None
            self._peaks.append(max(0, peak - level) if is_known else None)


def measuring(meter: Meter | None) -> AbstractContextManager[None]:
    """Measure a piece of work if there is a meter."""
    return nullcontext() if meter is None else meter.measuring()


def _reset_peak() -> int | None:
    """Make the memory in use the peak, and return it; None where the system can't do that."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return _peak()


def _peak() -> int | None:
    return process_bytes("VmHWM")
