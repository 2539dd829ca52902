"""Incremental solving against fresh, exact solutions of the posterior's mean MDP."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import brlbench.builders.model as builders
from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.builders.model import build_model, copy, solved_model
from brlbench.kernels.solving.model import Model, solve
from brlbench.kernels.solving.tolerances import SWEEP_TOLERANCE
from brlbench.mdps.mdp import MDP, Solution
from brlbench.mdps.sparse import Floats, Integers, SparseTable
from brlbench.problems import distribution
from brlbench.streams import generator
from helpers.compiled import learn_all, learn_all_with_bonus, reset_model
from helpers.sizes import sizes, thinned
from helpers.strategies import discounts, priors, reproducible, transitions

UPDATES = pytest.mark.parametrize("updates", sizes(2000, 10_000))
EVERY = 500
EXACT = 1e-9
RESIDUAL = 3e-13  # rounding is noticed, and a fresh inverse made, before it adds up to more


def dense(states: int = 8, actions: int = 3) -> FlatDirichlet:
    rng = generator("test dense")
    shape = (states, actions, states)
    return FlatDirichlet(rng.uniform(0.01, 3, shape), rng.uniform(-5, 5, shape))


def mixed(states: int = 10, actions: int = 3) -> FlatDirichlet:
    """Some rows uniform, some sparse, some dense; counts from tiny to large."""
    rng = generator("test mixed")
    counts = rng.uniform(0.001, 50, (states, actions, states))
    counts[::2, 0] = 0.5
    counts[:, 1, 3:] = 0
    return FlatDirichlet(counts, rng.normal(size=counts.shape))


def chain(states: int = 30) -> FlatDirichlet:
    """One step along or back to the start; the pay is far away."""
    counts = np.zeros((states, 2, states))
    counts[:, :, 0] = 0.1
    for state in range(states):
        counts[state, :, min(state + 1, states - 1)] = 1
    rewards = np.zeros(states)
    rewards[-1] = 100
    return FlatDirichlet(counts, rewards)


PRIORS: dict[str, Callable[[], FlatDirichlet]] = {
    "GC": lambda: distribution("GC"),
    "Grid": lambda: distribution("Grid"),
    "uniform:GDL": lambda: distribution("uniform:GDL"),
    "uniform:Grid": lambda: distribution("uniform:Grid"),
    "dense": dense,
    "mixed": mixed,
    "chain": chain,
}


def random_transitions(prior: FlatDirichlet, number: int, *names: object) -> Integers:
    """Any transitions, those included that the prior holds to be impossible."""
    rng = generator("test transitions", *names)
    ends = (prior.num_states, prior.num_actions, prior.num_states)
    return np.stack([rng.integers(0, end, number) for end in ends], axis=1)


def followed_transitions(prior: FlatDirichlet, number: int, *names: object) -> Integers:
    """Those of an agent that mostly keeps to one policy, in an MDP drawn from the prior."""
    rng = generator("test followed", *names)
    mdp = prior.sample(rng)
    probabilities, policy = mdp.transitions.to_dense(), mdp.solve(0.9).policy
    state, observed = 0, np.zeros((number, 3), np.int64)
    for i in range(number):
        action = policy[state] if rng.random() < 0.9 else rng.integers(prior.num_actions)
        following = rng.choice(prior.num_states, p=probabilities[state, action])
        observed[i] = state, action, following
        state = following
    return observed


def with_bonus(mean: MDP, bonus: Floats) -> MDP:
    """The same MDP with a bonus [P] on the reward of each pair."""
    shape = (mean.num_states, mean.num_actions, 1)
    return MDP(mean.transitions, mean.rewards.mean.to_dense() + bonus.reshape(shape))


def assert_solved(model: Model, expected: Solution, tolerance: float = EXACT) -> None:
    scale = float(np.abs(expected.value).max())
    assert np.abs(model.value - expected.value).max() <= tolerance * scale
    assert np.abs(model.q - expected.q.ravel()).max() <= tolerance * scale
    assert model.norms[1] == pytest.approx(scale, rel=1e-8)
    if len(model.inverse):
        followed = model.q.reshape(expected.q.shape)[np.arange(len(model.policy)), model.policy]
        assert np.abs(followed - model.value).max() <= RESIDUAL * scale
    chosen = expected.q[np.arange(len(model.policy)), model.policy]
    assert (chosen >= expected.value - 2 * tolerance * scale).all()


@UPDATES
@pytest.mark.parametrize("discount", thinned([0.5, 0.95, 0.99], [0.95]))
@pytest.mark.parametrize("make", [random_transitions, followed_transitions])
@pytest.mark.parametrize("name", PRIORS)
def test_many_updates(
    name: str, make: Callable[..., Integers], discount: float, updates: int
) -> None:
    prior = PRIORS[name]()
    observed = make(prior, updates, name)
    model = solved_model(prior, Task(discount, updates))
    assert_solved(model, prior.mean().solve(discount))
    for done in range(EVERY, updates + 1, EVERY):
        learn_all(model, observed[done - EVERY : done])
        assert_solved(model, prior.posterior(observed[:done]).mean().solve(discount))


@UPDATES
@pytest.mark.parametrize("discount", thinned([0.5, 0.99], [0.99]))
@pytest.mark.parametrize("name", PRIORS)
def test_many_updates_with_a_changing_bonus(name: str, discount: float, updates: int) -> None:
    prior = PRIORS[name]()
    observed = random_transitions(prior, updates, name, "bonus")
    rng = generator("test bonus", name)
    bonuses = rng.uniform(-3, 10, updates)
    model = build_model(prior, Task(discount, updates))
    model.bonus[:] = bonus = rng.uniform(0, 10, len(model.bonus))
    solve(model)
    assert_solved(model, with_bonus(prior.mean(), bonus).solve(discount))
    for done in range(EVERY, updates + 1, EVERY):
        part = slice(done - EVERY, done)
        learn_all_with_bonus(model, observed[part], bonuses[part])
        bonus = model.bonus.copy()
        mean = prior.posterior(observed[:done]).mean()
        assert_solved(model, with_bonus(mean, bonus).solve(discount))
    pairs = observed[:, 0] * prior.num_actions + observed[:, 1]
    np.testing.assert_array_equal(model.bonus[pairs[-1]], bonuses[-1])


@reproducible
@given(st.data(), priors(), discounts, st.booleans())
def test_every_single_update(
    data: st.DataObject, prior: FlatDirichlet, discount: float, uniform: bool
) -> None:
    prior = prior.uniform() if uniform else prior
    observed = data.draw(transitions(prior))
    model = solved_model(prior, Task(discount, len(observed)))
    assert_solved(model, prior.mean().solve(discount))
    for done in range(1, len(observed) + 1):
        learn_all(model, np.array(observed[done - 1 : done]))
        assert_solved(model, prior.posterior(observed[:done]).mean().solve(discount))


@pytest.mark.parametrize("name", PRIORS)
def test_rounding_that_has_added_up_is_repaired(name: str) -> None:
    """As soon as the policy's own pair is seen again."""
    prior = PRIORS[name]()
    model = solved_model(prior, Task(0.95, 10))
    model.inverse[:] *= 1 + 1e-7 * generator("test rounding").standard_normal(model.inverse.shape)
    observed = [(0, int(model.policy[0]), prior.num_states - 1)]
    learn_all(model, np.array(observed))
    assert_solved(model, prior.posterior(observed).mean().solve(0.95))


def test_reset_goes_back_exactly() -> None:
    prior = distribution("Grid")
    initial = solved_model(prior, Task(0.95, 1000))
    model, untouched = copy(initial), copy(initial)
    learn_all(model, random_transitions(prior, 1000, "before"))
    reset_model(model, initial)
    for name in ("policy", "inverse", "value", "q", "norms", "bonus"):
        np.testing.assert_array_equal(getattr(model, name), getattr(untouched, name))
    observed = random_transitions(prior, 1000, "after")
    learn_all(model, observed)
    learn_all(untouched, observed)
    np.testing.assert_array_equal(model.q, untouched.q)


def test_without_rewards_all_values_are_zero() -> None:
    prior = FlatDirichlet(np.ones((4, 2, 4)), 0)
    model = solved_model(prior, Task(0.95, 100))
    learn_all(model, random_transitions(prior, 100, "nothing"))
    assert (model.q == 0).all()
    assert (model.value == 0).all()


@pytest.mark.parametrize("discount", thinned([0.5, 0.95, 0.99], [0.95]))
@pytest.mark.parametrize("name", ["uniform:GC", "uniform:GDL", "uniform:Grid"])
def test_exact_ties_on_uniform_priors(name: str, discount: float) -> None:
    """Pairs of a state that were not tried and pay alike keep exactly equal values."""
    prior = distribution(name)
    pay = prior.rewards.mean.to_dense()
    rng = generator("test ties", name)
    model = solved_model(prior, Task(discount, 2000))
    tried = np.zeros((prior.num_states, prior.num_actions), bool)
    compared = 0
    for _ in range(2000):
        # Some states are never left, and of the others two actions are never tried, if there are.
        state = 2 * int(rng.integers((prior.num_states + 1) // 2))
        action = int(rng.integers(max(1, prior.num_actions - 2)))
        tried[state, action] = True
        learn_all(model, np.array([(state, action, rng.integers(prior.num_states))]))
        q = model.q.reshape(tried.shape)
        for one, other in zip(*np.triu_indices(prior.num_actions, 1), strict=True):
            untried = ~tried[:, one] & ~tried[:, other]
            same = (pay[:, one] == pay[:, other]).all(axis=1) & untried
            assert (q[same, one] == q[same, other]).all()
            compared += int(same.sum())
    assert compared > 5000


def sparse_prior(states: int, actions: int = 2, successors: int = 3) -> FlatDirichlet:
    rng = generator("test sparse", states)
    pairs = np.repeat(np.arange(states * actions), successors)
    places = (
        pairs // actions,
        pairs % actions,
        (pairs * 7 + np.tile(np.arange(successors), states * actions) * 311) % states,
    )
    values = [rng.uniform(0.1, 2, len(pairs)), rng.uniform(0, 1, len(pairs))]
    counts, rewards = (
        SparseTable.from_entries(states, actions, *places, numbers, "table") for numbers in values
    )
    return FlatDirichlet(counts, rewards)


@pytest.mark.parametrize("discount", thinned([0.5, 0.99], [0.99]))
@pytest.mark.parametrize("name", PRIORS)
def test_sweeps(name: str, discount: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builders, "MAX_INVERSE_STATES", 0)
    prior = PRIORS[name]()
    observed = random_transitions(prior, 1000, name, "sweep")
    rng = generator("test sweeps", name)
    model = build_model(prior, Task(discount, 1000))
    assert len(model.inverse) == 0
    model.bonus[:] = rng.uniform(0, 5, len(model.bonus))
    solve(model)
    assert_solved(model, with_bonus(prior.mean(), model.bonus).solve(discount), SWEEP_TOLERANCE)
    for done in range(200, 1001, 200):
        part = slice(done - 200, done)
        learn_all_with_bonus(model, observed[part], rng.uniform(0, 5, 200))
        mean = prior.posterior(observed[:done]).mean()
        assert_solved(model, with_bonus(mean, model.bonus).solve(discount), SWEEP_TOLERANCE)


@pytest.mark.parametrize("discount", thinned([0.95, 0.99], [0.95]))
def test_many_states_are_solved_by_sweeps(discount: float) -> None:
    prior = sparse_prior(1500)
    model = solved_model(prior, Task(discount, 300))
    assert model.inverse.size == 0
    assert_solved(model, prior.mean().solve(discount), SWEEP_TOLERANCE)
    observed = random_transitions(prior, 300, "large")
    for done in range(100, 301, 100):
        learn_all(model, observed[done - 100 : done])
        expected = prior.posterior(observed[:done]).mean().solve(discount)
        assert_solved(model, expected, SWEEP_TOLERANCE)


def test_the_method_is_chosen_by_the_number_of_states() -> None:
    largest = builders.MAX_INVERSE_STATES
    for states, side in ((largest, largest), (largest + 1, 0)):
        model = build_model(sparse_prior(states), Task(0.95, 10))
        assert model.inverse.shape == (side, side)
