"""The next states that BFS3 draws: their law, whatever the row, the path and what was seen."""

import itertools

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from brlbench.agents.bfs3 import Bfs3
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.compiled import new_rng
from helpers.compiled_planning import count_any, expand_often
from helpers.laws import assert_law, z_scores
from helpers.made_bfs3 import trained
from helpers.made_planners import show

pytestmark = pytest.mark.slow  # compiled code of tests is not kept on disk


def compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    return [c for c in itertools.product(range(total + 1), repeat=parts) if sum(c) == total]


@pytest.mark.parametrize("path", [[], [(0, 0, 1)], [(0, 0, 2), (0, 1, 2), (0, 0, 1), (0, 0, 2)]])
@pytest.mark.parametrize("branching", [1, 2, 4, 15, 20])
@pytest.mark.parametrize("kind", ["sparse", "uniform", "tenths", "learned", "tiny", "special"])
def test_next_states_are_multinomial(
    kind: str, branching: int, path: list[tuple[int, int, int]]
) -> None:
    """Of the belief's mean, after what was observed and along a path of the tree."""
    counts = np.ones((3, 2, 3)) * {"tenths": 0.1}.get(kind, 1.0)
    if kind == "sparse":
        counts[0] = [[1, 0, 2.5], [0, 0.3, 0.1]]
    if kind == "tiny":  # several bounds between two digits
        counts[0] = [[1, 1e-3, 1e-3], [1e-3, 2e-3, 1]]
    rewards = np.zeros(counts.shape)
    if kind == "special":
        rewards[0] = [[2.0, 0.0, 0.0], [0.0, 1.0, 2.0]]
    observed = [(0, 0, 1), (0, 0, 1), (0, 1, 0)] if kind == "learned" else []
    prior = FlatDirichlet(counts, rewards)
    agent = trained(prior, simulations=1, branching=branching, depth=6)
    show(agent, prior, observed)
    for x, u, y in path:
        count_any(agent.arrays, 2 * x + u, y)
    drawn = np.zeros((30_000, 2, 3), np.int64)
    expand_often(agent.arrays, 0, drawn)
    means = prior.posterior(observed + path).mean().transitions.to_dense()[0]
    for u in (0, 1):
        assert_multinomial(drawn[:, u], branching, means[u])


def assert_multinomial(drawn: NDArray[np.int64], number: int, chances: Floats) -> None:
    """Rows of numbers of three kinds, which sum to a number of draws."""
    assert (drawn.sum(axis=1) == number).all()
    cells, code = np.array(compositions(number, 3)), (number + 1) ** np.array([2, 1, 0])
    frequencies = np.bincount(drawn @ code, minlength=(number + 1) ** 3)
    assert_law(frequencies[cells @ code], scipy.stats.multinomial.pmf(cells, number, chances))


@pytest.mark.parametrize("path", [[], [2, 17, 5, 9, 5, 9, 9]])
@pytest.mark.parametrize("branching", [1, 2, 5, 15, 40])
@pytest.mark.parametrize("num_special", [0, 2, 9])
def test_next_states_of_a_uniform_prior_are_multinomial(
    num_special: int, branching: int, path: list[int]
) -> None:
    """With so many states that those without an entry share a background."""
    counts, rewards = np.full((18, 1, 18), 0.4), np.zeros((18, 1, 18))
    rewards[0, 0, :num_special] = np.arange(1, num_special + 1)
    prior = FlatDirichlet(counts, rewards)
    agent = trained(prior, simulations=1, branching=branching, depth=8)
    observed = [1, 17, 17, 12]
    for y in observed:
        agent.observe(0, 0, y, rewards[0, 0, y])
    for y in path:
        count_any(agent.arrays, 0, y)
    drawn = np.zeros((30_000, 1, 18), np.int64)
    expand_often(agent.arrays, 0, drawn)
    means = prior.posterior([(0, 0, y) for y in observed + path]).mean().transitions
    chances = means.to_dense()[0, 0]
    assert (drawn.sum(axis=(1, 2)) == branching).all()
    for two in ([0, 5], [1, 17], [2, 12], [9, 16]):
        numbers, some = drawn[:, 0, two], chances[two]
        grouped = np.column_stack([numbers, branching - numbers.sum(axis=1)])
        assert_multinomial(grouped, branching, np.append(some, 1 - some.sum()))


def test_transitions_that_were_impossible() -> None:
    """An agent that meets many of them plays on."""
    agent = Bfs3(simulations=10, branching=3, depth=5)
    evaluate(agent, Experiment("GC", distribution("GC").uniform(), num_mdps=3, horizon=60))
    arrays = trained(distribution("GC"), simulations=1, branching=40, depth=2).arrays
    drawn = np.zeros((200, 3, 5), np.int64)
    count_any(arrays, 0, 3)
    arrays.rng[:] = new_rng()
    expand_often(arrays, 0, drawn)
    share = drawn[:, 0] / 40
    assert np.abs(z_scores(share, share * 0 + [1 / 3, 1 / 3, 0, 1 / 3, 0])).max() < 4
