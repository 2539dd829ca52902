import fcntl
import itertools
import os
import random
import re
import signal
import subprocess
import sys
import termios
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from brlbench.arguments import add_guest_folder, import_folders, num_cores
from brlbench.executors import wire
from brlbench.executors.base import NO_LIMITS, Call, Died, Done, Failed, Limits, Outcome
from brlbench.executors.child import Child, Clock
from brlbench.executors.serving import MESSAGE, STARTED
from helpers.processes import (
    PATIENCE,
    environment,
    is_running,
    parent_of,
    processes_with,
    soon,
    wait_for,
    wait_for_the_end_of,
    when,
)

pytestmark = pytest.mark.slow  # starts processes


@pytest.fixture
def child() -> Iterator[Child]:
    with Child() as child:
        yield child


def perform(
    child: Child,
    function: str,
    argument: Any,
    limits: Limits = NO_LIMITS,
    guest: str | None = None,
) -> Outcome:
    return child.perform(Call(function, argument, limits, guest))


def note_messages(patch: pytest.MonkeyPatch, note: Callable[[Any], object]) -> None:
    """Call a function with each message of a child."""
    unpack = wire.unpack

    def unpack_and_note(data: bytes) -> Any:
        kind, content = unpack(data)
        if kind == MESSAGE:
            note(content)
        return kind, content

    patch.setattr(wire, "unpack", unpack_and_note)


def value(outcome: Outcome) -> Any:
    assert isinstance(outcome, Done), outcome
    return outcome.value


def kill_process(child: Child) -> None:
    """Kill the process, unless it has ended already and nobody has noticed."""
    pid = child.pid
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def pid_of(child: Child) -> int:
    wait_for(lambda: child.pid)
    assert child.pid
    return child.pid


# Results.


def test_units_are_performed_in_the_same_process(child: Child) -> None:
    assert child.pid is None
    assert [value(perform(child, "helpers.work:square", number)) for number in range(3)] == [
        0,
        1,
        4,
    ]
    pids = [value(perform(child, "helpers.work:surroundings", None))["pid"] for _ in range(2)]
    assert pids == [child.pid, child.pid]
    assert child.pid != os.getpid()


def test_large_arguments_and_results_arrive_whole(child: Child) -> None:
    assert len(value(perform(child, "helpers.work:large", 30_000_000))) == 30_000_000
    assert perform(child, "helpers.work:length", bytes(30_000_000)) == Done(30_000_000)


@pytest.mark.parametrize(
    ("function", "argument", "reason"),
    [
        ("helpers.work:reject", "x", "x: must be something else"),
        ("helpers.work:divide", 1, "ZeroDivisionError: division by zero"),
        ("helpers.work:leave", 3, "SystemExit: 3"),
        (
            "helpers.work:unsendable",
            0,
            "its result can't be sent: TypeError: function is not plain data",
        ),
        ("helpers.work:square", {1, 2}, "its argument can't be sent to a process: .* not plain .*"),
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
    outcome = perform(child, function, argument)
    assert isinstance(outcome, Failed)
    place = r" \(.*work\.py, line \d+, in \w+\)" if outcome.traceback else ""
    assert re.fullmatch(f"{reason}({place})?", outcome.reason)
    assert bool(outcome.traceback) == ("can't be sent" not in reason)
    assert perform(child, "helpers.work:square", 3) == Done(9)


# What a child is given.


def test_numerics_in_a_child_use_one_thread(child: Child) -> None:
    around = value(perform(child, "helpers.work:surroundings", None))
    assert (around["threads"], around["polars"]) == (["1", "1", "1"], "1")


def test_a_child_imports_what_its_parent_can_and_from_more_folders(tmp_path: Path) -> None:
    (tmp_path / "my_work.py").write_text("def double(number, report): return 2 * number")
    with Child(path=(str(tmp_path),)) as child:
        assert perform(child, "my_work:double", 4) == Done(8)
        around = value(perform(child, "helpers.work:surroundings", None))
    path = import_folders(of_guests=False)  # other tests may have named guests
    assert around["path"] == [*path, str(tmp_path)]


def test_only_calls_of_guests_import_from_folders_of_users(
    child: Child, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each != os.getcwd()])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_work.py").write_text("def double(number, report): return 2 * number")
    assert isinstance(perform(child, "my_work:double", 4), Failed)
    add_guest_folder(tmp_path)
    assert isinstance(perform(child, "my_work:double", 4), Failed)
    assert perform(child, "my_work:double", 4, guest="me") == Done(8)
    assert isinstance(perform(child, "my_work:double", 4), Failed)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no pinning here")
def test_a_child_can_be_pinned_to_a_core() -> None:
    core = max(os.sched_getaffinity(0))
    with Child(core=core) as child:
        assert value(perform(child, "helpers.work:surroundings", None))["cores"] == [core]
    assert num_cores() == len(os.sched_getaffinity(0))


def test_a_unit_has_no_standard_input(child: Child) -> None:
    assert perform(child, "helpers.work:read_input", None) == Done("")


# Limits.


def test_a_unit_that_hangs_is_ended_at_its_limit(child: Child) -> None:
    perform(child, "helpers.work:square", 1)
    with soon():
        outcome = perform(child, "helpers.work:hang", None, Limits(seconds=0.3))
    assert outcome == Failed("took more than 0.3 s")
    assert perform(child, "helpers.work:square", 3) == Done(9)


def test_the_start_of_a_process_does_not_count(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock goes from 0 to 100 s while the process starts, and no further."""
    readings = itertools.chain([0.0], itertools.repeat(100.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(readings))
    assert perform(child, "helpers.work:square", 3, Limits(seconds=0.5)) == Done(9)


def test_a_report_restarts_the_clock(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each of ten reports the clock moves by most of the limit."""
    reports: list[int] = []
    monkeypatch.setattr(time, "monotonic", lambda: 0.4 * len(reports))
    limits = Limits(seconds=0.5)
    note_messages(monkeypatch, reports.append)
    outcome = perform(child, "helpers.work:report_ten_times", None, limits)
    assert outcome == Done(None)
    assert reports == list(range(10))


def test_a_unit_that_reports_for_ever_is_ended_at_its_total(child: Child) -> None:
    limits = Limits(seconds=PATIENCE, total=0.3)
    with soon():
        outcome = perform(child, "helpers.work:report_until_stopped", None, limits)
    assert outcome == Failed("took more than 0.3 s")


def test_the_time_that_a_unit_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    texts = ("trajectory = 5 s", "playing = 8 s")
    clock = Clock(Limits(5.0, 8.0, None, 100.0, *texts))
    assert clock.left() == (120.0, "120 s")  # to start
    now = 10.0
    clock.heard(STARTED)
    assert clock.left() == (105.0, "105 s")  # for its first message
    now = 60.0
    clock.heard(MESSAGE)
    assert clock.left() == (5.0, "trajectory = 5 s")  # for its next one
    now = 64.0
    clock.heard(MESSAGE)
    assert clock.left() == (4.0, "playing = 8 s")  # to end
    assert Clock(Limits(memory=1)).left() == (120.0, "120 s")


def test_a_unit_that_grows_is_ended_at_its_limit(child: Child) -> None:
    with soon():
        outcome = perform(child, "helpers.work:grow", None, Limits(memory=300_000_000))
    assert isinstance(outcome, Failed)
    used = re.fullmatch(r"used (\d{3}) MB of memory, more than 300 MB", outcome.reason)
    assert used and int(used[1]) >= 300, outcome
    assert perform(child, "helpers.work:square", 3, Limits(memory=10**9)) == Done(9)


def test_what_a_unit_has_started_ends_with_it(child: Child, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    limits = Limits(seconds=0.3, preparation=PATIENCE)  # until it reports that both have started
    outcome = perform(child, "helpers.work:start_and_hang", str(pids), limits)
    assert outcome == Failed("took more than 0.3 s")
    wait_for_the_end_of([int(pid) for pid in pids.read_text().split()])


# Processes that end.


def test_a_unit_that_ends_its_process_fails(child: Child) -> None:
    outcome = perform(child, "helpers.work:end_process", 7)
    assert outcome == Failed("its process ended with exit code 7")
    for name in ("SIGSEGV", "SIGABRT", "SIGALRM"):
        outcome = perform(child, "helpers.work:end_by_signal", name)
        assert outcome == Failed(f"its process crashed: {name}")
    assert perform(child, "helpers.work:end_by_number", 40) == Failed(
        "its process crashed: signal 40"
    )
    assert perform(child, "helpers.work:square", 3) == Done(9)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"])
def test_a_process_that_is_ended_from_outside_is_no_failure(
    child: Child, name: str, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    when(begun.exists, lambda: os.kill(pid_of(child), signal.Signals[name]))
    cause = "from outside or for lack of memory" if name == "SIGKILL" else "from outside"
    outcome = perform(child, "helpers.work:hang_at", str(begun))
    assert outcome == Died(f"its process was ended by {name}, {cause}")
    assert perform(child, "helpers.work:square", 3) == Done(9)


def test_a_process_that_can_not_start_is_no_failure(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [])  # where it would find this package
    outcome = perform(child, "helpers.work:square", 3)
    assert outcome == Died("its process has not started: exit code 1")


def test_output_is_read_even_if_it_can_not_be_shown(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(file: int, data: bytes) -> int:
        raise OSError("no space left")

    monkeypatch.setattr("brlbench.executors.child.os.write", fail)
    assert perform(child, "helpers.work:print_much", "word") == Done(None)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_a_process_whose_guard_is_ended_is_no_failure(
    child: Child, name: str, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    when(begun.exists, lambda: os.kill(parent_of(pid_of(child)), signal.Signals[name]))
    assert isinstance(perform(child, "helpers.work:hang_at", str(begun)), Died)
    assert perform(child, "helpers.work:square", 3) == Done(9)


def test_a_unit_that_closes_its_connection_fails(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On Linux it is noticed at once: waiting that long would raise.
    waits = "never" if sys.platform == "linux" else 0.1
    monkeypatch.setattr("brlbench.executors.child._EXIT_SECONDS", waits)
    outcome = perform(child, "helpers.work:close_all_files", None)
    assert outcome == Failed("it closed the connection of its process")
    assert perform(child, "helpers.work:square", 3) == Done(9)


def test_a_unit_that_closes_its_connection_and_returns_leaves_no_traceback(
    child: Child, capfd: pytest.CaptureFixture[str]
) -> None:
    assert isinstance(perform(child, "helpers.work:close_connection", None), Failed)
    child.kill()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("data", [b"", b"garbage", b"\x80\x04N.", b"\xff" * 40])
def test_what_is_no_data_fails_and_runs_nothing(child: Child, data: bytes) -> None:
    outcome = perform(child, "helpers.work:send_to_parent", data)
    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith("its result can't be read: ")
    assert perform(child, "helpers.work:square", 3) == Done(9)


def test_a_message_that_is_too_long_fails(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brlbench.executors.child._MOST_BYTES", 1000)
    outcome = perform(child, "helpers.work:large", 1000)
    assert outcome == Failed("its result can't be read: OSError: bad message length")
    assert perform(child, "helpers.work:square", 3) == Done(9)


def test_children_killed_at_random_moments_do_not_change_results(child: Child) -> None:
    chance, over = random.Random(1), threading.Event()

    def disturb() -> None:
        for _ in range(8):
            wait_for(lambda: child.pid)
            over.wait(chance.uniform(0, 0.3))
            kill_process(child)
        over.set()

    enemy = threading.Thread(target=disturb)
    enemy.start()
    numbers, outcomes = 0, set()
    while not over.is_set():
        outcome = perform(child, "helpers.work:slow_square", numbers)
        outcomes.add(type(outcome))
        assert outcome == Done(numbers**2) or isinstance(outcome, Died)
        numbers += 1
    enemy.join()
    assert Died in outcomes
    assert perform(child, "helpers.work:square", 3) == Done(9)


# Guests: users' own code.


def test_a_guest_shares_its_process_with_no_other(child: Child) -> None:
    def pid_with(guest: str | None) -> int:
        outcome = perform(child, "helpers.work:surroundings", None, guest=guest)
        return int(value(outcome)["pid"])

    with_none = pid_with(None)
    assert pid_with("one") == with_none  # no guest has been there
    assert pid_with("one") == with_none
    with_other = pid_with("other")
    assert with_other != with_none
    assert pid_with(None) != with_other


def test_a_guest_that_has_failed_gets_a_new_process(child: Child) -> None:
    def pid(guest: str | None) -> int:
        outcome = perform(child, "helpers.work:surroundings", None, guest=guest)
        return int(value(outcome)["pid"])

    for guest, is_replaced in ((None, False), ("one", True)):
        before = pid(guest)
        assert isinstance(perform(child, "helpers.work:reject", "x", guest=guest), Failed)
        assert (pid(guest) != before) == is_replaced


def test_what_a_guest_changes_does_not_reach_the_next(child: Child) -> None:
    before = value(perform(child, "helpers.work:settings", None))
    assert value(perform(child, "helpers.work:change_settings", None, guest="one")) != before
    assert value(perform(child, "helpers.work:settings", None, guest="other")) == before


@pytest.mark.parametrize("guest", [None, "other"])
def test_processes_started_in_a_session_of_their_own_end_with_a_guest(
    child: Child, guest: str | None, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    perform(child, "helpers.work:start_daemons", str(pids), guest="one")
    started = [int(pid) for pid in pids.read_text().split()]
    assert all(map(is_running, started))
    perform(child, "helpers.work:square", 3, guest=guest)
    assert not any(map(is_running, started))


def test_memory_of_what_a_unit_starts_counts(child: Child) -> None:
    with soon():
        outcome = perform(child, "helpers.work:grow_in_children", 3, Limits(memory=400_000_000))
    assert isinstance(outcome, Failed)
    assert re.fullmatch(r"used \d{3} MB of memory, more than 400 MB", outcome.reason)


def has_passed_on(child: Child) -> bool:
    """Whether all that a unit may print was read from its pipe."""
    assert child._process is not None and child._process.stdout is not None
    waiting = array("i", [0])
    fcntl.ioctl(child._process.stdout, termios.FIONREAD, waiting)
    return waiting[0] == child._output_left == 0


def test_only_the_beginning_of_a_units_output_is_passed_on(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with Child() as child:
        for word in ("one", "two"):
            assert perform(child, "helpers.work:print_much", word) == Done(None)
            wait_for(lambda: has_passed_on(child))  # or it would count for the next unit
    output = capfd.readouterr()
    assert output.out == ""
    for word in ("one", "two"):  # of every unit
        assert word in output.err
    assert output.err.count("(more than 10000 bytes: the rest is dropped)") == 2
    assert len(output.err) < 22_000


@pytest.mark.parametrize("function", ["hold_the_gil", "loop_without_the_gil"])
def test_limits_hold_in_compiled_code(child: Child, function: str, tmp_path: Path) -> None:
    limits = Limits(seconds=0.3, preparation=PATIENCE)  # it may have to compile
    with soon():
        outcome = perform(child, f"helpers.work:{function}", str(tmp_path / "pids"), limits)
    assert outcome == Failed("took more than 0.3 s")


# Stopping.


def test_a_unit_learns_that_it_should_stop(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop_at_second(number: int) -> None:
        if number == 2:
            child.stop()

    note_messages(monkeypatch, stop_at_second)
    outcome = perform(child, "helpers.work:report_until_stopped", None)
    assert value(outcome) >= 2
    # So do all that follow.
    assert value(perform(child, "helpers.work:report_until_stopped", None)) >= 1


def test_kill_ends_a_unit_at_once_and_for_good(child: Child, tmp_path: Path) -> None:
    perform(child, "helpers.work:square", 1)
    pid, begun = child.pid, tmp_path / "begun"
    when(begun.exists, child.kill)
    with soon():
        assert isinstance(perform(child, "helpers.work:hang_at", str(begun)), Died)
    assert pid is not None and not is_running(pid)
    assert isinstance(perform(child, "helpers.work:square", 1), Died)


def test_a_unit_can_be_ended_while_stopping(child: Child) -> None:
    child.stop()
    outcome = perform(child, "helpers.work:end_by_signal", "SIGKILL")
    assert outcome == Died("its process was ended by SIGKILL, from outside or for lack of memory")


PARENT = """
import sys
from brlbench.executors.base import Call
from brlbench.executors.child import Child
Child().perform(Call("helpers.work:{function}", sys.argv[1]))
"""


@pytest.mark.parametrize("function", ["start_and_hang", "hold_the_gil", "start_daemons_and_hang"])
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
