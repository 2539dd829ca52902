"""The merged MDP against plain value iteration over all of its rows."""

from typing import Any

import numpy as np
import pytest
from benchmarks.plain_sampling import Rows, draw_rows, value_iteration
from hypothesis import given
from hypothesis import strategies as st

from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.builders.merged import build_merged
from brlbench.builders.model import copy
from brlbench.builders.sampled import MAX_MATRIX_STATES
from brlbench.kernels.choice import TIE
from brlbench.kernels.jit import kernel
from brlbench.kernels.random import gamma
from brlbench.kernels.solving import merged as kernels
from brlbench.kernels.solving.merged_rows import MANY_DRAWS, Merged, draw_outside, regions_of
from brlbench.kernels.solving.sampled import Initial, entries_of, learn
from brlbench.kernels.types import Words
from brlbench.mdps.sparse import Floats, Integers
from brlbench.problems import distribution
from helpers.compiled import draw_words, keyed_words
from helpers.laws import assert_same_law
from helpers.sizes import sizes, thinned
from helpers.strategies import discounts, priors, reproducible, transitions

pytestmark = pytest.mark.slow  # compiled code of tests is not kept on disk

NAMES = ("GC", "GDL", "Grid", "uniform:GC", "uniform:GDL")


@kernel
def resample(merged: Merged, rng: Words) -> None:
    kernels.resample(merged, rng)


@kernel
def reset(merged: Merged, initial: Initial) -> None:
    kernels.reset(merged, initial, 0)


@kernel
def draw_rest(merged: Merged, pair: int, rng: Words, rows: Floats) -> None:
    """Fill some room with rows of a pair that are outside of its regions."""
    shapes = merged.mdp.posterior.entry_count[entries_of(merged.mdp.rows, pair)]
    regions = merged.regions.region[regions_of(merged, pair, merged.regions.number[pair])]
    draw_outside(rng, shapes, regions, rows)


@kernel
def learn_all(merged: Merged, observed: Integers) -> None:
    for i in range(len(observed)):
        pair = observed[i, 0] * merged.mdp.posterior.num_actions + observed[i, 1]
        learn(merged.mdp, pair, observed[i, 2], 0.0)


@kernel
def draw_row(rng: Words, shapes: Floats, out: Floats) -> None:
    gamma.draw_row(rng, shapes, out)


def new_rng(seed: int) -> Words:
    return np.random.default_rng(seed).integers(0, 2**64, size=4, dtype=np.uint64)


def build(
    prior: FlatDirichlet, discount: float, num_rows: Any, room: bool = True, horizon: int = 30
) -> tuple[Merged, Initial]:
    """A merged MDP with this many rows per pair, with or without room to keep them."""
    numbers = np.broadcast_to(np.asarray(num_rows), prior.counts.num_pairs).copy()
    most = numbers.astype(np.float64) if room else np.ones(len(numbers))
    return build_merged(prior, Task(discount, horizon), numbers, most)


def keyed_stream(key: Words) -> Words:
    """The generator from which rows are drawn again."""
    stream = np.zeros(4, np.uint64)
    keyed_words(np.repeat(key, 4), np.zeros(4, np.int64), np.arange(4), stream)
    return stream


def all_rows(merged: Merged, rng: Words) -> Rows:
    """Every row that a sampling from this generator draws, none of them left out."""
    posterior = merged.mdp.posterior
    states, actions = posterior.num_states, posterior.num_actions
    rows: Rows = [[np.zeros((0, states))] * actions for _ in range(states)]
    for pair in range(states * actions):
        first, length = posterior.row_start[pair], posterior.row_length[pair]
        shapes = posterior.entry_count[first : first + length]
        following = posterior.entry_next[first : first + length]
        number = int(merged.num_rows[pair]) if length > 1 else 1
        stream = rng
        if merged.sample.redrawn[pair]:
            key = np.zeros(1, np.uint64)
            draw_words(rng, key)
            stream = keyed_stream(key)
        dense, drawn = np.zeros((number, states)), np.zeros(length)
        for k in range(number):
            draw_row(stream, shapes, drawn)
            dense[k, following] = drawn
        rows[pair // actions][pair % actions] = dense
    return rows


def completed_rows(merged: Merged, rng: Words) -> Rows:
    """The rows that a sampling has kept, and others that stand for those left out."""
    sample = merged.sample
    states, actions = merged.mdp.posterior.num_states, merged.mdp.posterior.num_actions
    rows: Rows = [[np.zeros((0, states))] * actions for _ in range(states)]
    for pair in range(states * actions):
        first, length = merged.mdp.rows.first_entry[pair], merged.mdp.rows.length[pair]
        place, number = int(sample.first_row[pair]), int(sample.number[pair])
        left = np.zeros(sample.left[pair] * length)
        stream = keyed_stream(sample.key[pair]) if sample.redrawn[pair] else rng
        draw_rest(merged, pair, stream, left)
        drawn = np.append(merged.mdp.rows.probability[place : place + number * length], left)
        dense = np.zeros((len(drawn) // length, states))
        dense[:, merged.mdp.posterior.entry_next[first : first + length]] = drawn.reshape(
            -1, length
        )
        rows[pair // actions][pair % actions] = dense
    return rows


def assert_solved(merged: Merged, rows: Rows, prior: FlatDirichlet, tolerance: float) -> None:
    """The values are exact, and so are the actions' ones, except of those that are not best."""
    q = value_iteration(rows, prior.rewards.mean.to_dense(), merged.mdp.discount)
    scale, value = np.abs(q).max(), q.max(axis=1)
    solution, found = merged.mdp.optimum, merged.mdp.optimum.q.reshape(q.shape)
    np.testing.assert_allclose(solution.value, value, atol=tolerance * scale, rtol=0)
    assert solution.scale[0] == pytest.approx(np.abs(solution.value).max())
    exact = (merged.sample.left == 0).reshape(q.shape) | (q > value[:, None] - TIE * scale)
    np.testing.assert_allclose(found[exact], q[exact], atol=tolerance * scale, rtol=0)
    assert (found <= q + tolerance * scale).all()


@reproducible
@given(st.data(), priors(), discounts, st.booleans())
def test_it_is_solved_exactly(
    data: st.DataObject, prior: FlatDirichlet, discount: float, room: bool
) -> None:
    """All rows, including those that are left out as never best and those that are redrawn."""
    pairs = prior.counts.num_pairs
    numbers = data.draw(st.lists(st.integers(1, 7), min_size=pairs, max_size=pairs))
    merged, initial = build(prior, discount, numbers, room)
    reset(merged, initial)
    observed = data.draw(transitions(prior))
    learn_all(merged, np.array(observed, np.int64).reshape(-1, 3))
    for seed in (1, 2):
        resample(merged, new_rng(seed))
        assert_solved(merged, all_rows(merged, new_rng(seed)), prior, 1e-9)


@reproducible
@given(st.data(), priors(), discounts)
def test_the_posterior_is_that_of_the_prior_and_the_transitions(
    data: st.DataObject, prior: FlatDirichlet, discount: float
) -> None:
    merged, initial = build(prior, discount, 1)
    for _ in range(2):  # the second time after going back to the prior
        reset(merged, initial)
        observed = data.draw(transitions(prior))
        learn_all(merged, np.array(observed, np.int64).reshape(-1, 3))
        expected, counts = prior.posterior(observed), merged.mdp.posterior
        rewards = expected.rewards.mean.to_dense().reshape(-1, prior.num_states)
        dense = np.zeros((prior.counts.num_pairs, prior.num_states))
        for pair, (first, length) in enumerate(
            zip(counts.row_start, counts.row_length, strict=True)
        ):
            entries = slice(first, first + length)
            dense[pair, counts.entry_next[entries]] = counts.entry_count[entries]
            known = rewards[pair, counts.entry_next[entries]]
            np.testing.assert_array_equal(merged.mdp.entry_reward[entries], known)
        np.testing.assert_allclose(dense, expected.counts.to_dense().reshape(dense.shape))


@pytest.mark.parametrize("number", [MANY_DRAWS - 1, MANY_DRAWS, 1000])
@pytest.mark.parametrize("name", thinned(NAMES, usual=["GC", "uniform:GC"]))
def test_rows_that_are_not_drawn_change_nothing(name: str, number: int) -> None:
    prior = distribution(name)
    merged, initial = build(prior, 0.95, number)
    reset(merged, initial)
    for seed in range(3):
        resample(merged, new_rng(seed))
        rows = completed_rows(merged, new_rng(seed + 100))
        assert_solved(merged, rows, prior, 1e-9)
        if name == "uniform:GC" and number == 1000:
            assert (merged.sample.left > 0).mean() > 0.5


@pytest.mark.parametrize("size", sizes((100, 500), (1000, 2000)))
def test_values_have_the_law_of_plain_draws(size: tuple[int, int]) -> None:
    """The values of many samplings against those of merged MDPs whose rows are all drawn."""
    number, samples = size
    rng = np.random.default_rng(3)
    counts = np.ones((3, 2, 3)) + rng.integers(0, 3, (3, 2, 3))
    counts[2, 1] = [0.2, 1.7, 0.6]
    prior = FlatDirichlet(counts, rng.uniform(-1, 2, counts.shape))
    merged, initial = build(prior, 0.8, number)
    reset(merged, initial)
    words, rewards = new_rng(4), prior.rewards.mean.to_dense()
    lazy, plain = np.zeros((2, samples, 3))
    for i in range(len(lazy)):
        resample(merged, words)
        lazy[i] = merged.mdp.optimum.value
        rows = [[draw_rows(row, number, rng) for row in state] for state in counts]
        plain[i] = value_iteration(rows, rewards, 0.8, 1e-9).max(axis=1)
    assert_same_law(lazy, plain, ["value 0", "value 1", "value 2"])


def test_drawn_and_computed_extremes_have_one_law() -> None:
    """Just below and just above the number of draws from which extremes are computed."""
    counts = np.zeros((2, 1, 2))
    counts[:, 0] = [[2.5, 0.7], [1.0, 3.0]]
    prior = FlatDirichlet(counts, [0.0, 1.0])
    extremes = {}
    for number in (MANY_DRAWS - 1, MANY_DRAWS):
        merged, _ = build(prior, 0.5, number)
        rng, drawn = new_rng(number), np.zeros((2000, 2, 2))
        for i in range(len(drawn)):
            resample(merged, rng)
            sample = merged.sample
            drawn[i] = [
                merged.mdp.rows.probability[place : place + 4 : 2] for place in sample.first_row
            ]
        extremes[number] = drawn
    one, other = extremes.values()
    error = np.sqrt((one.var(axis=0) + other.var(axis=0)) / len(one))
    # One draw in 31 more or less moves the means by a fraction of their spread.
    allowed = 4 * error + 0.05 * one.std(axis=0)
    assert (np.abs(one.mean(axis=0) - other.mean(axis=0)) < allowed).all()


@pytest.mark.parametrize("discount", [0.5, 0.9999])
@pytest.mark.parametrize("name", ["GC", "Grid", "uniform:Grid"])
def test_sweeps_come_close_to_elimination(name: str, discount: float) -> None:
    prior = distribution(name)
    exact, initial = build(prior, discount, 4)
    reset(exact, initial)
    swept = copy(exact)
    optimum = swept.mdp.optimum._replace(matrix=np.zeros((0, 0)))
    swept = swept._replace(mdp=swept.mdp._replace(optimum=optimum))
    for seed in range(2):
        resample(exact, new_rng(seed))
        resample(swept, new_rng(seed))
        atol = 1e-8 * exact.mdp.optimum.scale[0]
        np.testing.assert_allclose(swept.mdp.optimum.q, exact.mdp.optimum.q, atol=atol, rtol=0)


def test_many_states() -> None:
    states = MAX_MATRIX_STATES + 1
    counts = np.zeros((states, 2, states))
    counts[np.arange(states), 0, np.arange(1, states + 1) % states] = 1
    counts[:, :, 0] += 1
    prior = FlatDirichlet(counts, np.arange(states) / states)
    merged, initial = build(prior, 0.9, 3)
    assert merged.mdp.optimum.matrix.size == 0
    reset(merged, initial)
    resample(merged, new_rng(0))
    assert_solved(merged, all_rows(merged, new_rng(0)), prior, 1e-8)


def test_rows_that_find_no_room_are_drawn_again() -> None:
    """Shapes so small that rows can't be looked for in regions."""
    prior = FlatDirichlet(np.full((5, 3, 5), 0.01), np.arange(5.0))
    numbers = np.full(prior.counts.num_pairs, 300)
    scarce, initial = build_merged(
        prior, Task(0.95, 10), numbers, np.where(np.arange(15) < 7, 150.0, 1.0)
    )
    reset(scarce, initial)
    resample(scarce, new_rng(5))
    assert scarce.sample.redrawn.sum() == 8
    assert_solved(scarce, all_rows(scarce, new_rng(5)), prior, 1e-9)


def test_some_rows_find_room_and_the_others_are_drawn_again() -> None:
    prior = distribution("uniform:GDL")
    ample, initial = build(prior, 0.95, 2000)
    reset(ample, initial)
    scarce = copy(ample)
    resample(ample, new_rng(6))
    rows = np.zeros(ample.sample.end[0] + 150 * prior.num_states)
    scarce_rows = scarce.mdp.rows._replace(probability=rows)
    scarce = scarce._replace(mdp=scarce.mdp._replace(rows=scarce_rows))
    resample(scarce, new_rng(6))
    sample, regions = scarce.sample, scarce.regions.number
    assert (sample.redrawn & (regions > 0) & (sample.number > 0)).any()
    assert_solved(scarce, completed_rows(scarce, new_rng(7)), prior, 1e-9)
