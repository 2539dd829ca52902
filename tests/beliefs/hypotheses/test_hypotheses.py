"""Sets of hypotheses against Bayes' rule by hand."""

import math
import weakref
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import brlbench as bb
from brlbench.beliefs.hypotheses.effective import effective_sizes
from brlbench.builders.belief import build_belief
from brlbench.errors import InvalidInput
from brlbench.streams import generator
from helpers.own_problems import river
from helpers.strategies import reproducible

WEIGHTS = [1.0, 2.0, 1.0]
Steps = list[tuple[int, int, int, float]]


def differing() -> list[bb.MDP]:
    """Three MDPs that differ in transitions and rewards."""
    return [river(0.1, 1.0), river(0.4, 1.0), river(0.4, 2.0)]


@st.composite
def steps(draw: st.DrawFn) -> Steps:
    """Transitions and rewards of which each is possible in some of the MDPs."""
    pairs = draw(st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.booleans()), max_size=12))
    reward = draw(st.sampled_from([1.0, 2.0]))
    made = []
    for x, swims, slips in pairs:
        y = (0 if slips else min(x + 1, 2)) if swims else max(x - 1, 0)
        made.append((x, int(swims), y, reward if y == 2 else 0.0))
    return made


def by_hand(mdps: list[bb.MDP], weights: list[float], seen: Steps) -> Any:
    posterior = np.array(weights)
    for x, u, y, r in seen:
        likelihood = [
            mdp.transitions.to_dense()[x, u, y] * (mdp.rewards.mean.to_dense()[x, u, y] == r)
            for mdp in mdps
        ]
        posterior = posterior * likelihood
        posterior /= posterior.sum()
    return posterior


@reproducible
@given(steps())
def test_weights_are_those_of_bayes_rule(seen: Steps) -> None:
    prior = bb.Hypotheses(differing(), WEIGHTS)
    belief = prior.belief()
    for step in seen:
        belief.observe(*step)
    expected = by_hand(differing(), WEIGHTS, seen) / 1.0
    expected = expected / expected.sum()
    np.testing.assert_allclose(belief.weights, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(prior.posterior(seen).weights, expected, rtol=1e-9, atol=1e-12)
    mean = sum(w * mdp.transitions.to_dense() for w, mdp in zip(expected, differing(), strict=True))
    np.testing.assert_allclose(belief.mean().transitions.to_dense(), mean, rtol=1e-9, atol=1e-12)
    for x, u in np.ndindex(3, 2):
        rows, reward = belief.predictive(x, u)
        np.testing.assert_allclose(rows, mean[x, u], rtol=1e-9, atol=1e-12)
        rewards = [
            mdp.transitions.to_dense()[x, u] @ mdp.rewards.mean.to_dense()[x, u]
            for mdp in differing()
        ]
        assert reward == pytest.approx(float(expected @ rewards), abs=1e-12)


@reproducible
@given(steps(), st.data())
def test_undo_is_exact(seen: Steps, data: st.DataObject) -> None:
    belief = bb.Hypotheses(differing(), WEIGHTS).belief()
    number = data.draw(st.integers(0, len(seen)))
    for step in seen[:number]:
        belief.observe(*step)
    before, mark = belief.weights.tobytes(), belief.mark()
    for step in seen[number:]:
        belief.observe(*step)
    belief.undo(mark)
    assert belief.weights.tobytes() == before


def test_an_observation_that_no_hypothesis_allows_teaches_nothing() -> None:
    belief = bb.Hypotheses(differing(), WEIGHTS).belief()
    belief.observe(2, 1, 2, 7.0)  # a reward that none pays
    belief.observe(0, 0, 2, 0.0)  # a transition that none makes
    np.testing.assert_allclose(belief.weights, [0.25, 0.5, 0.25])


def test_gaussian_rewards_have_their_densities() -> None:
    made = [bb.MDP([[[1.0]]], mean, 0, variance) for mean, variance in ((0, 1), (1, 4), (3, 1))]
    belief = bb.Hypotheses(made).belief()
    expected = np.ones(3)
    for reward in (0.5, 1.7, -0.3):
        belief.observe(0, 0, 0, reward)
        expected *= [scipy.stats.norm(m, s).pdf(reward) for m, s in ((0, 1), (1, 2), (3, 1))]
    np.testing.assert_allclose(belief.weights, expected / expected.sum(), rtol=1e-12)


def test_far_gaussian_rewards_still_tell_hypotheses_apart() -> None:
    """All densities are zero in floating-point numbers; their ratio is not."""
    made = [bb.MDP([[[1.0]]], mean, 0, 0.01) for mean in (0.0, 1.0)]
    prior = bb.Hypotheses(made)
    belief = prior.belief()
    belief.observe(0, 0, 0, 8.0)
    odds = scipy.stats.norm(0, 0.1).logpdf(8) - scipy.stats.norm(1, 0.1).logpdf(8)
    np.testing.assert_allclose(belief.weights, [np.exp(odds), 1.0], rtol=1e-12)
    belief = prior.belief()
    belief.observe(0, 0, 0, 0.52)
    belief.observe(0, 0, 0, 6.0)
    belief.observe(0, 0, 0, -5.0)
    odds = sum((r - 1) ** 2 - r**2 for r in (0.52, 6.0, -5.0)) / 0.02
    np.testing.assert_allclose(belief.weights[0], 1 / (1 + np.exp(-odds)), rtol=1e-9)
    paths = np.zeros((1, 4), np.int64), np.zeros((1, 3), np.int64), np.array([[0.52, 6.0, -5.0]])
    assert sizes_along(prior, *paths)[0] == pytest.approx(belief.effective_size)


def sizes_along(prior: bb.Hypotheses, states: Any, actions: Any, rewards: Any) -> Any:
    """The effective sizes along paths [n, T + 1] of states."""
    return effective_sizes(prior, states[:, :-1], actions, states[:, 1:], rewards)


def by_variance() -> bb.Hypotheses:
    """Two hypotheses that differ in the variance of a reward alone."""
    return bb.Hypotheses([bb.MDP([[[1.0]]], 2.0, 0, variance) for variance in (1.0, 9.0)])


def test_hypotheses_that_differ_in_variance_alone() -> None:
    prior = by_variance()
    assert prior.mean().rewards.variance.values.tolist() == [5.0]
    belief = prior.belief()
    belief.observe(0, 0, 0, 11.0)
    weights = np.array([scipy.stats.norm(2, s).pdf(11.0) for s in (1, 3)])
    np.testing.assert_allclose(belief.weights, weights / weights.sum(), rtol=1e-12)
    assert belief.mean().rewards.variance.values[0] == pytest.approx(9.0, rel=1e-9)
    paths = np.zeros((1, 2), np.int64), np.zeros((1, 1), np.int64), np.array([[11.0]])
    assert sizes_along(prior, *paths)[0] == pytest.approx(belief.effective_size)
    assert "predictive" not in prior.answers
    with pytest.raises(InvalidInput, match="differ in Gaussian rewards"):
        bb.bayes_optimal_value(prior, 0.9, 2)


def test_gaussian_rewards_that_all_share_can_be_looked_ahead_at() -> None:
    """Action 0 pays a Gaussian reward, the same in both hypotheses; action 1 an unknown one."""
    rewards = [[[[1.0], [pay]]] for pay in (0.0, 3.0)]
    made = [bb.MDP(np.ones((1, 2, 1)), pay, 0, [[[1.0], [0.0]]]) for pay in rewards]
    prior = bb.Hypotheses(made)
    assert "predictive" in prior.answers
    assert bb.bayes_optimal_value(prior, 1.0, 3) == pytest.approx((3 * 3 + 0 + 1 + 1) / 2)
    with_zero_weight = bb.Hypotheses([*made, bb.MDP(np.ones((1, 2, 1)), 1, 0, 1)][:2], [1, 0])
    assert "predictive" in with_zero_weight.answers


def test_rewards_that_differ_by_rounding_are_one_outcome() -> None:
    rewards = 1.0, 1.0 + 1e-12, 1.0 + 2e-12, 2.0
    made = [bb.MDP([[[0.5, 0.5]], [[0.5, 0.5]]], reward) for reward in rewards]
    prior = bb.Hypotheses(made)
    belief = prior.belief()
    assert len(belief.outcomes(0, 0)) == 4  # two next states, two rewards
    assert len(build_belief(prior, horizon=1).belief.cases.outcome_reward) == 8
    belief.observe(0, 0, 1, 1.0 + 1.5e-12)
    np.testing.assert_allclose(belief.weights, [1 / 3, 1 / 3, 1 / 3, 0], rtol=1e-12)
    again = bb.Hypotheses(prior.mdps)
    assert again.digest == prior.digest
    apart = bb.Hypotheses([bb.MDP([[[1.0]]], reward) for reward in (1.0, 1.0 + 1e-8)])
    assert len(apart.belief().outcomes(0, 0)) == 2


def by_start() -> bb.Hypotheses:
    """Two MDPs that pay for opposite actions, and seldom start in the same state."""
    stay, paying = np.eye(2)[:, None, :].repeat(2, axis=1), np.zeros((2, 2, 2, 2))
    paying[0][:, 0], paying[1][:, 1] = 1.0, 1.0
    return bb.Hypotheses([bb.MDP(stay, paying[i], [[0.8, 0.2], [0.3, 0.7]][i]) for i in (0, 1)])


def test_start_states_teach() -> None:
    prior = by_start()
    belief = prior.belief()
    mark = belief.mark()
    belief.begin(0)
    np.testing.assert_allclose(belief.weights, [8 / 11, 3 / 11], rtol=1e-12)
    np.testing.assert_allclose(prior.posterior([], start=0).weights, belief.weights)
    paths = np.zeros((1, 2), np.int64), np.zeros((1, 1), np.int64), np.array([[1.0]])
    assert sizes_along(prior, *paths)[0] == 1.0
    belief.undo(mark)
    assert belief.weights.tolist() == [0.5, 0.5]


def test_a_start_that_all_share_or_none_allows_teaches_nothing() -> None:
    belief = bb.Hypotheses(differing(), WEIGHTS).belief()
    belief.begin(0)
    assert belief.weights.tolist() == [0.25, 0.5, 0.25]
    stay = np.eye(3)[:, None, :]
    belief = bb.Hypotheses([bb.MDP(stay, 0, start) for start in (0, 1)]).belief()
    belief.begin(2)
    assert belief.weights.tolist() == [0.5, 0.5]


def test_a_belief_of_many_hypotheses_takes_little_memory() -> None:
    """A belief holds its present weights; those of before are held by marks alone."""
    prior = bb.Hypotheses([river(0.1 + i / 10_000, 1.0) for i in range(2000)])
    belief = prior.belief()
    before = weakref.ref(belief.weights)
    belief.observe(0, 1, 1, 0.0)
    earlier = weakref.ref(belief.weights)
    belief.observe(0, 1, 1, 0.0)
    assert before() is prior.weights
    assert earlier() is None
    weights = belief.weights
    belief.sample(generator("test"))
    assert belief.weights is weights


def test_draws_have_the_weights() -> None:
    prior = bb.Hypotheses(differing(), WEIGHTS)
    drawn = prior.draw_indices([generator("hypothesis", i) for i in range(4000)])
    frequencies = np.bincount(drawn, minlength=3)
    assert scipy.stats.chisquare(frequencies, 4000 * np.array([0.25, 0.5, 0.25])).pvalue > 1e-3


def test_a_flat_prior_as_many_draws_believes_the_same() -> None:
    """To Monte-Carlo error: a standard error of a posterior mean, from the effective draws."""
    flat = bb.FlatDirichlet(np.ones((2, 1, 2)), [0, 1])
    made = [flat.sample(generator("particle", i)) for i in range(20_000)]
    seen = [(0, 0, 1), (0, 0, 1), (1, 0, 0)]
    belief = bb.Hypotheses(made).belief()
    for x, u, y in seen:
        belief.observe(x, u, y, float(y))
    exact = flat.posterior(seen).mean().transitions.to_dense()
    error = 0.5 / math.sqrt(belief.effective_size)
    assert np.abs(belief.mean().transitions.to_dense() - exact).max() < 4 * error


@pytest.mark.parametrize("rewards", ["shared", "differing"])
def test_effective_sizes_are_those_of_the_belief(rewards: str) -> None:
    made = [river(0.1 * i, 1.0 if rewards == "shared" else 1.0 + i % 2) for i in range(1, 8)]
    prior = bb.Hypotheses(made)
    experiment = bb.Experiment(prior, num_mdps=6, horizon=30)
    result = bb.evaluate(bb.make_agent("random"), experiment, keep_paths=True)
    columns = result.columns
    paths = columns["states"], columns["actions"], columns["rewards"]
    for i, size in enumerate(sizes_along(prior, *paths)):
        belief = prior.belief()
        states = paths[0][i]
        for step in zip(states[:-1], paths[1][i], states[1:], paths[2][i], strict=True):
            belief.observe(*step)
        assert size == pytest.approx(belief.effective_size)
        assert size == columns["effective_hypotheses"][i]


def test_no_hypothesis_is_left_after_what_all_exclude() -> None:
    prior = bb.Hypotheses(differing())
    zero, one, two = (np.array([[number]]) for number in range(3))
    assert effective_sizes(prior, zero, zero, two, np.zeros((1, 1))).tolist() == [0.0]
    assert effective_sizes(prior, one, one, two, np.full((1, 1), 5.0)).tolist() == [0.0]


def test_weights_that_are_written_are_read_again() -> None:
    prior = bb.Hypotheses(differing(), [0.1, 0.2, 0.7])
    again = bb.Hypotheses(differing(), prior.weights.tolist())
    assert again.digest == prior.digest
    assert bb.Hypotheses(differing(), [3, 6, 21]).digest == prior.digest


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"weights has shape \[2\]: must be \[3\]"),
        ([1, -1, 1], r"weights\[1\] = -1.0: must be a finite number at least 0"),
        ([0, 0, 0], "weights sum to 0.0: must be positive and finite"),
    ],
)
def test_refused_weights(weights: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        bb.Hypotheses(differing(), weights)


def test_rewards_are_constant_in_all_or_gaussian_in_all() -> None:
    mixed = [bb.MDP([[[1.0]]], 1), bb.MDP([[[1.0]]], 1, 0, 2.0)]
    with pytest.raises(InvalidInput, match="is constant in one MDP and Gaussian in another"):
        bb.Hypotheses(mixed)
