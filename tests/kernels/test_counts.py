import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench.beliefs.flat import FlatDirichlet
from brlbench.builders.model import build_counts, copy
from brlbench.kernels.counts import Counts
from brlbench.mdps.sparse import Floats, Integers
from brlbench.problems import distribution
from brlbench.streams import generator
from helpers.compiled import count_all, reset_counts, rewards_of, support_sizes
from helpers.strategies import priors, reproducible, transitions


def dense(counts: Counts) -> Floats:
    """The counts as an array [S, A, S]."""
    table = np.repeat(counts.background[:, None], counts.num_states, axis=1)
    for pair, first in enumerate(counts.row_start):
        for entry in range(first, first + counts.row_length[pair]):
            table[pair, counts.entry_next[entry]] += counts.entry_count[entry]
    return table.reshape(counts.num_states, counts.num_actions, counts.num_states)


def assert_equal_to(counts: Counts, posterior: FlatDirichlet) -> None:
    expected = posterior.counts.to_dense()
    np.testing.assert_allclose(dense(counts), expected, rtol=1e-13)
    np.testing.assert_allclose(counts.total, expected.sum(axis=2).ravel(), rtol=1e-13)
    weighted = expected * posterior.rewards.mean.to_dense()
    scale = np.abs(weighted).sum(axis=2).ravel()
    assert (np.abs(counts.reward_sum - weighted.sum(axis=2).ravel()) <= 1e-13 * scale).all()
    sizes = np.zeros(len(counts.total), np.int64)
    support_sizes(counts, sizes)
    np.testing.assert_array_equal(sizes, np.count_nonzero(expected, axis=2).ravel())


def random_transitions(prior: FlatDirichlet, number: int, *names: object) -> Integers:
    ends = (prior.num_states, prior.num_actions, prior.num_states)
    rng = generator("test counts", *names)
    return np.stack([rng.integers(0, end, number) for end in ends], axis=1)


@reproducible
@given(st.data(), priors(), st.booleans())
def test_counts_are_those_of_the_posterior(
    data: st.DataObject, prior: FlatDirichlet, uniform: bool
) -> None:
    prior = prior.uniform() if uniform else prior
    observed = data.draw(transitions(prior))
    counts = build_counts(prior, len(observed))
    assert_equal_to(counts, prior)
    count_all(counts, np.array(observed, np.int64).reshape(-1, 3))
    assert_equal_to(counts, prior.posterior(observed))


@pytest.mark.parametrize("name", ["GC", "GDL", "Grid", "uniform:Grid"])
def test_rows_grow_until_everything_is_possible(name: str) -> None:
    prior = distribution(name)
    every = np.indices(prior.counts.shape).reshape(3, -1).T
    observed = generator("test growth", name).permutation(np.tile(every, (8, 1)))
    counts = build_counts(prior, len(observed))
    kept = copy(counts)
    for part in np.array_split(observed, 4):
        count_all(counts, part)
    assert_equal_to(counts, prior.posterior(observed))
    assert dense(counts).min() >= 8
    reset_counts(counts, kept)
    np.testing.assert_array_equal(dense(counts), prior.counts.to_dense())
    np.testing.assert_array_equal(counts.total, kept.total)
    np.testing.assert_array_equal(counts.reward_sum, kept.reward_sum)


def test_after_going_back_counts_learn_as_at_first() -> None:
    prior = distribution("Grid")
    observed = random_transitions(prior, 300, "again")
    counts = build_counts(prior, len(observed))
    kept = copy(counts)
    count_all(counts, observed)
    first = dense(counts), counts.reward_sum.copy()
    reset_counts(counts, kept)
    count_all(counts, random_transitions(prior, 300, "other"))
    reset_counts(counts, kept)
    count_all(counts, observed)
    np.testing.assert_array_equal(dense(counts), first[0])
    np.testing.assert_array_equal(counts.reward_sum, first[1])


def test_a_uniform_prior_needs_no_entries() -> None:
    counts = build_counts(distribution("uniform:Grid"), 10)
    assert counts.pool_end[0] == 0
    assert (counts.background == 1).all()
    assert counts.has_background


@reproducible
@given(priors(), st.booleans(), st.data())
def test_listed_transitions_have_the_first_entries(
    prior: FlatDirichlet, background: bool, data: st.DataObject
) -> None:
    number = len(prior.counts.values)
    listed = np.array(data.draw(st.lists(st.booleans(), min_size=number, max_size=number)))
    counts = build_counts(prior, 10, background, listed)
    np.testing.assert_array_equal(dense(counts), prior.counts.to_dense())
    for pair, first in enumerate(counts.row_start):
        expected = prior.counts.next_state[listed & (prior.counts.pair == pair)]
        np.testing.assert_array_equal(counts.entry_next[first : first + len(expected)], expected)


@reproducible
@given(priors(), st.integers(1, 40))
def test_there_is_room_for_as_many_transitions_as_announced(
    prior: FlatDirichlet, horizon: int
) -> None:
    """The worst case: each transition is a new one, of one pair or of as many as there are."""
    order = generator("test room").permutation(prior.counts.to_dense().size)
    places = np.stack(np.unravel_index(order, prior.counts.shape), axis=1)
    impossible = places[prior.counts.to_dense()[tuple(places.T)] == 0][:horizon]
    for observed in (impossible, impossible[np.lexsort(impossible.T[::-1])]):
        counts = build_counts(prior, horizon)
        count_all(counts, observed)
        assert_equal_to(counts, prior.posterior(observed))


@pytest.mark.parametrize("successors", [1, 2, 7, 20])
def test_there_is_room_for_one_row_to_grow_to_the_end(successors: int) -> None:
    states = 200
    table = np.zeros((states, 1, states))
    table[:, :, :successors] = 1
    prior = FlatDirichlet(table, 0)
    for horizon in range(1, states - successors, 9):
        observed = np.array([(0, 0, successors + i) for i in range(horizon)])
        counts = build_counts(prior, horizon)
        count_all(counts, observed)
        assert counts.row_length[0] == successors + horizon


@pytest.mark.parametrize("successors", [1, 7, 39])
def test_a_long_horizon_takes_no_more_room_than_full_rows(successors: int) -> None:
    states = 40
    table = np.zeros((states, 2, states))
    table[:, :, :successors] = 1
    counts = build_counts(FlatDirichlet(table, 0), 10**9)
    assert len(counts.entry_count) <= 2 * states * (successors + 4 * states)
    every = np.array([(x, u, y) for x in range(states) for u in (0, 1) for y in range(states)])
    count_all(counts, every)
    assert (counts.row_length == states).all()


def test_more_transitions_than_announced_are_refused() -> None:
    states = 500
    prior = FlatDirichlet(np.eye(states)[:, None, :], 0)
    counts = build_counts(prior, 2)
    observed = np.array([(x, 0, (x + 1) % states) for x in range(states)])
    with pytest.raises(IndexError, match=r"more decisions than the agent was trained for"):
        count_all(counts, observed)


@reproducible
@given(priors())
def test_rewards_are_known_for_impossible_transitions_too(prior: FlatDirichlet) -> None:
    counts = build_counts(prior, 1)
    rewards = prior.rewards.mean.to_dense().reshape(-1, prior.num_states)
    out = np.zeros(prior.num_states)
    for pair, expected in enumerate(rewards):
        rewards_of(counts, pair, out)
        np.testing.assert_array_equal(out, expected)
