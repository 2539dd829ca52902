import math
from typing import Any

import pytest
from reproduction.constant import first_action_values

import brlbench as bb


class FirstAction:
    def train(self, prior: Any, task: Any, rng: Any) -> None:
        pass

    def start(self, state: int, rng: Any) -> None:
        pass

    def act(self, state: int) -> int:
        return 0

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        pass


@pytest.mark.parametrize("problem", ["GC", "GDL", "Grid"])
def test_exact_values_are_those_of_playing(problem: str) -> None:
    experiment = bb.Experiment(problem, problem, num_mdps=200, horizon=60, trajectories=5)
    played = bb.evaluate(FirstAction(), experiment).returns - first_action_values(experiment)
    error = played.std(ddof=1) / math.sqrt(len(played))
    assert abs(played.mean()) <= 3.5 * error
