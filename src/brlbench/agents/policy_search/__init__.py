"""What OPPS-DS and OPPS-CS share: practice on MDPs of the prior, and what is kept of it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arguments import num_workers
from ...mdps.dirichlet import FlatDirichlet
from ..base import CompiledAgent, Task

if TYPE_CHECKING:
    from . import kernel as kernels

Progress = Callable[[int, int], None]
"""Called with the number of trajectories that have been played, and that will be in all."""


class PolicySearch(CompiledAgent):
    """The base of agents that search, offline, for the strategy they play.

    What training found is kept in `found` and saved with the prior and the task, so that a
    loaded agent need not search again. To follow a long search, set `progress` before training.
    """

    progress: Progress | None = None
    workers: int | None = None  # cores to train on, all by default; results don't depend on it
    found: dict[str, Any]

    def search(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> dict[str, Any]:
        """Search for the best strategy; return all that is worth keeping."""
        raise NotImplementedError

    def player(self) -> CompiledAgent:
        """The agent that plays the strategy found."""
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
        """All that training found, with what it was trained for."""
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
        """Tell whoever wants to know how far training has come."""
        if self.progress is not None:
            self.progress(done, total)

    def cores(self) -> int:
        """How many cores to train on."""
        return num_workers(self.workers)


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
