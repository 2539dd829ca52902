"""SBOSS against a plain one, its numbers of rows, its resampling test, and extreme parameters."""

from typing import Any

import numpy as np
import pytest
from benchmarks.plain_sampling import PlainSboss, variances
from hypothesis import given
from hypothesis import strategies as st

from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.agents.sboss import Sboss
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import AgentError, InvalidInput
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.merged_reference import assert_same_law, draws
from helpers.sizes import sizes
from helpers.strategies import priors, reproducible, transitions


@pytest.mark.slow
@pytest.mark.parametrize("num_mdps", sizes(60, 200))
@pytest.mark.parametrize(("epsilon", "delta"), [(0.02, 0.5), (0.001, 2.0), (1.0, 0.01)])
def test_same_law_as_a_plain_one(epsilon: float, delta: float, num_mdps: int) -> None:
    assert_same_law(Sboss(epsilon, delta), PlainSboss(epsilon=epsilon, delta=delta), num_mdps)


@reproducible
@given(st.data(), priors(), st.floats(0.003, 1), st.floats(0.01, 4))
def test_rows_and_resampling_follow_the_pseudo_code(
    data: st.DataObject, prior: FlatDirichlet, epsilon: float, delta: float
) -> None:
    """The same transitions for both, whatever they would choose, possible or not."""
    agent = Sboss(epsilon, delta)
    plain = PlainSboss(epsilon=epsilon, delta=delta)
    rng = np.random.default_rng(0)
    for each in (agent, plain):
        each.train(prior, Task(0.5, 40), rng)
        each.start(0, rng)
    arrays = agent.arrays
    for x, u, y in data.draw(transitions(prior)):
        agent.act(x)
        plain.act(x)
        for each in (agent, plain):
            each.observe(x, u, y, 0.0)
        far = plain.moves().max()
        if abs(far - delta) > 1e-9:  # else rounding decides
            assert bool(arrays.due[0]) == (far > delta)
        # Where rounding could decide, either number is right.
        exact = variances(plain.counts).max(axis=2).ravel() / epsilon
        low, high = (np.maximum(1, np.ceil(exact * (1 + sign * 1e-9))) for sign in (-1, 1))
        assert ((low <= arrays.merged.num_rows) & (arrays.merged.num_rows <= high)).all()


def test_one_possible_outcome_is_one_row() -> None:
    agent = Sboss(epsilon=1e-4)
    agent.train(distribution("GDL"), Task(0.95, 10), np.random.default_rng(0))
    merged = agent.arrays.merged
    certain = merged.mdp.posterior.row_length == 1
    assert certain.sum() == 10
    np.testing.assert_array_equal(merged.num_rows, np.where(certain, 1, 834))


def test_zero_variance_terms_do_not_count() -> None:
    """A pair whose outcome was certain never makes it draw again, whatever is observed."""
    prior = distribution("GDL")
    assert draws(Sboss(delta=0.0), prior, [(1, 0, 2), (1, 0, 5), (1, 0, 7)]) == [0]
    assert draws(Sboss(delta=0.0), prior, [(0, 0, 1), (1, 0, 2), (1, 0, 2)]) == [0, 1]


def test_two_outcomes_never_move_by_seven() -> None:
    """From even counts, alike results forever: the sum approaches twice the root of 3."""
    transitions = [(0, 0, 1)] * 2000
    assert draws(Sboss(delta=7), distribution("GC"), transitions) == [0]
    assert draws(Sboss(delta=3.4641), distribution("GC"), transitions) == [0]
    assert len(draws(Sboss(delta=3.4), distribution("GC"), transitions)) == 2


@pytest.mark.parametrize("delta", [1e-12, 1e12])
def test_extreme_deltas(delta: float) -> None:
    times = draws(Sboss(delta=delta), distribution("uniform:GC"), [(0, 0, 1)] * 20)
    assert times == (list(range(20)) if delta < 1 else [0])


@pytest.mark.parametrize("name", ["GC", "GDL", "Grid", "uniform:GC"])
def test_a_million_rows(name: str) -> None:
    """Epsilon = 1e-6 is 83,333 rows for a pair with two alike outcomes."""
    test = name.removeprefix("uniform:")
    experiment = Experiment(name, test, num_mdps=1, horizon=4)
    result = evaluate(Sboss(epsilon=1e-6, delta=1e-4), experiment)
    assert np.isfinite(result.returns).all()


@pytest.mark.parametrize("epsilon", [1e-10, 5e-324])
@pytest.mark.parametrize("name", ["GC", "uniform:Grid"])
def test_epsilons_that_would_take_forever_are_refused(name: str, epsilon: float) -> None:
    message = rf"sboss: epsilon = {epsilon:g}: .* use a larger epsilon"
    with pytest.raises(InvalidInput, match=message):
        Sboss(epsilon).train(distribution(name), Task(0.95, 10), np.random.default_rng(0))
    with pytest.raises(AgentError, match=message):
        evaluate(make_agent("sboss", epsilon=epsilon), Experiment(name, name, num_mdps=1))


def play_once(ties: str, seed: int) -> Any:
    """The first action where both actions are alike: nothing is ever paid."""
    agent = Sboss(ties=ties)
    agent.train(FlatDirichlet(np.ones((2, 2, 2)), 0), Task(0.5, 2), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(seed))
    return agent.act(0)


def test_ties() -> None:
    assert {play_once("first", seed) for seed in range(20)} == {0}
    assert {play_once("random", seed) for seed in range(20)} == {0, 1}


def test_rows_in_episodes_are_solved_by_plain_backward_induction() -> None:
    """With each number of decisions left, a pair takes the best of its rows."""
    counts = np.random.default_rng(4).uniform(0.2, 1.5, (3, 2, 3))
    counts[0, 0, 1] = counts[1, 1] = 0
    counts[1, 1, 2] = 0.7  # one row of two outcomes, and one of a single one
    prior = FlatDirichlet(counts, np.random.default_rng(5).normal(size=counts.shape))
    agent, length, samplings = Sboss(epsilon=0.01, delta=0.8), 4, 0
    agent.train(prior, Task(1.0, 40, episode=length), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(1))
    rng, arrays = np.random.default_rng(2), agent.arrays
    flat = prior.rewards.mean.to_dense().reshape(6, 3)
    for t in range(40):
        x, samplings = int(rng.integers(3)), samplings + int(arrays.due[0])
        action = agent.act(x)
        mdp, sample = arrays.merged.mdp, arrays.merged.sample
        rows = mdp.rows
        tables = []
        for pair in range(6):
            n, number = int(rows.length[pair]), int(sample.number[pair])
            assert t > 0 or number == (arrays.merged.num_rows[pair] if n > 2 else n)
            start, first = int(sample.first_row[pair]), int(rows.first_entry[pair])
            table = np.zeros((number, 3))
            states = mdp.posterior.entry_next[first : first + n]
            places = rows.probability[start : start + number * n]
            table[:, states] = places.reshape(number, n)
            assert table.sum(axis=1) == pytest.approx(1)
            tables.append(table)
        value = np.zeros(3)
        for _ in range(length - t % length):
            best = [(table @ (r + value)).max() for table, r in zip(tables, flat, strict=True)]
            q = np.array(best).reshape(3, 2)
            value = q.max(axis=1)
        assert action == q[x].argmax()
        y = int(rng.choice(np.flatnonzero(counts[x, action])))
        agent.observe(x, action, y, 0.0)
    assert 1 < samplings < 40
