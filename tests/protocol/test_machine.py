import json
import os
import platform

import pytest

from brlbench import __version__
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
