import multiprocessing
import shutil
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.agents import make_agent
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.protocol import footprint
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.footprint import Meter
from brlbench.protocol.playing import Part, play
from brlbench.protocol.training import Training, train
from brlbench.results.display import format_number
from brlbench.results.schema import SUMMARISED, largest
from brlbench.storage import read_result
from brlbench.study.folder import Folder
from brlbench.study.plan import read_study
from helpers import hungry
from helpers.hungry import KINDS, MEGABYTE, Hungry
from helpers.sizes import thinned

needs_linux = pytest.mark.skipif(
    footprint._reset_peak() is None, reason="the system can't reset the peak of a process"
)


def build(num_mdps: int = 3, **changes: Any) -> Experiment:
    return Experiment("GC", num_mdps=num_mdps, horizon=5, **changes)


def peak_of(agent: Any, experiment: Experiment | None = None, **options: Any) -> int | None:
    return evaluate(agent, experiment or build(), **options).peak_bytes


def assert_near(peak: int | None, megabytes: float, tolerance: float = 4) -> None:
    assert peak is not None
    assert abs(peak / MEGABYTE - megabytes) < tolerance


@pytest.mark.slow  # starts processes
@needs_linux
@pytest.mark.parametrize("kind", thinned(KINDS, ("pieces", "cycle")))
def test_known_amounts_are_measured_in_any_order(kind: str) -> None:
    # What an agent has kept from its training is copied, and the copy plays.
    cases = {(0, 0, 0): 0, (60, 0, 0): 60, (0, 60, 0): 60, (0, 0, 60): 60}
    if kind != "objects":  # which are not copied
        cases[10, 30, 40] = 70
    tolerance = 10 if kind == "objects" else 4  # small objects fill gaps between others
    order = [*cases, *list(cases)[::-1]]
    # In a process of their own: gaps that other tests left would be filled.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        peaks = executor.submit(hungry.peaks_of, kind, order).result()
    for case, peak in zip(order, peaks, strict=True):
        assert_near(peak, cases[case], tolerance)


@needs_linux
def test_agents_that_the_caller_keeps_do_not_count() -> None:
    kept = Hungry(kept=60)
    assert_near(peak_of(kept), 60)
    assert_near(peak_of(Hungry()), 0)
    assert_near(peak_of(kept, training=Training(0.0, 0.0, 0)), 60)


@needs_linux
def test_the_arrays_of_a_compiled_agent_count() -> None:
    states = 600
    prior = FlatDirichlet(np.ones((states, 1, states)), np.zeros(states))
    large = Experiment(prior, num_mdps=1, horizon=2)
    agent = make_agent("epsilon-greedy")
    inverse = 8 * states**2
    for _ in range(2):
        assert_near(peak_of(make_agent("random")), 0)
        peak_of(agent, large)
        peak = peak_of(agent, large, training=Training(0.0, 0.0, 0))
        assert peak is not None
        size = sum(array.nbytes for array in _arrays(agent.arrays))  # type: ignore[attr-defined]
        assert inverse - 10**6 < peak < size + 10**6  # work space counts only where it is used


def _arrays(fields: tuple[Any, ...]) -> list[Any]:
    nested = [_arrays(field) for field in fields if isinstance(field, tuple)]
    own = [field for field in fields if isinstance(field, np.ndarray)]
    return sum(nested, own)


@needs_linux
def test_what_is_recorded_does_not_count() -> None:
    many, meter = Experiment("GC", num_mdps=500, horizon=2000), Meter()
    trained = train(make_agent("random"), many.prior, many.task, 0)
    record = play(trained.agent, many, Part(0, 500), meter)
    assert sum(array.nbytes for array in record) > 30 * MEGABYTE
    assert_near(meter.peak_bytes, 0)


@pytest.mark.slow  # starts processes
@needs_linux
def test_processes_know_it_and_threads_do_not() -> None:
    assert_near(peak_of(Hungry(kept=40, playing=20), workers=2), 60)
    assert peak_of(make_agent("random"), workers=2) is None
    trained = Hungry()
    assert peak_of(trained) is not None
    assert peak_of(trained, training=Training(0.0, 0.0)) is None  # that of training is not known


@needs_linux
def test_two_measurements_at_once_know_nothing() -> None:
    outer, inner, after = Meter(), Meter(), Meter()
    with outer.measuring():
        beside = threading.Thread(target=_measure, args=(inner,))
        beside.start()
        beside.join()
    assert (outer.peak_bytes, inner.peak_bytes) == (None, None)
    _measure(after)
    assert after.peak_bytes is not None


def _measure(meter: Meter) -> None:
    with meter.measuring():
        pass


def test_a_system_that_cannot_reset_the_peak_knows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(footprint, "_reset_peak", lambda: None)
    assert peak_of(Hungry()) is None
    assert peak_of(make_agent("random")) is None


def test_the_largest_peak_is_known_if_all_are() -> None:
    assert largest([1, 3, 2]) == 3
    assert largest([0]) == 0
    assert largest([]) is None
    assert largest([1, None]) is None


def test_sizes_in_words() -> None:
    sizes = (None, 0, 2**20 // 4, 5 * 2**20, 10 * 2**20 - 1, 123 * 2**20, 2**31)
    expected = ["\N{EN DASH}", "< 1 MiB", "< 1 MiB", "5.0 MiB", "10 MiB", "123 MiB", "2048 MiB"]
    assert [format_number(SUMMARISED["peak_bytes"], size) for size in sizes] == expected


STUDY = """
[[experiments]]
test = "GC"
num_mdps = 6
horizon = 5

[[agents]]
algorithm = "hungry:Hungry"
parameters.playing = [0, 40]
parameters.kept = 30

[[agents]]
algorithm = "epsilon-greedy"

[execution]
part = "1us"
workers = 2
"""


@needs_linux
@pytest.mark.slow
def test_a_study_joins_the_peaks_of_its_parts(tmp_path: Path) -> None:
    shutil.copy(hungry.__file__, tmp_path)
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(STUDY)
    assert bb.run(study, out, workers=1).left == 0
    agent = "hungry:Hungry(kept=30"
    expected = {f"{agent})": 30, f"{agent}, playing=40)": 70, "epsilon-greedy": 0}
    jobs = read_study(study).jobs
    assert len(jobs) == len(expected)
    for job in jobs:
        result = read_result(Folder(out).result(job))
        assert_near(result.peak_bytes, expected[result.label])
