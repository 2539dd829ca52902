"""PSRL against a plain one, and the rules of when it draws."""

from typing import Any

import numpy as np
import pytest
from benchmarks.plain_sampling import PlainPsrl

from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.agents.psrl import Psrl
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.merged_reference import assert_same_law, draws
from helpers.sizes import sizes


def times_of_draws(agent: Any, steps: int) -> list[int]:
    return draws(agent, distribution("uniform:GC"), [(0, 0, 1)] * steps)


@pytest.mark.slow
@pytest.mark.parametrize("num_mdps", sizes(60, 200))
@pytest.mark.parametrize("parameters", [{"resample": 0.3}, {"every": 4}])
def test_same_law_as_a_plain_one(parameters: dict[str, Any], num_mdps: int) -> None:
    assert_same_law(Psrl(**parameters), PlainPsrl(**parameters), num_mdps)


def test_a_certain_posterior_gives_the_optimal_policy() -> None:
    grid = distribution("Grid")
    rng = np.random.default_rng(4)
    certain = grid.counts.replace(1e9 * grid.sample_many([rng])[0])
    prior = FlatDirichlet(certain, grid.rewards)
    experiment = Experiment(prior, prior, num_mdps=20)
    optimal = evaluate(make_agent("optimal"), experiment)
    played = evaluate(make_agent("psrl"), experiment)
    np.testing.assert_array_equal(played.actions, optimal.actions)


def test_it_draws_with_a_probability_a_step() -> None:
    assert times_of_draws(Psrl(resample=0.0), 50) == [0]
    assert times_of_draws(Psrl(resample=1.0), 50) == list(range(50))
    often = len(times_of_draws(Psrl(resample=0.2), 4000))
    assert abs(often - 800) < 4 * np.sqrt(4000 * 0.2 * 0.8)


def test_by_default_it_draws_with_probability_one_minus_the_discount() -> None:
    agent = Psrl()
    agent.train(distribution("GC"), Task(0.95, 10), np.random.default_rng(0))
    assert agent.arrays.chance == pytest.approx(0.05)


@pytest.mark.parametrize("every", [1, 3, 7])
def test_it_draws_every_so_many_steps(every: int) -> None:
    assert times_of_draws(Psrl(every=every), 50) == list(range(0, 50, every))


def test_it_draws_again_in_every_mdp() -> None:
    agent = Psrl(every=5)
    first = times_of_draws(agent, 8)
    assert first == times_of_draws(agent, 8) == [0, 5]


def test_one_rule_only() -> None:
    with pytest.raises(InvalidInput, match=r"resample = 0\.1 and every = 5: give one of them"):
        make_agent("psrl", resample=0.1, every=5)
