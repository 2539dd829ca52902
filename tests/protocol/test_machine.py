import json
import os
import platform
import threading
from collections import Counter

import pytest

from brlbench import Experiment, __version__, evaluate, make_agent
from brlbench.protocol import machine


def test_what_is_said_about_the_machine() -> None:
    said = machine.describe()
    assert json.loads(json.dumps(said)) == said
    assert said["processor"]
    assert said["cores"] == os.cpu_count()
    assert platform.system() in said["system"]
    assert said["versions"]["brlbench"] == __version__
    assert said["versions"]["python"] == platform.python_version()
    assert set(said["versions"]) == {"brlbench", "python", "numba", "numpy", "polars"}
    assert said["calibration_microseconds"] == pytest.approx(machine.calibration(), abs=1e-3)


def test_the_machine_is_measured_once() -> None:
    assert machine.describe() is machine.describe()
    assert machine.calibration() == machine.calibration()


def test_the_calibration_is_a_time_of_one_solution() -> None:
    """At least what 2,500 products and sums take: more than a microsecond."""
    assert machine.measure_calibration(repeats=20, rounds=3) > 1


@pytest.mark.parametrize(("workers", "share"), [(1, 0.0), (2, 0.25)])
def test_each_thread_that_plays_measures_its_own_waiting(
    workers: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the main thread never waits, and others wait for a quarter of their time."""
    main, calls = threading.get_ident(), Counter[int]()

    def run_and_wait_time() -> tuple[int, int]:
        thread = threading.get_ident()
        calls[thread] += thread != main
        return 3 * calls[thread], calls[thread]

    monkeypatch.setattr(machine, "_run_and_wait_time", run_and_wait_time)
    experiment = Experiment("GC", num_mdps=20, horizon=5)
    result = evaluate(make_agent("random"), experiment, workers=workers)
    assert result.machine["waiting_share"] == share
    assert ("machine overloaded: 25% waiting" in repr(result)) == (share > 0)
