"""The machine that results are made on: its processor, its speed, and the versions in use."""

import os
import platform
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np


@cache
def describe() -> dict[str, Any]:
    """The machine, the versions and the calibration, as plain data."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "calibration_microseconds": round(calibration(), 3),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("brlbench", "numba", "numpy", "polars")},
        },
    }


@cache
def calibration() -> float:
    """Microseconds of one plain value iteration on this machine (see `kernels.calibration`)."""
    return measure_calibration(repeats=50, rounds=5)


def measure_calibration(repeats: int, rounds: int) -> float:
    """Measure the calibration: the fastest of several rounds of repeated solutions."""
    from ..kernels import calibration as kernels

    shape = (kernels.STATES, kernels.ACTIONS, kernels.STATES)
    transitions = np.random.Generator(np.random.PCG64(1)).exponential(size=shape)
    transitions /= transitions.sum(axis=2, keepdims=True)
    rewards = np.zeros(shape)
    rewards[:, :, 0] = 10
    work = np.zeros((2, kernels.STATES))
    problem = (transitions, rewards, work[0], work[1])
    kernels.time_value_iteration(*problem, 1, 1)  # compiles
    return kernels.time_value_iteration(*problem, repeats, rounds) / 1e3


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


class Waiting:
    """Measures how long this thread waits for a core, from now on."""

    def __init__(self) -> None:
        self._ran, self._waited = _run_and_wait_time()

    def seconds(self) -> float:
        """Seconds runnable but waiting for a core; 0 where the system does not tell."""
        return (_run_and_wait_time()[1] - self._waited) * 1e-9

    def share(self) -> float:
        """The share of runnable time spent waiting: 0 means a core of its own."""
        ran, waited = _run_and_wait_time()
        ran, waited = ran - self._ran, waited - self._waited
        return round(waited / (ran + waited), 4) if ran + waited else 0.0


def _run_and_wait_time() -> tuple[int, int]:
    try:
        ran, waited, _ = Path("/proc/thread-self/schedstat").read_text().split()
        return int(ran), int(waited)
    except (OSError, ValueError):
        return 0, 0
