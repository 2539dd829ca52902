"""The base of OPPS-DS, OPPS-CS and ANN: an offline search on MDPs of the prior, and its outcome."""

from copy import copy as shallow_copy
from typing import Any, Self

import numpy as np

from .base import Arrays, CompiledAgent, Family, Generator, OnProgress, Task


class PolicySearch(CompiledAgent):
    """The base of agents that search, offline, for the strategy they play.

    The `outcome` of the search is saved with the prior and the task: a loaded agent need not
    search again.
    """

    outcome: dict[str, Any]
    _on_progress: OnProgress | None = None

    def with_progress(self, on_progress: OnProgress | None) -> Self:
        """A copy that reports how far its training is."""
        other = shallow_copy(self)
        other._on_progress = on_progress
        return other

    def search(self, prior: Family, task: Task, rng: Generator) -> dict[str, Any]:
        """Search for the best strategy; return the outcome."""
        raise NotImplementedError

    def build_player(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Build the arrays that play the best strategy."""
        raise NotImplementedError

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Search, then get ready to play the best strategy."""
        from ..problems.formats import to_json

        self.outcome = self.search(prior, task, rng) | {
            "prior": to_json(prior),
            "discount": task.discount,
            "horizon": task.horizon,
            **({} if task.episode is None else {"episode": task.episode}),
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

    def trained_for(self) -> tuple[Family, Task]:
        """The prior and the task of the search."""
        from ..problems.formats import from_json

        task = Task(
            self.outcome["discount"], self.outcome["horizon"], episode=self.outcome.get("episode")
        )
        return from_json(self.outcome["prior"]), task

    def tell(self, done: int, total: int) -> None:
        """Report how far training is."""
        if self._on_progress is not None:
            self._on_progress(done, total)
