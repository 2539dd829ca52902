"""An agent that takes known amounts of memory, in a module that other processes can import."""

from collections.abc import Callable
from typing import Any

import numpy as np

from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment

MEGABYTE = 10**6


def _array(size: int) -> Any:
    return np.ones(size, np.uint8)


def _pieces(size: int) -> Any:
    """Arrays too small to be returned to the system one by one."""
    return [np.ones(2**16, np.uint8) for _ in range(size >> 16)]


def _objects(size: int) -> Any:
    """Floats: 32 bytes each, and 8 in the list; a copy shares the floats."""
    floats: list[Any] = [None] * (size // 40)
    for i in range(len(floats)):
        floats[i] = i + 0.5
    return floats


def _cycle(size: int) -> Any:
    """An array in a list that holds itself, so that only a collection frees it."""
    holder: list[Any] = [_array(size)]
    holder.append(holder)
    return holder


KINDS: dict[str, Callable[[int], Any]] = {
    "array": _array,
    "pieces": _pieces,
    "objects": _objects,
    "cycle": _cycle,
}


class Hungry:
    """Takes some megabytes while it trains, keeps some, and takes some in its third decision."""

    def __init__(
        self, training: int = 0, kept: int = 0, playing: int = 0, kind: str = "array"
    ) -> None:
        self.training, self.kept, self.playing, self.kind = training, kept, playing, kind

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        self.num_actions = prior.num_actions
        self._take(self.training)
        self.own = self._take(self.kept)

    def start(self, state: int, rng: np.random.Generator) -> None:
        self.decisions, self.rng = 0, rng

    def act(self, state: int) -> int:
        self.decisions += 1
        if self.decisions == 3:
            self._take(self.playing)
        return int(self.rng.integers(self.num_actions))

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        pass

    def _take(self, megabytes: int) -> Any:
        return KINDS[self.kind](megabytes * MEGABYTE)


def peaks_of(kind: str, cases: list[tuple[int, int, int]]) -> list[int | None]:
    """What is measured of one agent after the other."""
    experiment = Experiment("GC", num_mdps=3, horizon=5)
    return [evaluate(Hungry(*case, kind=kind), experiment).peak_bytes for case in cases]
