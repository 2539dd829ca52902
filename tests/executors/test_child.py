import itertools
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brlbench.arguments import num_cores
from brlbench.errors import ExecutorError
from brlbench.executors import here
from brlbench.executors.base import Died, Done, Failed, Limits, Outcome
from brlbench.executors.child import Child
from helpers.processes import (
    PATIENCE,
    Gate,
    environment,
    is_running,
    processes_with,
    soon,
    wait_for,
    wait_for_the_end_of,
    when,
)


@pytest.fixture
def child() -> Iterator[Child]:
    with Child() as child:
        yield child


def value(outcome: Outcome) -> Any:
    assert isinstance(outcome, Done), outcome
    return outcome.value


def kill_process(child: Child) -> None:
    if child.pid is not None:
        os.kill(child.pid, signal.SIGKILL)


# Results.


def test_units_are_performed_in_the_same_process(child: Child) -> None:
    assert child.pid is None
    assert [value(child.perform("helpers.work:square", number)) for number in range(3)] == [0, 1, 4]
    pids = [value(child.perform("helpers.work:surroundings", None))["pid"] for _ in range(2)]
    assert pids == [child.pid, child.pid]
    assert child.pid != os.getpid()


def test_large_arguments_and_results_arrive_whole(child: Child) -> None:
    assert len(value(child.perform("helpers.work:large", 30_000_000))) == 30_000_000
    assert child.perform("helpers.work:length", bytes(30_000_000)) == Done(30_000_000)


@pytest.mark.parametrize(
    ("function", "argument", "reason"),
    [
        ("helpers.work:reject", "x", "x: must be something else"),
        ("helpers.work:divide", 1, "ZeroDivisionError: division by zero"),
        ("helpers.work:leave", 3, "SystemExit: 3"),
        ("helpers.work:unsendable", 0, "its result can't be sent: .*"),
        ("helpers.work:square", lambda: 0, "its argument can't be sent to a process: .*"),
        (
            "helpers.work:absent",
            0,
            "function \"helpers.work:absent\" can't be imported .*has no attribute 'absent'.*",
        ),
        (
            "absent:work",
            0,
            "function \"absent:work\" can't be imported .*No module named 'absent'.*",
        ),
    ],
)
def test_what_a_unit_raises_is_its_failure(
    child: Child, function: str, argument: Any, reason: str
) -> None:
    outcome = child.perform(function, argument)
    assert isinstance(outcome, Failed)
    assert re.fullmatch(reason, outcome.reason)
    assert child.perform("helpers.work:square", 3) == Done(9)


# What a child is given.


def test_numerics_in_a_child_use_one_thread(child: Child) -> None:
    around = value(child.perform("helpers.work:surroundings", None))
    assert (around["threads"], around["polars"]) == (["1", "1", "1"], "1")


def test_a_child_imports_what_its_parent_can_and_from_more_folders(tmp_path: Path) -> None:
    (tmp_path / "my_work.py").write_text("def double(number, report): return 2 * number")
    with Child(path=(str(tmp_path),)) as child:
        assert child.perform("my_work:double", 4) == Done(8)
        around = value(child.perform("helpers.work:surroundings", None))
    assert around["path"][: len(sys.path)] == [entry or os.getcwd() for entry in sys.path]
    assert os.getcwd() in around["path"]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no pinning here")
def test_a_child_can_be_pinned_to_a_core() -> None:
    core = max(os.sched_getaffinity(0))
    with Child(core=core) as child:
        assert value(child.perform("helpers.work:surroundings", None))["cores"] == [core]
    assert num_cores() == len(os.sched_getaffinity(0))


def test_a_unit_has_no_standard_input(child: Child) -> None:
    assert child.perform("helpers.work:read_input", None) == Done("")


# Limits.


def test_a_unit_that_hangs_is_ended_at_its_limit(child: Child) -> None:
    child.perform("helpers.work:square", 1)
    with soon():
        outcome = child.perform("helpers.work:hang", None, Limits(seconds=0.3))
    assert outcome == Failed("took more than 0.3 s")
    assert child.perform("helpers.work:square", 3) == Done(9)


def test_the_start_of_a_process_does_not_count(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock goes from 0 to 100 s while the process starts, and no further."""
    readings = itertools.chain([0.0], itertools.repeat(100.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(readings))
    assert child.perform("helpers.work:square", 3, Limits(seconds=0.5)) == Done(9)


def test_a_report_restarts_the_clock(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each of ten reports the clock moves by most of the limit."""
    reports: list[int] = []
    monkeypatch.setattr(time, "monotonic", lambda: 0.4 * len(reports))
    limits = Limits(seconds=0.5)
    outcome = child.perform("helpers.work:report_ten_times", None, limits, reports.append)
    assert outcome == Done(None)
    assert reports == list(range(10))


def test_a_unit_that_grows_is_ended_at_its_limit(child: Child) -> None:
    with soon():
        outcome = child.perform("helpers.work:grow", None, Limits(memory=300_000_000))
    assert isinstance(outcome, Failed)
    used = re.fullmatch(r"used (\d{3}) MB of memory, more than 300 MB", outcome.reason)
    assert used and int(used[1]) >= 300, outcome
    assert child.perform("helpers.work:square", 3, Limits(memory=10**9)) == Done(9)


def test_what_a_unit_has_started_ends_with_it(child: Child, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    limits = Limits(seconds=0.3, preparation=PATIENCE)  # until it reports that both have started
    outcome = child.perform("helpers.work:start_and_hang", str(pids), limits)
    assert outcome == Failed("took more than 0.3 s")
    wait_for_the_end_of([int(pid) for pid in pids.read_text().split()])


# Processes that end.


@pytest.mark.parametrize(
    ("function", "reason"),
    [("helpers.work:die", "killed by signal 9"), ("helpers.work:end_process", "exit code 7")],
)
def test_a_unit_that_always_ends_its_process_fails(
    child: Child, function: str, reason: str
) -> None:
    assert child.perform(function, 7) == Failed(f"its process ended 3 times: {reason}")
    assert child.perform("helpers.work:square", 3) == Done(9)


@pytest.mark.parametrize("times", [2, 3])
def test_a_unit_whose_process_ended_is_repeated(child: Child, times: int, tmp_path: Path) -> None:
    assert child.perform("helpers.work:die_until", (str(tmp_path / "calls"), times)) == Done(times)


def test_children_killed_at_random_moments_do_not_change_results(child: Child) -> None:
    chance, over = random.Random(1), threading.Event()

    def disturb() -> None:
        for _ in range(8):
            over.wait(chance.uniform(0, 0.3))
            kill_process(child)
        over.set()

    enemy = threading.Thread(target=disturb)
    enemy.start()
    numbers = 0
    while not over.is_set():
        assert child.perform("helpers.work:slow_square", numbers, attempts=20) == Done(numbers**2)
        numbers += 1
    enemy.join()
    assert child.perform("helpers.work:square", 3) == Done(9)


# Stopping.


def test_a_unit_learns_that_it_should_stop(child: Child) -> None:
    def stop_at_second(number: int) -> None:
        if number == 2:
            child.stop()

    outcome = child.perform("helpers.work:report_until_stopped", None, on_message=stop_at_second)
    assert value(outcome) >= 2
    # So do all that follow.
    assert value(child.perform("helpers.work:report_until_stopped", None)) >= 1


def test_kill_ends_a_unit_at_once_and_it_is_not_repeated(child: Child, tmp_path: Path) -> None:
    child.perform("helpers.work:square", 1)
    pid, begun = child.pid, tmp_path / "begun"
    when(begun.exists, child.kill)
    with soon():
        assert isinstance(child.perform("helpers.work:hang_at", str(begun)), Died)
    assert pid is not None and not is_running(pid)
    assert isinstance(child.perform("helpers.work:square", 1), Died)


def test_a_unit_that_dies_while_stopping_is_not_repeated(child: Child) -> None:
    child.stop()
    assert child.perform("helpers.work:die", None) == Died("killed by signal 9")


PARENT = """
import sys
from brlbench.executors.child import Child
Child().perform("helpers.work:{function}", sys.argv[1])
"""


@pytest.mark.parametrize("function", ["start_and_hang", "hold_the_gil"])
def test_nothing_outlives_a_parent_that_is_killed(function: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = PARENT.format(function=function)
    with subprocess.Popen([sys.executable, "-c", code, str(pids)], env=environment()) as parent:
        wait_for(pids.exists)
        started = [int(pid) for pid in pids.read_text().split()]
        assert all(map(is_running, started))
        parent.kill()
    wait_for_the_end_of(started)


def test_nothing_outlives_a_parent_killed_at_any_moment(tmp_path: Path) -> None:
    mark = f"TEST_MARK={tmp_path}"
    code = PARENT.format(function="start_and_hang")
    for number in range(6):
        command = [sys.executable, "-c", code, str(tmp_path / f"{number}")]
        with subprocess.Popen(command, env=environment(TEST_MARK=str(tmp_path))) as parent:
            time.sleep(0.08 * number)  # any moment will do
            parent.kill()
    wait_for(lambda: not processes_with(mark))


# In a process that performs units of several runs.


def test_units_of_a_stopped_run_do_not_begin() -> None:
    assert here.perform_here("helpers.work:square", 3, run="one") == Done(9)
    here.stop_here("one")
    assert isinstance(here.perform_here("helpers.work:square", 3, run="one"), Died)
    assert here.perform_here("helpers.work:square", 3, run="other") == Done(9)
    here.kill_here("one")
    here.kill_here("other")
    assert isinstance(here.perform_here("helpers.work:square", 3, run="other"), Died)


def test_all_threads_units_of_a_run_are_stopped_and_no_others(tmp_path: Path) -> None:
    gate, begun = Gate(tmp_path), tmp_path / "reporting"
    outcomes: dict[str, Outcome] = {}

    def perform(run: str, function: str, argument: Any) -> None:
        outcomes[run] = here.perform_here(f"helpers.work:{function}", argument, run=run)

    stays = threading.Thread(target=perform, args=("stays", "gated_square", (str(tmp_path), 3)))
    stops = threading.Thread(target=perform, args=("stops", "report_until_stopped", str(begun)))
    stays.start()
    stops.start()
    gate.wait_for_units(1)
    wait_for(begun.exists)
    here.stop_here("stops")
    stops.join()
    assert value(outcomes["stops"]) >= 1
    gate.open()
    stays.join()
    assert outcomes["stays"] == Done(9)
    here.kill_here("stays")
    here.kill_here("stops")


def test_units_of_a_closed_worker_are_for_others_to_perform(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    when(begun.exists, lambda: here.close_here("closed"))
    with soon(), pytest.raises(ExecutorError, match=r"^the worker has closed$"):
        here.perform_here("helpers.work:hang_at", str(begun), run="closed")
