import os
import signal
from collections.abc import Callable
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any

import pytest

from brlbench.errors import InvalidInput
from brlbench.executors.base import Call, Died, Done, Failed, Limits
from brlbench.executors.local import Local
from helpers.processes import (
    PATIENCE,
    Gate,
    children_of,
    is_running,
    soon,
    wait_for,
    wait_for_the_end_of,
)

Children = Callable[[], list[int]]


@pytest.fixture
def own_children() -> Children:
    """The processes that a test has started; others are left alone."""
    others = children_of(os.getpid())
    return lambda: [pid for pid in children_of(os.getpid()) if pid not in others]


# On this machine.


def test_local_workers_perform_all_units(own_children: Children) -> None:
    with Local(2) as executor:
        futures = {
            executor.submit(Call("helpers.work:square", number)): number for number in range(50)
        }
        for future in as_completed(futures):
            assert future.result() == Done(futures[future] ** 2)
        assert executor.num_workers == 2
        pids = own_children()
        assert 1 <= len(pids) <= 2
    assert not any(map(is_running, pids))


@pytest.mark.usefixtures("all_cores")
def test_each_local_worker_has_a_core_of_its_own_if_there_are_enough(tmp_path: Path) -> None:
    available = os.sched_getaffinity(0)
    for workers, expected in [(len(available), 1), (len(available) + 1, len(available))]:
        gate = Gate(tmp_path / str(workers))
        with Local(workers) as executor:
            futures = [
                executor.submit(Call("helpers.work:gated_surroundings", str(gate.folder)))
                for _ in range(workers)
            ]
            gate.wait_for_units(workers)  # all at once, so each worker has one
            gate.open()
            around: list[Any] = [future.result() for future in futures]
        used = {tuple(outcome.value["cores"]) for outcome in around}
        assert {len(cores) for cores in used} == {expected}
        assert len(used) == (len(available) if expected == 1 else 1)


def test_the_limits_of_a_unit_are_its_own(tmp_path: Path) -> None:
    gate = Gate(tmp_path)
    with Local(2) as executor:
        slow = executor.submit(Call("helpers.work:hang", None, Limits(seconds=0.3)))
        good = executor.submit(Call("helpers.work:gated_square", (str(tmp_path), 3)))
        assert slow.result(PATIENCE) == Failed("took more than 0.3 s")
        gate.open()
        assert good.result() == Done(9)


def test_a_local_process_that_is_killed_affects_no_other_unit(
    own_children: Children, tmp_path: Path
) -> None:
    gate = Gate(tmp_path)
    with Local(2) as executor:
        units = [(str(tmp_path), number) for number in range(6)]
        futures = [executor.submit(Call("helpers.work:gated_square", unit)) for unit in units]
        gate.wait_for_units(2)
        killed = own_children()[0]
        os.kill(killed, signal.SIGKILL)
        wait_for_the_end_of([killed])
        gate.open()
        outcomes = [future.result() for future in futures]
    died = [n for n, outcome in enumerate(outcomes) if isinstance(outcome, Died)]
    assert len(died) == 1
    assert all(outcomes[n] == Done(n**2) for n in range(6) if n not in died)


def test_stopping_lets_units_end_early_and_begins_no_other(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    with Local(1) as executor:
        futures = [
            executor.submit(Call("helpers.work:report_until_stopped", str(begun))) for _ in range(3)
        ]
        wait_for(begun.exists)
        executor.stop()
        first, *others = [future.result(PATIENCE) for future in futures]
        assert isinstance(first, Done)
        assert all(isinstance(other, Died) for other in others)
        assert isinstance(executor.submit(Call("helpers.work:square", 1)).result(), Died)


def test_killing_ends_all_units_at_once(own_children: Children, tmp_path: Path) -> None:
    with Local(2) as executor:
        places = [tmp_path / str(number) for number in range(5)]
        futures = [executor.submit(Call("helpers.work:hang_at", str(place))) for place in places]
        wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
        executor.kill()
        assert all(isinstance(future.result(PATIENCE), Died) for future in futures)
        assert not own_children()


def test_an_exception_kills_what_runs(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    with soon(), pytest.raises(KeyboardInterrupt), Local(2) as executor:
        executor.submit(Call("helpers.work:hang_at", str(begun)))
        wait_for(begun.exists)
        raise KeyboardInterrupt


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_a_wrong_number_of_workers_is_refused(workers: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^workers = .*: must be a whole number at least 1$"):
        Local(workers)
