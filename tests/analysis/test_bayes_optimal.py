from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench.analysis import bayes_optimal
from brlbench.analysis.bayes_bound import bayes_optimal_bound
from brlbench.analysis.bayes_optimal import bayes_optimal_value
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from brlbench.mdps.mdp import MDP
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from helpers.own_problems import River
from helpers.strategies import discounts, priors, reproducible

# Two states, two actions; uneven, fractional counts and rewards of both signs.
COUNTS = np.array([[[1, 3], [0.5, 0.1]], [[2, 2], [0, 1]]], dtype=float)
REWARDS = np.array([[[1, -2], [0.3, 4]], [[0, 1], [5, 0.5]]], dtype=float)


def of_mean_mdp(mdp: MDP, discount: float, horizon: int) -> float:
    """The best expected return over a horizon of a known MDP, by backward induction."""
    probabilities, rewards = mdp.transitions.to_dense(), mdp.rewards.mean.to_dense()
    value = np.zeros(mdp.num_states)
    for _ in range(horizon):
        value = (probabilities * (rewards + discount * value)).sum(axis=2).max(axis=1)
    return float(mdp.start @ value)


def by_posteriors(prior: FlatDirichlet, state: int, discount: float, horizon: int) -> float:
    """The definition, with nothing kept and nothing shared."""
    if horizon == 0:
        return 0.0
    mean, rewards = prior.mean().transitions.to_dense()[state], prior.rewards.mean.to_dense()[state]
    values = np.zeros(prior.num_actions)
    for action, following in zip(*np.nonzero(mean), strict=True):
        learned = prior.posterior([(state, action, following)])
        later = by_posteriors(learned, int(following), discount, horizon - 1)
        reward = rewards[action, following] + discount * later
        values[action] += mean[action, following] * reward
    return float(values.max())


def test_no_decisions_pay_nothing() -> None:
    assert bayes_optimal_value(FlatDirichlet(COUNTS, REWARDS), 0.9, 0) == 0


@pytest.mark.parametrize("start", [0, 1])
def test_one_decision(start: int) -> None:
    means = COUNTS / COUNTS.sum(axis=2, keepdims=True)
    expected = (means * REWARDS).sum(axis=2)[start].max()
    prior = FlatDirichlet(COUNTS, REWARDS, start)
    assert bayes_optimal_value(prior, 0.9, 1) == pytest.approx(expected, rel=1e-14)


def test_two_decisions() -> None:
    """From the state 0, written out: only a pair that is taken twice has been learned about."""
    # Taking action 0 leads to 0 (1/4) or 1 (3/4).
    again = max(2 / 5 * 1 + 3 / 5 * -2, 5 / 6 * 0.3 + 1 / 6 * 4)  # in 0, after (0, 0, 0)
    in_one = max(2 / 4 * 0 + 2 / 4 * 1, 0.5)
    first = 1 / 4 * (1 + 0.9 * again) + 3 / 4 * (-2 + 0.9 * in_one)
    # Taking action 1 leads to 0 (5/6) or 1 (1/6).
    again = max(1 / 4 * 1 + 3 / 4 * -2, 1.5 / 1.6 * 0.3 + 0.1 / 1.6 * 4)  # in 0, after (0, 1, 0)
    second = 5 / 6 * (0.3 + 0.9 * again) + 1 / 6 * (4 + 0.9 * in_one)
    prior = FlatDirichlet(COUNTS, REWARDS)
    assert bayes_optimal_value(prior, 0.9, 2) == pytest.approx(max(first, second), rel=1e-14)


def test_start_states_are_weighted() -> None:
    values = [bayes_optimal_value(FlatDirichlet(COUNTS, REWARDS, x), 0.8, 4) for x in (0, 1)]
    mixed = bayes_optimal_value(FlatDirichlet(COUNTS, REWARDS, [0.25, 0.75]), 0.8, 4)
    assert mixed == pytest.approx(0.25 * values[0] + 0.75 * values[1], rel=1e-14)


@reproducible
@given(priors(), discounts, st.integers(1, 2))
def test_against_the_definition(prior: FlatDirichlet, discount: float, horizon: int) -> None:
    horizon += prior.num_states * prior.num_actions <= 6
    expected = sum(
        weight * by_posteriors(prior, state, discount, horizon)
        for state, weight in enumerate(prior.start)
        if weight > 0
    )
    value = bayes_optimal_value(prior, discount, horizon)
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)


def bandit(arms: list[tuple[float, float]], sure: float | None = None) -> FlatDirichlet:
    """Arms to pull in the state 0: 1 is a success, which pays 1, and 2 a failure; both lead back.

    A sure arm, if there is one, always pays the same.
    """
    actions = len(arms) + (sure is not None)
    counts, rewards = np.zeros((3, actions, 3)), np.zeros((3, actions, 3))
    counts[1:, :, 0] = 1
    rewards[0, :, 1] = 1
    for arm, (successes, failures) in enumerate(arms):
        counts[0, arm, 1:] = successes, failures
    if sure is not None:
        counts[0, -1, 2] = 1
        rewards[0, -1, 2] = sure
    return FlatDirichlet(counts, rewards)


def bandit_value(
    arms: list[tuple[float, float]], sure: float | None, discount: float, pulls: int
) -> float:
    """Dynamic programming over the successes and failures of each arm."""

    @cache
    def value(belief: tuple[tuple[float, float], ...], left: int) -> float:
        if left == 0:
            return 0.0
        options = [] if sure is None else [sure + discount * value(belief, left - 1)]
        for arm, (successes, failures) in enumerate(belief):
            won = (*belief[:arm], (successes + 1, failures), *belief[arm + 1 :])
            lost = (*belief[:arm], (successes, failures + 1), *belief[arm + 1 :])
            chance = successes / (successes + failures)
            options.append(
                chance * (1 + discount * value(won, left - 1))
                + (1 - chance) * discount * value(lost, left - 1)
            )
        return max(options)

    return value(tuple(arms), pulls)


@pytest.mark.parametrize("horizon", [1, 2, 7, 16])
@pytest.mark.parametrize(
    ("arms", "sure"),
    [
        ([(1.0, 1.0), (1.0, 1.0)], None),
        ([(0.3, 0.1), (2.5, 1.0)], None),
        ([(1.0, 1.0)], 0.55),
        ([(0.1, 0.4)], 0.25),
    ],
)
def test_bandits(arms: list[tuple[float, float]], sure: float | None, horizon: int) -> None:
    """A pull takes two decisions, of which the second changes nothing."""
    expected = bandit_value(arms, sure, 0.9**2, (horizon + 1) // 2)
    value = bayes_optimal_value(bandit(arms, sure), 0.9, horizon)
    assert value == pytest.approx(expected, rel=1e-13)


def test_learning_pays_in_a_bandit() -> None:
    """More than an arm's mean, less than the better of both arms, which is 2/3 on average."""
    value = bayes_optimal_value(bandit([(1.0, 1.0)] * 2), 0.9, 20)
    pulls = sum(0.9 ** (2 * pull) for pull in range(10))
    assert 0.5 * pulls * 1.05 < value < 2 / 3 * pulls


def deterministic(actions: int) -> FlatDirichlet:
    rng = np.random.default_rng(5)
    counts = np.zeros((6, actions, 6))
    following = rng.integers(0, 6, (6, actions))
    np.put_along_axis(counts, following[:, :, None], rng.uniform(0.1, 3, (6, actions, 1)), axis=2)
    return FlatDirichlet(counts, rng.normal(size=counts.shape), start=2)


@pytest.mark.parametrize("horizon", [1, 3, 8])
def test_where_nothing_is_unknown_it_is_planning(horizon: int) -> None:
    prior = deterministic(3)
    expected = of_mean_mdp(prior.mean(), 0.9, horizon)
    assert bayes_optimal_value(prior, 0.9, horizon) == pytest.approx(expected, rel=1e-12)


def test_where_nothing_is_to_be_chosen_it_is_the_only_policy_s_return() -> None:
    prior = deterministic(1)
    expected = prior.mean().expected_return(np.zeros(6, np.int64), 0.9, 200)
    assert bayes_optimal_value(prior, 0.9, 200) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("scale", [1e4, 1e7])
def test_huge_counts_are_knowledge(scale: float) -> None:
    """What few observations change in such a belief is of the order of their share."""
    prior = FlatDirichlet(COUNTS * scale, REWARDS)
    expected = of_mean_mdp(prior.mean(), 0.9, 8)
    assert bayes_optimal_value(prior, 0.9, 8) == pytest.approx(expected, rel=10 / scale)


def test_it_lies_between_ignorance_and_knowledge() -> None:
    """Better than each policy that never learns, worse than knowing each MDP."""
    prior = FlatDirichlet(np.ones((2, 2, 2)), np.eye(2)[:, None, :])
    rng = np.random.default_rng(3)
    mdps = [prior.sample(rng) for _ in range(1000)]
    value = bayes_optimal_value(prior, 0.9, 8)
    known = np.array([of_mean_mdp(mdp, 0.9, 8) for mdp in mdps])
    assert value < known.mean() - 4 * standard_error(known)
    for policy in np.ndindex(2, 2):
        fixed = np.array([mdp.expected_return(policy, 0.9, 8) for mdp in mdps])
        assert value > fixed.mean() + 4 * standard_error(fixed)


def standard_error(sample: Floats) -> float:
    return float(sample.std(ddof=1) / np.sqrt(len(sample)))


@pytest.mark.parametrize("discount", [0.5, 0.95])
def test_more_decisions_pay_more_where_no_reward_is_negative(discount: float) -> None:
    prior = FlatDirichlet(COUNTS, np.abs(REWARDS))
    values = [bayes_optimal_value(prior, discount, horizon) for horizon in range(10)]
    assert (np.diff(values) > 0).all()


def test_a_numpy_integer_is_a_horizon() -> None:
    prior, horizon = distribution("GC"), np.array([3])
    assert bayes_optimal_value(prior, 0.9, horizon[0]) == bayes_optimal_value(prior, 0.9, 3)


@pytest.mark.parametrize("horizon", [-1, 2.0, True, "3", None])
def test_horizons_that_are_none(horizon: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        bayes_optimal_value(distribution("GC"), 0.9, horizon)
    assert str(caught.value).startswith(f"horizon = {horizon!r}: must be a whole number at least 0")


def test_a_horizon_that_is_too_long() -> None:
    with pytest.raises(InvalidInput, match=r"horizon = 256: must be a whole number .* at most 255"):
        bayes_optimal_value(deterministic(1), 0.9, 256)
    bayes_optimal_value(deterministic(1), 0.9, 255)


@pytest.mark.parametrize("discount", [0, 1.1, -0.5, np.nan, "high"])
def test_discounts_that_are_none(discount: Any) -> None:
    with pytest.raises(InvalidInput, match="discount = "):
        bayes_optimal_value(distribution("GC"), discount, 3)


def test_names_and_objects_are_priors() -> None:
    exact = bayes_optimal_value("GoalGrid:size=3", 0.9, 4)
    assert exact == bayes_optimal_value(distribution("GoalGrid:size=3"), 0.9, 4)


@pytest.mark.parametrize("source", [River(), "helpers.own_problems:River:slips=3.0"])
def test_own_priors_are_refused_by_name(source: Any) -> None:
    refused = (
        r"River.*: exact values and bounds are computed for flat and tied Dirichlet priors and "
        "for sets of hypotheses, not for priors of your own"
    )
    with pytest.raises(InvalidInput, match=refused):
        bayes_optimal_value(source, 0.9, 3)
    with pytest.raises(InvalidInput, match=refused):
        bayes_optimal_bound(source, 0.9, beliefs=5)


def test_too_many_beliefs(monkeypatch: pytest.MonkeyPatch) -> None:
    """One decision has one belief, two have one and those of the possible transitions."""
    prior = FlatDirichlet(COUNTS, REWARDS)
    monkeypatch.setattr(bayes_optimal, "MAX_BELIEFS", 5)
    bayes_optimal_value(prior, 0.9, 2)
    monkeypatch.setattr(bayes_optimal, "MAX_BELIEFS", 4)
    with pytest.raises(InvalidInput) as caught:
        bayes_optimal_value(prior, 0.9, 2)
    assert str(caught.value) == (
        "horizon = 2: more than 4 beliefs can be reached; "
        "choose a shorter horizon or a smaller problem"
    )
