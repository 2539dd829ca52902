import time

import numpy as np

from helpers.compiled import read_clocks

MILLISECOND = 1_000_000


def read(number: int) -> tuple[list[int], list[int]]:
    wall, cpu = np.zeros(number, np.int64), np.zeros(number, np.int64)
    read_clocks(wall, cpu)
    return wall.tolist(), cpu.tolist()


def test_clocks_never_go_back() -> None:
    for readings in read(20_000):
        assert min(np.diff(readings)) >= 0
        assert readings[-1] > readings[0]


def test_the_wall_clock_is_the_monotonic_one() -> None:
    """Each reading lies between two of Python's own."""
    read(1)  # compile
    for _ in range(100):
        before = time.monotonic_ns()
        (wall,), _ = read(1)
        after = time.monotonic_ns()
        assert before <= wall <= after


def test_the_processor_clock_is_that_of_the_thread() -> None:
    read(1)  # compile
    for _ in range(100):
        before = time.thread_time_ns()
        _, (cpu,) = read(1)
        after = time.thread_time_ns()
        assert before <= cpu <= after


def test_sleep_takes_wall_time_only() -> None:
    read(1)  # compile
    (wall_before,), (cpu_before,) = read(1)
    time.sleep(0.05)
    (wall_after,), (cpu_after,) = read(1)
    assert wall_after - wall_before >= 50 * MILLISECOND
    assert cpu_after - cpu_before < (wall_after - wall_before) / 2
