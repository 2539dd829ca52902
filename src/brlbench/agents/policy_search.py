"""The base of OPPS-DS, OPPS-CS and ANN: an offline search on MDPs of the prior, and its outcome."""

from copy import copy as shallow_copy
from typing import Any, Self

import numpy as np

from ..arguments import num_workers
from ..mdps.dirichlet import FlatDirichlet
from .base import CompiledAgent, OnProgress, Task


class PolicySearch(CompiledAgent):
    """The base of agents that search, offline, for the strategy they play.

    The `outcome` of the search is saved with the prior and the task: a loaded agent need not
    search again.
    """

    outcome: dict[str, Any]
    _on_progress: OnProgress | None = None
    _workers: int | None = None

    def with_progress(self, on_progress: OnProgress | None) -> Self:
        """A copy that reports how far its training is."""
        return self._changed(_on_progress=on_progress)

    def with_workers(self, workers: int) -> Self:
        """A copy that trains on this many cores instead of all; the outcome is the same."""
        return self._changed(_workers=workers)

    def _changed(self, **attributes: Any) -> Self:
        other = shallow_copy(self)
        vars(other).update(attributes)
        return other

    def search(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> dict[str, Any]:
        """Search for the best strategy; return the outcome."""
        raise NotImplementedError

    def build_player(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Build the arrays that play the best strategy."""
        raise NotImplementedError

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Search, then get ready to play the best strategy."""
        from ..problems.formats import to_json

        self.outcome = self.search(prior, task, rng) | {
            "prior": to_json(prior),
            "discount": task.discount,
            "horizon": task.horizon,
        }
        return self.build_player(prior, task, rng)

    def save(self) -> dict[str, Any]:
        """Return the outcome of the search, with its prior and task."""
        return dict(self.outcome)

    def load(self, saved: dict[str, Any]) -> None:
        """Take over the outcome that an agent with the same parameters saved."""
        self.outcome = dict(saved)
        rng = np.random.default_rng(0)  # unused: training is over
        self.arrays = self.build_player(*self.trained_for(), rng)

    def trained_for(self) -> tuple[FlatDirichlet, Task]:
        """The prior and the task of the search."""
        from ..problems.formats import from_json

        task = Task(self.outcome["discount"], self.outcome["horizon"])
        return from_json(self.outcome["prior"]), task

    def tell(self, done: int, total: int) -> None:
        """Report how far training is."""
        if self._on_progress is not None:
            self._on_progress(done, total)

    def cores(self) -> int:
        """The number of cores to train on."""
        return num_workers(self._workers)
