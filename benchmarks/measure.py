"""Cases that are measured in turn, and the figures that come of it, with their spread.

In every round each case is measured once, next to the calibration (`brlbench.kernels.calibration`)
and to its lower bound, so that a disturbance of the machine affects all of them alike. Time in
which this thread waited for a core is subtracted.

Less is better in every figure. Its ratios are

- `plain`: how many times faster it is than short and obvious Python with NumPy (`plain.py`);
- `bound`: how many times slower it is than what can't be avoided (`bounds.py`), at its fastest.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from brlbench.agents import Agent
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.machine import Waiting, measure_calibration
from brlbench.protocol.playing import Part, play

_TRIES = 4

Measurement = Callable[[], float]


@dataclass(frozen=True)
class Case:
    """Something to measure; all its measurements have one unit."""

    topic: str
    name: str
    unit: str
    sample: Measurement
    bound: Measurement | None = None
    plain: Measurement | None = None  # slow, and therefore measured only once
    most: float | None = None  # what it should be at most
    series: str = ""  # cases of one series differ in size alone
    size: float = 0.0
    most_rounds: int = 1000
    is_rate: bool = False  # whether to show how many there are per second


@dataclass
class Figure:
    """What came of a case."""

    case: Case
    samples: list[float] = field(default_factory=list)
    calibrations: list[float] = field(default_factory=list)  # beside each sample
    bounds: list[float] = field(default_factory=list)
    plain: float | None = None

    @property
    def median(self) -> float:
        """The figure."""
        return float(np.median(self.samples))

    @property
    def ratios(self) -> dict[str, float | None]:
        """The figure as ratios; see above."""
        return {
            "plain": self.plain and self.plain / self.median,
            "bound": self.median / min(self.bounds) if self.bounds else None,
        }

    def to_json(self) -> dict[str, Any]:
        """All of it, for a file."""
        case, quartiles = self.case, np.quantile(self.samples, [0.25, 0.75])
        return {
            "topic": case.topic,
            "name": case.name,
            "unit": case.unit,
            "a_second": 1e6 / self.median if case.is_rate else None,
            "median": self.median,
            "min": min(self.samples),
            "quartiles": quartiles.tolist(),
            "ratios": self.ratios,
            "most": case.most,
            "series": case.series,
            "size": case.size,
            "samples": self.samples,
            "calibrations": self.calibrations,
            "bounds": self.bounds,
            "plain": self.plain,
        }


def measure(
    cases: Iterable[Case], rounds: int, told: Callable[[str], None] = lambda text: None
) -> list[Figure]:
    """Measure all cases, round after round."""
    figures = [Figure(case) for case in cases]
    for number in range(rounds):
        for figure in figures:
            if number < figure.case.most_rounds:
                told(f"round {number + 1} of {rounds}: {figure.case.topic}: {figure.case.name}")
                _measure_once(figure)
    return figures


def _measure_once(figure: Figure) -> None:
    case = figure.case
    figure.calibrations.append(measure_calibration(repeats=10, rounds=5))
    figure.samples.append(case.sample())
    if case.bound is not None:
        figure.bounds.append(case.bound())
    if case.plain is not None and figure.plain is None:
        figure.plain = case.plain()


def own_seconds(work: Callable[[], Any]) -> float:
    """Seconds that some work in this thread takes on a core of its own."""
    started, waiting = time.perf_counter(), Waiting()
    work()
    waited = waiting.seconds()  # read within the time from which it is subtracted
    return time.perf_counter() - started - waited


def wall_seconds(work: Callable[[], Any]) -> float:
    """Seconds that some work takes by the clock."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def own_microseconds(work: Callable[[int], Any], least_seconds: float = 2e-3) -> float:
    """The fastest time per repeat of compiled work, called with a number of repeats."""
    work(1)  # compiles
    repeats, seconds = 1, 0.0
    while seconds < least_seconds:
        repeats *= 4
        seconds = wall_seconds(partial(work, repeats))
    again = [wall_seconds(partial(work, repeats)) for _ in range(_TRIES)]
    return min(seconds, *again) / repeats * 1e6


def decision_microseconds(agent: Agent, experiment: Experiment) -> float:
    """The mean time of a decision, as it is recorded, on a core of its own."""
    started, waiting = time.perf_counter(), Waiting()
    record = play(agent, experiment, Part(0, experiment.num_trajectories))
    waited = waiting.seconds() / (time.perf_counter() - started)
    return float(record.nanoseconds.mean()) / 1e3 * (1 - waited)


def processor_microseconds(agent: Agent, experiment: Experiment) -> float:
    """The processor time of a decision: the median over trajectories."""
    record = play(agent, experiment, Part(0, experiment.num_trajectories))
    return float(np.median(record.cpu_nanoseconds)) / experiment.horizon / 1e3


def exponents(figures: Iterable[Figure]) -> dict[str, float]:
    """For each series the slope of the line through its points, all in logarithms."""
    points: dict[str, list[tuple[float, float]]] = {}
    for figure in figures:
        if figure.case.series:
            points.setdefault(figure.case.series, []).append((figure.case.size, figure.median))
    slopes = {}
    for series, found in points.items():
        if len(found) > 1:
            sizes, times = np.log(found).T
            slopes[series] = float(np.polyfit(sizes, times, 1)[0])
    return slopes
