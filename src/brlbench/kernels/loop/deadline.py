"""Stopping in time: for searches that can end after any of their simulations.

A decision is `act` and `observe`, the first one also `start`. So `act` ends early by what `start`
took, by what `observe` took the last time, and by a little, as times differ. Looking at the clock
takes time too; that is why `stride` simulations pass between two looks.
"""

from typing import NamedTuple

from ..jit import inlined
from ..types import Integers
from .clock import wall_time

START, OBSERVE, LOOKED, END = 0, 1, 2, 3
SIZE = 4
REST = 150  # nanoseconds; what a decision takes between all looks at the clock


class Deadline(NamedTuple):
    """How long a decision may take, and where it is."""

    limit: int  # nanoseconds; 0: as long as it needs
    stride: int  # simulations between two looks
    times: Integers  # [SIZE]; durations of START and OBSERVE, times when last LOOKED and of the END


@inlined
def now(deadline: Deadline) -> int:
    """The time, if there is a deadline."""
    return wall_time() if deadline.limit > 0 else 0


@inlined
def took(deadline: Deadline, part: int, since: int) -> None:
    """Keep in mind how long START or OBSERVE took."""
    if deadline.limit > 0:
        deadline.times[part] = wall_time() - since


@inlined
def begin(deadline: Deadline) -> int:
    """At the beginning of `act`: when it has to end."""
    times, limit = deadline.times, deadline.limit
    times[LOOKED] = now(deadline)
    # An interruption may have made it look as if `observe` took all the time there is.
    kept = times[START] + min(times[OBSERVE], limit // 2) + REST + limit // 128
    times[START] = 0
    times[END] = times[LOOKED] + limit - kept
    return times[END]


@inlined
def share(deadline: Deadline, end: int, parts: int) -> None:
    """Let the search that begins now end when an equal part of the time left is over."""
    if deadline.limit > 0:
        times = deadline.times
        times[LOOKED] = wall_time()
        times[END] = times[LOOKED] + (end - times[LOOKED]) // parts


@inlined
def is_over(deadline: Deadline, done: int) -> bool:
    """After some simulations: whether there is no time for as many as since the last look.

    Twice that time, as they differ.
    """
    if deadline.limit == 0 or (done - 1) % deadline.stride != 0:
        return False
    times, time = deadline.times, wall_time()
    step = time - times[LOOKED]
    times[LOOKED] = time
    return time + 2 * step > times[END]
