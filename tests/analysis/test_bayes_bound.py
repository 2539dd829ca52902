from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.analysis import bayes_bound
from brlbench.analysis.bayes_bound import BayesOptimalBound, Growth, bayes_optimal_bound
from brlbench.analysis.bayes_bound.facets import FacetBook
from brlbench.analysis.bayes_bound.search import Search, draw_stratified, problem_of
from brlbench.analysis.bayes_optimal import bayes_optimal_value
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from brlbench.kernels.beliefs.facets import BLOCK, UNKNOWN, Scratch, weigh_facets

# Two states, two actions; uneven, fractional counts.
COUNTS = np.array([[[1, 3], [0.5, 0.1]], [[2, 2], [0, 1]]])
REWARDS = np.array([[[1, 2], [0.3, 4]], [[0, 1], [5, 0.5]]])


@pytest.fixture(autouse=True)
def few_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """E[V*] comes from 4,096 MDPs instead of 32,768; standard errors say so."""
    monkeypatch.setattr(bayes_bound, "_BLOCKS_OF_VALUES", 32)


def check_close(found: BayesOptimalBound, value: float, slack: float) -> None:
    """A bound at its full depth is the value, up to its error and what lies beyond."""
    error = 4 * found.standard_error
    assert found.is_complete
    assert value - error < found.estimate < value + slack + error


@pytest.mark.parametrize(
    "prior",
    [
        FlatDirichlet(COUNTS, REWARDS, start=[0.3, 0.7]),
        FlatDirichlet(np.ones((2, 3, 2)), [0, 1]),  # three alike actions
    ],
)
def test_at_its_full_depth_it_is_the_bayes_optimal_value(prior: FlatDirichlet) -> None:
    """Later decisions add at most the tail, to the value as to the bound."""
    tail = 2 * 0.4**6 * prior.max_reward / (1 - 0.4)
    found = bayes_optimal_bound(prior, 0.4, depth=6)
    check_close(found, bayes_optimal_value(prior, 0.4, 6), tail)
    assert found.depth == 6
    assert found.estimate < found.upper < found.clairvoyant


@pytest.mark.parametrize("sure", [0.45, 0.55])
def test_an_unknown_arm_beside_a_sure_one(sure: float) -> None:
    """The unknown arm is pulled until the sure one is better for good; a pull is two decisions."""
    counts, rewards = np.zeros((3, 2, 3)), np.zeros((3, 2, 3))
    counts[0, 0, 1:] = counts[0, 1, 2] = counts[1:, :, 0] = 1
    rewards[0, 0, 1], rewards[0, 1, 2] = 1, sure

    def value(successes: int, failures: int, left: int) -> float:
        stop = sure / (1 - 0.36)
        if left == 0:
            return stop
        won = 1 + 0.36 * value(successes + 1, failures, left - 1)
        lost = 0.36 * value(successes, failures + 1, left - 1)
        return max(stop, (successes * won + failures * lost) / (successes + failures))

    found = bayes_optimal_bound(FlatDirichlet(counts, rewards), 0.6, depth=16)
    check_close(found, value(1, 1, 8), 0.6**16 / (1 - 0.36))


def searched(depth: int, prior: FlatDirichlet) -> Search:
    search = Search(prior, 0.95, 2, depth, np.random.default_rng(7))
    while search.grow():
        pass
    return search


def test_the_bound_never_rises_with_the_depth() -> None:
    found = [searched(depth, bb.distribution("GC")) for depth in range(1, 7)]
    for less, more in pairwise(found):
        assert more.loss > less.loss


def test_the_loss_is_divided_between_repetitions() -> None:
    for name in ("GC", "GDL"):
        search = searched(5, bb.distribution(name))
        losses = search.losses()
        assert losses.mean() == pytest.approx(search.loss, rel=1e-5)
        assert losses[0] != losses[1]


def test_actions_that_lose_too_much_are_never_expanded() -> None:
    """The beliefs are those after the good action alone: 1, 2, 3 and 4 after 0 to 3 decisions."""
    counts, rewards = np.ones((2, 2, 2)), np.zeros((2, 2, 2))
    counts[1, :, 1] = 0
    rewards[0, 1] = -100
    assert searched(4, FlatDirichlet(counts, rewards)).num_beliefs == 1 + 2 + 3 + 4


@pytest.mark.slow
def test_errors_are_as_large_as_they_are_said_to_be() -> None:
    prior, number = FlatDirichlet(np.ones((2, 2, 2)), [0, 1]), 16
    found = [bayes_optimal_bound(prior, 0.4, depth=4, seed=seed) for seed in range(number)]
    spread = np.std([each.estimate for each in found], ddof=1)
    said = np.sqrt(np.mean([each.standard_error**2 for each in found]))
    assert spread / said == pytest.approx(1, abs=4 / np.sqrt(2 * number))


def test_alike_actions_are_exchanged_without_a_change() -> None:
    """Counts that differ a little have no alike actions, but almost the same bound."""
    gc = bb.distribution("GC")
    jitter = 1 + 1e-9 * np.arange(gc.num_actions)[:, None]
    uneven = FlatDirichlet(gc.counts.to_dense() * jitter, gc.rewards)
    merged = bayes_optimal_bound(gc, depth=5, repetitions=16)
    apart = bayes_optimal_bound(uneven, depth=5, repetitions=16)
    error = np.hypot(merged.standard_error, apart.standard_error)
    assert merged.estimate == pytest.approx(apart.estimate, abs=4 * error)
    assert 3 * merged.beliefs < apart.beliefs


def test_knowledge_is_a_martingale() -> None:
    """What an observation is expected to change in a belief's weights, in each MDP, is nothing."""
    gc = bb.distribution("GC")
    facets = searched(6, gc).facets
    expanded = np.flatnonzero(facets.following[:, 0] != UNKNOWN)
    assert len(expanded) > 10
    for facet in expanded:
        first, end = gc.counts.row_start[:2]  # of a state's first action
        after = facets.following[facet, first:end]
        expected = facets.chance[facet, first:end] @ facets.weight[after]
        np.testing.assert_allclose(expected, facets.weight[facet], rtol=1e-4, atol=1e-5)


def test_much_knowledge_neither_overflows_nor_vanishes() -> None:
    """The weights of a facet with 300 observations are finite, and their mean is 1."""
    prior = FlatDirichlet(np.ones((2, 1, 2)), [0, 1])
    book, facet = FacetBook(prior, BLOCK), 0
    for observed in range(300):
        book.follow(facet)
        facet = int(book.arrays.following[facet, observed % 2])
    probability = draw_stratified(prior, BLOCK, BLOCK, np.random.default_rng(1)).T
    problem = problem_of(prior, 0.9, BLOCK, *book.orders)
    problem.probability[:], problem.regret[:] = probability, 1
    scratch = Scratch(*(np.ones(shape, np.float32) for shape in ((1, 1, BLOCK), BLOCK, BLOCK)))
    weigh_facets(problem, book.arrays, scratch, facet, facet + 1)
    assert book.arrays.weight[facet].mean() == pytest.approx(1, abs=0.05)
    np.testing.assert_array_equal(book.arrays.weight[facet], book.arrays.loss[facet, 0])


def test_facets_keep_alike_actions_sorted() -> None:
    book = FacetBook(bb.distribution("GC"), 0)
    book.follow(2)
    after = book.arrays.following[2]
    assert after[0] == after[2] == after[4] != after[1] == after[3] == after[5]
    assert book.arrays.lead[2].tolist() == [0, 0, 0]
    assert book.arrays.lead[after[0]].tolist() == [0, 1, 1]
    assert book.arrays.chance[after[0], :4] == pytest.approx([2 / 3, 1 / 3, 1 / 2, 1 / 2])


def test_draws_are_even_and_have_the_prior_s_law() -> None:
    prior = FlatDirichlet(np.array([[[1, 1], [0.3, 2]], [[5, 0], [1, 2]]]), [0, 1])
    drawn = draw_stratified(prior, 1024, 512, np.random.default_rng(3))
    assert np.array_equal(np.sort(np.floor(drawn[512:, 0] * 512)), np.arange(512))
    totals = prior.counts.row_sums()[prior.counts.pair]
    means = prior.counts.values / totals
    assert drawn.mean(axis=0) == pytest.approx(means, abs=1e-3)
    assert drawn.var(axis=0) == pytest.approx(means * (1 - means) / (totals + 1), abs=2e-3)
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 2])[0, 1]) < 4 / np.sqrt(1024)


def test_beliefs_and_seeds_decide_alone() -> None:
    prior, growths = bb.distribution("GDL"), list[Growth]()
    found = bb.bayes_optimal_bound(prior, beliefs=3000, on_growth=growths.append)
    assert found == bayes_optimal_bound(prior.named("another"), beliefs=3000, seconds=1e6)
    assert found != bayes_optimal_bound(prior, beliefs=3000, seed=1)
    assert 3000 <= found.beliefs < 3200
    assert not found.is_complete
    assert growths[-1].beliefs == found.beliefs
    estimates = [growth.estimate for growth in growths]
    assert estimates == sorted(estimates, reverse=True)


def test_time_ends_a_search() -> None:
    found = bayes_optimal_bound(bb.distribution("GC"), seconds=1e-3)
    assert found.beliefs == 1
    assert found.depth == 1


def test_negative_rewards_are_saved_after_the_horizon() -> None:
    prior = FlatDirichlet(COUNTS, REWARDS - 5)
    endless = bayes_optimal_bound(prior, 0.5, depth=4)
    bound = bayes_optimal_bound(prior, 0.5, depth=4, horizon=2)
    assert bound.upper == pytest.approx(endless.upper + 5 * 0.5**2 / (1 - 0.5))
    assert bound.upper > bayes_optimal_value(prior, 0.5, 2) > endless.upper


def test_of_one_mdp_it_takes_what_agents_are_told() -> None:
    chain = bb.distribution("Chain")
    found = bayes_optimal_bound(chain, depth=2)
    assert found == bayes_optimal_bound(chain.as_prior(), depth=2)


@pytest.mark.parametrize(
    "arguments",
    [
        {"depth": 0},
        {"beliefs": 0},
        {"seconds": 0},
        {"repetitions": 1},
        {"horizon": 0},
        {"seed": -1},
        {"discount": 1},
    ],
)
def test_arguments_that_are_none(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=f"{next(iter(arguments))} = "):
        bayes_optimal_bound(bb.distribution("GC"), **arguments)


def test_too_large_a_problem() -> None:
    with pytest.raises(InvalidInput, match=r"would need .* of memory"):
        bayes_optimal_bound(bb.distribution("GC"), depth=2, repetitions=10**9)
    with pytest.raises(InvalidInput, match="the prior has 400 states"):
        bayes_optimal_bound(bb.distribution("DeepSea:size=20"), depth=2)


@pytest.mark.parametrize("discount", [1e-9, 1 - 1e-12])
def test_any_discount_and_depth(discount: float) -> None:
    found = bayes_optimal_bound(bb.distribution("GC"), discount, depth=10**12, beliefs=20)
    assert np.isfinite(found.upper)
