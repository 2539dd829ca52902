"""Races: who is dropped, who never is, and how often that is wrong."""

import math

import numpy as np
import pytest
from scipy import stats

from brlbench.analysis.racing import (
    ERROR,
    Race,
    classes_within,
    looks_before,
    run_race,
)
from brlbench.mdps.sparse import Floats, Integers


def test_looks_come_at_fixed_numbers_of_mdps() -> None:
    assert looks_before(500) == [10, 25, 50, 75, 100, 150, 200, 300, 400]
    assert looks_before(10) == []
    assert looks_before(11) == [10]
    assert looks_before(2000)[-4:] == [600, 800, 1200, 1600]


def test_times_fall_into_classes() -> None:
    offline, online = [0.0, 0.99, 1.0, 1.01, 1e9], [1e-7, 1e-6, 1.1e-6, 1e-5, 2e-5]
    assert classes_within(offline, online).T.tolist() == [[0, 0, 0, 1, 7], [0, 0, 1, 1, 2]]
    # The order of the bounds does not matter; a time at a bound is within it.
    given = classes_within(offline, online, [60.0, 1.0], [1.0])
    assert given.T.tolist() == [[0, 0, 0, 1, 2], [0, 0, 0, 0, 0]]


def one_class(agents: int) -> Integers:
    return np.zeros((agents, 2), dtype=np.int64)


def returns_with_means(means: list[float], num_mdps: int = 200) -> Floats:
    rng = np.random.default_rng(0)
    shared = 10 * rng.standard_normal(num_mdps)  # what is lucky for all cancels out
    return np.array(means)[:, None] + shared + rng.standard_normal((len(means), num_mdps))


def test_the_worse_are_dropped_and_the_worst_first() -> None:
    played = run_race(returns_with_means([3.0, 0.0, 2.5, 2.99]), one_class(4))
    assert played[1] <= 50
    assert played[1] < played[2] < 200
    assert played[0] == played[3] == 200


def test_an_agent_is_only_dropped_for_one_that_is_no_dearer() -> None:
    returns = returns_with_means([0.0, 3.0, 3.0])
    dearer = np.array([[0, 0], [0, 1], [1, 0]])  # online, or offline
    assert run_race(returns, dearer).tolist() == [200, 200, 200]
    # The other way round, both are dropped.
    assert run_race(-returns, dearer).max(initial=0, where=[False, True, True]) < 200


def test_rivals_count_only_from_when_they_are_chosen() -> None:
    """An agent that was behind in the first MDPs only is as good as any."""
    returns = returns_with_means([0.0, 0.0])
    returns[0, :10] -= 100
    assert run_race(returns, one_class(2)).tolist() == [200, 200]


def test_an_agent_that_left_is_no_rival_any_more() -> None:
    returns = returns_with_means([0.0, 3.0, 0.0])
    race = Race(one_class(3), ERROR, 200)
    race.look(10, list(returns[:, :10]), np.array([True] * 3))
    assert race.rivals[10] == [1, race.rivals[10][1], 1]
    # The second agent fails: the others are not tested on what it has not played.
    scores = [returns[0, :25], returns[1, :10], returns[2, :25]]
    assert race.look(25, scores, np.array([True, False, True])) == []
    assert race.rivals[25] == [2, -1, 0]


def test_the_limit_shrinks_with_looks_and_classes() -> None:
    race = Race(np.array([[0, 0], [0, 1], [0, 1]]), 0.05, 500)
    assert race.limit == pytest.approx(0.05 / (2 * 8))
    assert Race(one_class(2), 0.05, 5).limit == 0.05  # no looks


def false_drops(
    studies: int, rng: np.random.Generator, num_agents: int = 12, num_mdps: int = 500
) -> int:
    """The number of simulated studies that stop the best agent of a class.

    Each study has agents in three classes of online time, all with the same expected return: the
    hardest case. Returns are as skewed as Grid's: most MDPs pay nothing, some a lognormal amount,
    more in MDPs that are generous to all agents. Agents differ in how rare and large payments are.
    The first agent of each class counts as its best.
    """
    return sum(_is_best_dropped(rng, num_agents, num_mdps) for _ in range(studies))


def _is_best_dropped(rng: np.random.Generator, num_agents: int, num_mdps: int) -> bool:
    online = np.arange(num_agents) % 3
    generosity = rng.lognormal(-0.125, 0.5, num_mdps)  # of mean 1
    chance = rng.uniform(0.1, 0.5, (num_agents, 1))
    pays = rng.random((num_agents, num_mdps)) < chance
    amounts = rng.lognormal(-0.125, 0.5, (num_agents, num_mdps))
    returns = generosity * pays * amounts / chance
    played = run_race(returns, np.column_stack([np.zeros(num_agents, np.int64), online]))
    return bool((played[:3] < num_mdps).any())


def assert_few_are_false(dropped: int, studies: int) -> None:
    assert dropped <= studies * ERROR + 3 * math.sqrt(studies * ERROR * (1 - ERROR))


def test_the_best_is_seldom_dropped() -> None:
    studies = 60
    dropped = false_drops(studies, np.random.default_rng(0), num_agents=6, num_mdps=120)
    assert_few_are_false(dropped, studies)


@pytest.mark.exhaustive
def test_the_best_is_dropped_in_at_most_5_percent_of_studies() -> None:
    """In 600 studies with skewed returns it is less than 1%; 5% would pass once in 500 times."""
    assert stats.binom.cdf(15, 600, ERROR) < 0.002
    assert false_drops(600, np.random.default_rng(0)) <= 15
