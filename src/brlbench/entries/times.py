"""Whether times are possible, given the calibration of the machine that took them.

A time is refused only if it is absurd. Machines differ in more than their calibration, and code may
have been written for one of them.
"""

import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from ..agents import make_agent
from ..arguments import format_seconds
from ..protocol import machine
from ..protocol.evaluate import evaluate
from ..protocol.experiment import Experiment
from ..testing.rules import Finding
from .content import machines_of
from .opened import Opened, Played, judged

ABSURD = 20.0  # times faster than here, on a machine as fast as this one
_MDPS = 20  # that `random` plays, to see how long the quickest decisions take


def possible_times(opened: Opened) -> Finding:
    """Times are positive, fit each other, and are not absurdly short for their machine."""
    problems = [f"{played}: {text}" for played in opened.results for text in _misfits(played)]
    means = [played.summary.seconds["mean"] for played in opened.results]
    seen = f"{format_seconds(min(means))} to {format_seconds(max(means))} per decision"
    return judged(problems, seen, "play it again, and pack the times that were measured")


def _misfits(played: Played) -> Iterator[str]:
    seconds, settings = played.summary.seconds, played.header.settings
    least = quickest_decision() * speed_of(played) / ABSURD
    if seconds["mean"] < least:
        yield (
            f"{format_seconds(seconds['mean'])} per decision is less than 1/{ABSURD:g} of what "
            f"random actions would take on its machine, {format_seconds(ABSURD * least)}"
        )
    if not math.isclose(seconds["total"], seconds["mean"] * settings["horizon"], rel_tol=1e-6):
        yield "its time per trajectory is not the sum of its decisions"
    ordered = [seconds[name] for name in ("median", "p95", "max") if name in seconds]
    if (np.diff(ordered) < 0).any() or seconds["mean"] > seconds.get("max", math.inf):
        yield "its median, 95th percentile, mean and longest time contradict each other"
    if (played.summary.overruns is None) != (played.summary.deadline is None):
        yield "it has late decisions and no deadline, or the reverse"


@cache
def quickest_decision() -> float:
    """Seconds that an agent takes here which only draws an action."""
    played = evaluate(make_agent("random"), Experiment("GC", num_mdps=_MDPS), progress=False)
    return float(np.median(played.decision_seconds))


def speed_of(played: Played) -> float:
    """How many times longer the machine that played takes than this one, by calibration.

    Of several machines, it is the fastest.
    """
    stated = [one["calibration_microseconds"] for one in machines_of(played)]
    return float(min(stated) / machine.calibration())
