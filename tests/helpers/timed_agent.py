"""An agent on a clock of its own, which says exactly what it takes."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet

NOW = [0.0]  # seconds, moved by agents only


@dataclass
class Timed:
    """Starting, each decision and each step of its training take what it is told."""

    start_seconds: float = 0.0
    act_seconds: float = 0.0
    step_seconds: float = 0.0
    steps: int = 0
    on_progress: Callable[[int, int], None] | None = field(default=None, repr=False)

    def with_progress(self, on_progress: Callable[[int, int], None]) -> "Timed":
        return replace(self, on_progress=on_progress)

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        for step in range(self.steps):
            NOW[0] += self.step_seconds
            if self.on_progress is not None:
                self.on_progress(step + 1, self.steps)

    def start(self, state: int, rng: np.random.Generator) -> None:
        NOW[0] += self.start_seconds

    def act(self, state: int) -> int:
        NOW[0] += self.act_seconds
        return 0

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Learn nothing, at once."""
