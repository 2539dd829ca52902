import numpy as np
import pytest
import scipy.stats

from brlbench.builders.model import build_environment
from brlbench.kernels.loop.environment import Environment, first_state_once, step_once
from brlbench.mdps.mdp import MDP
from brlbench.mdps.sparse import Floats, Integers
from brlbench.problems import distribution
from brlbench.streams import generator
from helpers.compiled import draw_steps

NUMBER = 50_000
KEY = np.uint64(0x1234_5678_9ABC_DEF1)

TRANSITIONS = [
    [[0.5, 0.2, 0.3], [1.0, 0.0, 0.0]],
    [[0.001, 0.0, 0.999], [0.0, 0.6, 0.4]],
    [[1 / 3, 1 / 3, 1 / 3], [0.25, 0.0, 0.75]],
]
REWARDS: list[list[list[float]]] = [
    [[1, 2, 3], [4, 0, 0]],
    [[-5, 0, 6], [0, 7, 8]],
    [[9, 10, 11], [12, 0, 13]],
]
VARIANCES: list[list[list[float]]] = [
    [[4, 0, 0.25], [9, 0, 0]],
    [[0, 0, 1], [0, 1, 1]],
    [[1, 1, 1], [0, 0, 100]],
]
PAIRS = list(np.ndindex(3, 2))


def environment(gaussian: bool = False) -> Environment:
    return build_environment(MDP(TRANSITIONS, REWARDS, 0, VARIANCES if gaussian else None))


def steps(env: Environment, key: np.uint64, state: int, action: int) -> tuple[Integers, Floats]:
    first_state_once(env, key)
    following, rewards = np.zeros(NUMBER, np.int64), np.zeros(NUMBER)
    draw_steps(env, key, state, action, following, rewards)
    return following, rewards


@pytest.mark.parametrize(("state", "action"), PAIRS)
def test_next_states_and_constant_rewards(state: int, action: int) -> None:
    following, rewards = steps(environment(), KEY, state, action)
    probabilities = np.array(TRANSITIONS[state][action])
    observed = np.bincount(following, minlength=3)
    possible = probabilities > 0
    assert (observed[~possible] == 0).all()
    if possible.sum() > 1:
        expected = probabilities[possible] * NUMBER
        assert scipy.stats.chisquare(observed[possible], expected).pvalue > 1e-3
    np.testing.assert_array_equal(rewards, np.array(REWARDS[state][action])[following])


@pytest.mark.parametrize(("state", "action"), PAIRS)
def test_gaussian_rewards(state: int, action: int) -> None:
    following, rewards = steps(environment(gaussian=True), KEY, state, action)
    for next_state in np.unique(following):
        drawn = rewards[following == next_state]
        mean = REWARDS[state][action][next_state]
        variance = VARIANCES[state][action][next_state]
        if variance == 0:
            assert (drawn == mean).all()
            continue
        deviation, number = np.sqrt(variance), len(drawn)
        assert abs(drawn.mean() - mean) <= 4 * deviation / np.sqrt(number)
        assert abs(drawn.var(ddof=1) - variance) <= 4 * variance * np.sqrt(2 / (number - 1))
        assert scipy.stats.kstest((drawn - mean) / deviation, "norm").pvalue > 1e-3


def test_variances_do_not_change_the_next_states() -> None:
    for state, action in PAIRS:
        plain, _ = steps(environment(), KEY, state, action)
        noisy, _ = steps(environment(gaussian=True), KEY, state, action)
        np.testing.assert_array_equal(plain, noisy)


def test_noise_depends_on_key_pair_and_visit_only() -> None:
    """The n-th visit to a pair has one outcome, whatever happened in between."""
    orders = [
        PAIRS * 30,
        [pair for pair in PAIRS for _ in range(30)],
        [PAIRS[i] for i in generator("test order").permutation(np.tile(np.arange(6), 30))],
    ]
    outcomes = []
    for order in orders:
        env = environment(gaussian=True)
        first_state_once(env, KEY)
        seen: dict[tuple[int, int], list[tuple[int, float]]] = {pair: [] for pair in PAIRS}
        for pair in order:
            seen[pair].append(step_once(env, KEY, *pair))
        outcomes.append(seen)
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_another_key_gives_other_noise() -> None:
    env = environment(gaussian=True)
    following, rewards = steps(env, KEY, 2, 0)
    again, same_rewards = steps(env, KEY, 2, 0)
    np.testing.assert_array_equal(following, again)
    np.testing.assert_array_equal(rewards, same_rewards)
    others, other_rewards = steps(env, KEY + np.uint64(1), 2, 0)
    # Independent outcomes with three equal chances agree in a third of all cases.
    agreement = (following == others).mean()
    assert abs(agreement - 1 / 3) <= 4 * np.sqrt(2 / 9 / NUMBER)
    assert (rewards != other_rewards).all()


def test_outcomes_of_consecutive_visits_are_independent() -> None:
    following, rewards = steps(environment(gaussian=True), KEY, 2, 0)
    table = np.zeros((3, 3))
    np.add.at(table, (following[:-1:2], following[1::2]), 1)
    assert scipy.stats.chi2_contingency(table).pvalue > 1e-3
    noise = rewards - np.array(REWARDS[2][0])[following]
    assert abs(np.corrcoef(noise[:-1], noise[1:])[0, 1]) < 4 / np.sqrt(NUMBER)
    quarter = np.searchsorted(np.quantile(noise, [0.25, 0.5, 0.75]), noise)
    for lag in (0, 1, 2, 3):  # the noise of a visit against the next states of this and later ones
        table = np.zeros((4, 3))
        np.add.at(table, (quarter[: NUMBER - lag], following[lag:]), 1)
        assert scipy.stats.chi2_contingency(table).pvalue > 1e-3


def test_outcomes_of_different_pairs_are_independent() -> None:
    env = build_environment(MDP(np.full((2, 2, 2), 0.5), 0))
    drawn = [steps(env, KEY, *pair)[0] for pair in np.ndindex(2, 2)]
    correlations = np.asarray(np.corrcoef(np.array(drawn)))[~np.eye(4, dtype=bool)]
    assert np.abs(correlations).max() < 4 / np.sqrt(NUMBER)


def test_start_states() -> None:
    probabilities = np.array([0.5, 0.0, 0.2, 0.3])
    env = build_environment(MDP(np.full((4, 1, 4), 0.25), 0, probabilities))
    drawn = [first_state_once(env, key) for key in generator("keys").integers(
        0, 2**64, 10_000, np.uint64)]  # fmt: skip
    observed = np.bincount(drawn, minlength=4)
    assert observed[1] == 0
    possible = probabilities > 0
    assert scipy.stats.chisquare(observed[possible], 10_000 * probabilities[possible]).pvalue > 1e-3


def test_one_start_state_is_certain() -> None:
    env = build_environment(distribution("Grid").mean())
    assert {first_state_once(env, np.uint64(key)) for key in range(100)} == {0}


def test_reset_forgets_the_visits() -> None:
    env = environment()
    first = [step_once(env, KEY, 2, 0) for _ in range(20)]
    assert env.visits.tolist() == [0, 0, 0, 0, 20, 0]
    first_state_once(env, KEY)
    assert env.visits.sum() == 0
    assert [step_once(env, KEY, 2, 0) for _ in range(20)] == first


def test_rounding_never_leads_past_the_last_possible_next_state() -> None:
    """The probabilities sum to a little less than one, and the last of them is zero."""
    env = build_environment(MDP(TRANSITIONS, REWARDS))
    env.probability[:3] = [0.5, 0.1, 0.0]
    following, _ = steps(env, KEY, 0, 0)
    assert set(following.tolist()) == {0, 1}
