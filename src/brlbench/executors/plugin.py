"""What a run adds to each Dask worker, including those that join later."""

import signal
from typing import Any

from distributed import WorkerPlugin

from .here import close_here


class RunPlugin(WorkerPlugin):  # type: ignore[misc]
    """Ends the processes of a run when a worker closes, or when the run ends.

    Args:
        run: the run.
        is_own: the worker was started for this run, so Ctrl-C reaches it too and is ignored.
    """

    def __init__(self, run: str, is_own: bool) -> None:
        self._run = run
        self._is_own = is_own

    def setup(self, worker: Any) -> None:
        """When a worker joins."""
        if self._is_own:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    def teardown(self, worker: Any) -> None:
        """When a worker leaves."""
        close_here(self._run)
