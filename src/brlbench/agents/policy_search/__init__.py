"""What OPPS-DS, OPPS-CS and ANN share: a search on MDPs of the prior, and what is saved of it."""

from collections.abc import Callable
from copy import copy as shallow_copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...arguments import num_workers
from ...mdps.dirichlet import FlatDirichlet
from ..base import CompiledAgent, Task

if TYPE_CHECKING:
    from . import kernel as kernels

OnProgress = Callable[[int, int], None]
"""Called with the number of trajectories played so far, and the number there will be."""


class PolicySearch(CompiledAgent):
    """The base of agents that search, offline, for the strategy they play.

    What training found is kept in `found` and saved with the prior and the task, so that a
    loaded agent need not search again.
    """

    found: dict[str, Any]
    _on_progress: OnProgress | None = None
    _workers: int | None = None

    def with_progress(self, on_progress: OnProgress | None) -> Self:
        """A copy that reports how far its training is."""
        return self._changed(_on_progress=on_progress)

    def with_workers(self, workers: int) -> Self:
        """A copy that trains on this many cores instead of all; it finds the same."""
        return self._changed(_workers=workers)

    def _changed(self, **attributes: Any) -> Self:
        other = shallow_copy(self)
        vars(other).update(attributes)
        return other

    def search(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> dict[str, Any]:
        """Search for the best strategy; return what is to be kept."""
        raise NotImplementedError

    def player(self) -> CompiledAgent:
        """Return the agent that plays the strategy found."""
        raise NotImplementedError

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Search, then get ready to play the strategy found."""
        from ...problems.formats import to_json

        self.found = self.search(prior, task, rng) | {
            "prior": to_json(prior),
            "discount": task.discount,
            "horizon": task.horizon,
        }
        return self.player().prepare(prior, task, rng)

    def save(self) -> dict[str, Any]:
        """Return what training found, and what it was trained for."""
        return dict(self.found)

    def load(self, saved: dict[str, Any]) -> None:
        """Take over what an agent with the same parameters saved."""
        from ...problems.formats import from_json

        self.found = dict(saved)
        task = Task(saved["discount"], saved["horizon"])
        # The generator is for training, which is over.
        rng = np.random.default_rng(0)
        self.arrays = self.player().prepare(from_json(saved["prior"]), task, rng)

    def tell(self, done: int, total: int) -> None:
        """Report how far training is."""
        if self._on_progress is not None:
            self._on_progress(done, total)

    def cores(self) -> int:
        """How many cores to train on."""
        return num_workers(self._workers)


def build_practice(
    prior: FlatDirichlet, task: Task, rng: np.random.Generator
) -> "kernels.Practice":
    """Trajectories on MDPs of a prior, for compiled code."""
    from ..arrays.model import build_counts, copy
    from . import kernel as kernels

    counts = build_counts(prior, task.horizon)
    key = rng.integers(0, 2**64, dtype=np.uint64)
    return kernels.Practice(
        counts=copy(counts),
        initial=counts,
        start=prior.start.copy(),
        discount=task.discount,
        horizon=task.horizon,
        key=key,
    )
