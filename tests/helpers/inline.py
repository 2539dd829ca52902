"""An executor without processes, for tests of what a study decides and writes."""

from concurrent.futures import Future
from typing import Any, Self

import pytest

from brlbench.arguments import import_named
from brlbench.executors import wire
from brlbench.executors.base import Call, Died, Done, Failed, Outcome
from brlbench.executors.tracebacks import reason_and_place, traceback_lines
from brlbench.study import worker


class Inline:
    """Makes each call at once, in this process; arguments and values are packed as for others."""

    num_workers = 1

    def __init__(self, workers: int | None = None) -> None:
        self._stopped = False

    def submit(self, call: Call) -> "Future[Outcome]":
        future: Future[Outcome] = Future()
        future.set_result(Died("stopped") if self._stopped else self._outcome(call))
        return future

    def _outcome(self, call: Call) -> Outcome:
        try:
            function: Any = import_named(call.function_name, "function")
            value = function(wire.unpack(wire.pack(call.argument)), lambda message: self._stopped)
            return Done(wire.unpack(wire.pack(value)))
        except BaseException as error:
            return Failed(reason_and_place(error), tuple(traceback_lines(error)))

    def stop(self) -> None:
        self._stopped = True

    kill = stop

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let studies on this machine run in the test's process."""
    monkeypatch.setattr("brlbench.study.start.Local", Inline)
    monkeypatch.setattr(worker, "_agents", {})
