"""The plugin of a run for each Dask worker, including those that join later."""

import signal
from typing import Any

from distributed import WorkerPlugin

from .here import close_here


class RunPlugin(WorkerPlugin):  # type: ignore[misc]
    """Ends the processes of a run when a worker closes, or when the run ends."""

    def __init__(self, run: str, is_new: bool) -> None:
        self._run = run
        self._is_new = is_new  # started for this run, so Ctrl-C reaches it too and is ignored

    def setup(self, worker: Any) -> None:
        """Called when a worker joins."""
        if self._is_new:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    def teardown(self, worker: Any) -> None:
        """Called when a worker leaves."""
        close_here(self._run)
