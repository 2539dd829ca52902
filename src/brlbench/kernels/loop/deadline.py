"""Stopping in time, for searches that can end after any simulation.

A decision is `act` and `observe`; the first decision includes `reset`. So `act` sets aside the time
that `reset` took, the time that `observe` took last, and a small reserve. Reading the clock takes
time too, so it is read only once per `stride` simulations.
"""

from typing import NamedTuple

from ..jit import inlined
from ..types import Integers
from .clock import wall_time

NO_LIMIT = 0
RESET, OBSERVE, CHECKED, END = 0, 1, 2, 3  # slots of `times`
NUM_TIMES = 4
REST = 150  # nanoseconds of a decision that pass outside of all measured parts


class Deadline(NamedTuple):
    """The time limit of a decision, and the times read so far."""

    limit: int  # nanoseconds, or NO_LIMIT
    stride: int  # simulations between two readings of the clock
    times: Integers  # [NUM_TIMES]; durations of RESET and OBSERVE; last reading (CHECKED); END


@inlined
def now(deadline: Deadline) -> int:
    """The time, or 0 if there is no limit."""
    return wall_time() if deadline.limit != NO_LIMIT else 0


@inlined
def took(deadline: Deadline, part: int, since: int) -> None:
    """Record how long RESET or OBSERVE took."""
    if deadline.limit != NO_LIMIT:
        deadline.times[part] = wall_time() - since


@inlined
def begin(deadline: Deadline) -> int:
    """Set and return the time at which the `act` that begins now has to end."""
    times, limit = deadline.times, deadline.limit
    times[CHECKED] = now(deadline)
    # After an interruption, the duration of `observe` may exceed the limit.
    set_aside = times[RESET] + min(times[OBSERVE], limit // 2) + REST + limit // 128
    times[RESET] = 0
    times[END] = times[CHECKED] + limit - set_aside
    return times[END]


@inlined
def share(deadline: Deadline, end: int, parts: int) -> None:
    """Give the search that begins now an equal part of the time left."""
    if deadline.limit != NO_LIMIT:
        times = deadline.times
        times[CHECKED] = wall_time()
        times[END] = times[CHECKED] + (end - times[CHECKED]) // parts


@inlined
def is_over(deadline: Deadline, done: int) -> bool:
    """True if the next stride would miss the deadline; it may take twice as long as the last."""
    if deadline.limit == NO_LIMIT or (done - 1) % deadline.stride != 0:
        return False
    times, time = deadline.times, wall_time()
    step = time - times[CHECKED]
    times[CHECKED] = time
    return time + 2 * step > times[END]
