import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import as_completed
from typing import Any

import pytest

from brlbench.errors import InvalidInput
from brlbench.executors import Local
from brlbench.executors.base import Died, Done, Failed, Limits
from helpers.processes import children_of, is_running, wait_for

Children = Callable[[], list[int]]


@pytest.fixture
def own_children() -> Children:
    """The processes that a test has started; others are left alone."""
    others = children_of(os.getpid())
    return lambda: [pid for pid in children_of(os.getpid()) if pid not in others]


# On this machine.


def test_local_workers_perform_all_units(own_children: Children) -> None:
    with Local(2) as executor:
        futures = {executor.submit("helpers.work:square", number): number for number in range(50)}
        for future in as_completed(futures):
            assert future.result() == Done(futures[future] ** 2)
        assert executor.num_workers == 2
        pids = own_children()
        assert 1 <= len(pids) <= 2
    assert not any(map(is_running, pids))


def test_each_local_worker_has_a_core_of_its_own_if_there_are_enough() -> None:
    available = os.sched_getaffinity(0)
    for workers, expected in [(len(available), 1), (len(available) + 1, len(available))]:
        with Local(workers) as executor:
            futures = [
                executor.submit("helpers.work:slow_surroundings", None) for _ in range(workers)
            ]
            around: list[Any] = [future.result() for future in futures]
        used = {tuple(outcome.value["cores"]) for outcome in around}
        assert {len(cores) for cores in used} == {expected}
        assert len(used) == (len(available) if expected == 1 else 1)


def test_the_limits_of_a_unit_are_its_own() -> None:
    with Local(2) as executor:
        slow = executor.submit("helpers.work:hang", None, Limits(seconds=0.3))
        good = executor.submit("helpers.work:slow_square", 3, Limits(seconds=5))
        assert slow.result() == Failed("took more than 0.3 s")
        assert good.result() == Done(9)


def test_a_local_process_that_is_killed_does_not_change_results(own_children: Children) -> None:
    with Local(2) as executor:
        futures = [executor.submit("helpers.work:slow_square", number) for number in range(12)]
        wait_for(futures[1].done)
        for pid in own_children():
            os.kill(pid, signal.SIGKILL)
        assert [future.result() for future in futures] == [Done(n**2) for n in range(12)]


def test_stopping_lets_units_end_early_and_begins_no_other() -> None:
    with Local(1) as executor:
        futures = [executor.submit("helpers.work:report_every", 0.1) for _ in range(3)]
        time.sleep(0.5)
        executor.stop()
        first, *others = [future.result() for future in futures]
        assert isinstance(first, Done) and first.value < 10
        assert all(isinstance(other, Died) for other in others)
        assert isinstance(executor.submit("helpers.work:square", 1).result(), Died)


def test_killing_ends_all_units_at_once(own_children: Children) -> None:
    with Local(2) as executor:
        futures = [executor.submit("helpers.work:hang", None) for _ in range(5)]
        wait_for(lambda: len(own_children()) == 2)
        threading.Timer(0.2, executor.kill).start()
        started = time.monotonic()
        assert all(isinstance(future.result(), Died) for future in futures)
        assert time.monotonic() - started < 30  # and not a minute
        assert not own_children()


def test_an_exception_kills_what_runs() -> None:
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Local(2) as executor:
        executor.submit("helpers.work:hang", None)
        raise KeyboardInterrupt
    assert time.monotonic() - started < 30  # and not a minute


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_a_wrong_number_of_workers_is_refused(workers: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^workers = .*: must be a whole number, at least 1$"):
        Local(workers)
