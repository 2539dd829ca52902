"""Units in a process that serves several runs."""

import threading
from pathlib import Path
from typing import Any

import pytest

from brlbench.errors import ExecutorError
from brlbench.executors import here, wire
from brlbench.executors.base import Call, Died, Done, Outcome
from helpers.processes import Gate, soon, wait_for, when


def perform_here(function_name: str, argument: Any, run: str) -> Outcome:
    return here.perform_here(Call(function_name, wire.pack(argument)), run)


def test_units_of_a_stopped_run_do_not_begin() -> None:
    assert perform_here("helpers.work:square", 3, run="one") == Done(9)
    here.stop_here("one")
    assert isinstance(perform_here("helpers.work:square", 3, run="one"), Died)
    assert perform_here("helpers.work:square", 3, run="other") == Done(9)
    here.kill_here("one")
    here.kill_here("other")
    assert isinstance(perform_here("helpers.work:square", 3, run="other"), Died)


def test_all_threads_units_of_a_run_are_stopped_and_no_others(tmp_path: Path) -> None:
    gate, begun = Gate(tmp_path), tmp_path / "reporting"
    outcomes: dict[str, Outcome] = {}

    def perform(run: str, function: str, argument: Any) -> None:
        outcomes[run] = perform_here(f"helpers.work:{function}", argument, run)

    stays = threading.Thread(target=perform, args=("stays", "gated_square", (str(tmp_path), 3)))
    stops = threading.Thread(target=perform, args=("stops", "report_until_stopped", str(begun)))
    stays.start()
    stops.start()
    gate.wait_for_units(1)
    wait_for(begun.exists)
    here.stop_here("stops")
    stops.join()
    stopped = outcomes["stops"]
    assert isinstance(stopped, Done)
    assert stopped.value >= 1
    gate.open()
    stays.join()
    assert outcomes["stays"] == Done(9)
    here.kill_here("stays")
    here.kill_here("stops")


def test_units_of_a_closed_worker_are_for_others_to_perform(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    when(begun.exists, lambda: here.close_here("closed"))
    with soon(), pytest.raises(ExecutorError, match=r"^the worker has closed$"):
        perform_here("helpers.work:hang_at", str(begun), run="closed")
