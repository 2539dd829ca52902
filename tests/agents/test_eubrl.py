"""EUBRL against its definition, and on a gamble that can be solved by hand."""

import numpy as np
import pytest

from brlbench.agents.base import Task
from brlbench.agents.eubrl import Eubrl
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.mdps.sparse import Floats
from brlbench.streams import generator
from helpers.optimism import CASES, assert_gambles_below, value_iteration
from helpers.reference import best, walk


@pytest.mark.parametrize(("prior", "eta"), CASES)
def test_uncertainty_takes_the_place_of_rewards(prior: FlatDirichlet, eta: float) -> None:
    largest = 0.0

    def solve(posterior: FlatDirichlet, discount: float) -> Floats:
        nonlocal largest
        counts, rewards = posterior.counts.to_dense(), posterior.rewards.mean.to_dense()
        total = counts.sum(axis=2, keepdims=True)
        mean = counts / total
        unknown = np.sqrt((mean * (1 - mean) / (total + 1)).sum(axis=2))
        largest = max(largest, unknown.max())
        chance = unknown / largest
        known_part = (1 - chance)[:, :, None] * rewards
        unknown_part = chance * eta * unknown
        return value_iteration(
            known_part, discount, lambda x: (mean * x).sum(axis=2) + unknown_part
        )

    for step in walk(Eubrl(eta), prior, discount=0.9, steps=40, solve=solve):
        assert step.action in best(step.q_before[step.state])


def test_the_largest_uncertainty_grows_and_goes_back_to_the_prior_s() -> None:
    """Rows of 9 and 0.1 counts become more uncertain when the rare outcome is seen."""
    agent = Eubrl()
    agent.train(
        FlatDirichlet(np.tile([9.0, 0.1], (2, 2, 1)), 0), Task(0.95, 10), generator("train")
    )
    agent.start(0, generator("start"))
    assert agent.arrays.largest[0] == pytest.approx(np.sqrt(2 * 9 * 0.1 / 9.1**2 / 10.1))
    agent.observe(0, 0, 1, 0.0)
    assert agent.arrays.largest[0] == pytest.approx(np.sqrt(2 * 9 * 1.1 / 10.1**2 / 11.1))
    agent.start(0, generator("start"))
    assert agent.arrays.largest[0] == pytest.approx(np.sqrt(2 * 9 * 0.1 / 9.1**2 / 10.1))


def test_a_gamble() -> None:
    """Only the gamble is unknown, with a summed variance of 1/9, and certainly so."""
    assert_gambles_below(6 / 3 + 19 / 3, lambda: Eubrl(eta=6.0))


def test_nothing_is_unknown() -> None:
    counts = np.zeros((2, 2, 2))
    counts[:, 0, 0] = counts[:, 1, 1] = 1
    agent = Eubrl()
    agent.train(FlatDirichlet(counts, [[[0, 0], [0, 1]]] * 2), Task(0.5, 10), generator("train"))
    np.testing.assert_allclose(agent.arrays.model.q, [1, 2, 1, 2])
