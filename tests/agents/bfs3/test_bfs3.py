"""BFS3's decisions: against plain ones, and where the answer is known."""

import itertools
from typing import Any

import numpy as np
import pytest
from benchmarks.plain_planners import PlainBfs3

from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.agents.bfs3 import Bfs3
from brlbench.agents.bfs3.belief import ALL_AT_ONCE
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.builders.model import copy
from brlbench.errors import AgentError, InvalidInput
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.extremes import assert_plays
from helpers.laws import assert_same_frequencies, assert_same_law
from helpers.made_bfs3 import LONG, trained
from helpers.made_planners import show
from helpers.planner_cases import CHAIN, OBSERVED, PRIORS, UNIFORM
from helpers.sizes import sizes, thinned

SETTINGS: dict[str, dict[str, Any]] = {
    "one roll-out": {"simulations": 1, "branching": 3, "depth": 4},
    "some roll-outs": {"simulations": 21, "branching": 3, "depth": 3},
    "complete": {"simulations": 1000, "branching": 3, "depth": 2},
    "to the letter": {"simulations": 36, "branching": 3, "depth": 3, "skip_complete": False},
    "one branch": {"simulations": 4, "branching": 1, "depth": 4},
    "equal numbers of draws": {"simulations": 8, "branching": 2, "depth": 4},
}


# Priors, whether the agent has observed anything, and settings.
SEARCHES = thinned(
    itertools.product([("uniform", False), *((name, True) for name in PRIORS)], SETTINGS),
    usual=[
        (("uniform", False), "one roll-out"),
        (("uniform", True), "some roll-outs"),
        (("chain", True), "some roll-outs"),
        *((("uneven", True), settings) for settings in SETTINGS),
    ],
)


@pytest.mark.slow
@pytest.mark.parametrize("numbers", sizes((3_000, 120), (10_000, 400)))
@pytest.mark.parametrize("search", SEARCHES)
def test_searches_are_those_of_the_pseudo_code(
    search: tuple[tuple[str, bool], str], numbers: tuple[int, int]
) -> None:
    """Compared by many searches of the agent, and some of a plain one."""
    (case, learned), settings = search
    prior = PRIORS[case]
    agent = trained(prior, deadline=LONG, **SETTINGS[settings])
    plain = PlainBfs3(prior, 0.8, **SETTINGS[settings])
    if learned:
        show(agent, prior, OBSERVED[case])
        for transition in OBSERVED[case]:
            plain.observe(*transition)
    plain.rollouts = min(plain.rollouts, 12)  # as many complete the search of depth 2
    found, actions, expected, expected_actions = [], [], [], []
    for _ in range(numbers[0]):
        actions.append(agent.act(0))
        found.append(agent.arrays.q.copy())
    for seed in range(numbers[1]):
        plain.reseed(seed)
        expected_actions.append(plain.search(0))
        expected.append(plain.q)
    assert_same_law(np.array(found), np.array(expected), ["value 0", "value 1"])
    assert_same_frequencies(np.bincount(actions), np.bincount(expected_actions, minlength=2))


@pytest.mark.parametrize("branching", thinned([1, 2, 5, 15], usual=[2, 15]))
@pytest.mark.parametrize("problem", [*PRIORS, "GC", "GDL", "Grid", "uniform:Grid"])
def test_actions_are_given_up_only_if_others_are_better(problem: str, branching: int) -> None:
    """A distant deadline makes the agent search all of them to the end."""
    prior = PRIORS[problem] if problem in PRIORS else distribution(problem)
    settings: Any = {"simulations": 100 * branching, "branching": branching, "depth": 10}
    agent = trained(prior, 0.95, **settings)
    thorough = trained(prior, 0.95, deadline=LONG, **settings)
    rng, state, saved = np.random.default_rng(5), 0, 0
    for _ in range(100):
        action = agent.act(state)
        assert action == thorough.act(state)
        found, whole = agent.arrays.q, thorough.arrays.q
        assert found[action] == whole[action]
        assert (found >= whole).all()
        saved += thorough.arrays.made[0] - agent.arrays.made[0]
        transition = (state, action, int(rng.integers(prior.num_states)))
        show(agent, prior, [transition])
        show(thorough, prior, [transition])
        state = transition[2]
    assert saved > 0 or branching < 5


@pytest.mark.parametrize("problem", ["uneven", "GC", "uniform:Grid"])
def test_forgetting_trees_changes_nothing(problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for the tree of one root only."""
    prior = PRIORS[problem] if problem in PRIORS else distribution(problem)
    settings: Any = {"simulations": 500, "branching": 5, "depth": 8}
    agent = trained(prior, 0.95, **settings)
    monkeypatch.setattr("brlbench.agents.bfs3._MAX_KEPT", 0)
    forgetful = trained(prior, 0.95, **settings)
    made = [0, 0]
    for _ in range(50):
        assert agent.act(0) == forgetful.act(0)
        assert agent.arrays.q.max() == forgetful.arrays.q.max()
        made[0] += agent.arrays.made[0]
        made[1] += forgetful.arrays.made[0]
    assert made[0] < made[1]


def test_where_nothing_is_unknown_the_value_is_that_of_planning() -> None:
    """One more step than the depth, and the leaves' value at the end."""
    rng = np.random.default_rng(8)
    counts = np.zeros((5, 3, 5))
    np.put_along_axis(counts, rng.integers(0, 5, (5, 3, 1)), 0.7, axis=2)
    rewards = rng.normal(size=counts.shape)
    prior = FlatDirichlet(counts, rewards)
    for depth in (1, 2, 5):
        agent = trained(prior, 0.9, LONG, simulations=3 * 3**depth, branching=3, depth=depth)
        value = np.full(5, rewards[counts > 0].max() / (1 - 0.9))
        q = np.zeros((5, 3))
        for _ in range(depth + 1):
            q = ((counts > 0) * (rewards + 0.9 * value)).sum(axis=2)
            value = q.max(axis=1)
        assert agent.act(0) == q[0].argmax()
        np.testing.assert_allclose(agent.arrays.q, q[0], rtol=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_values_at_the_leaves(sign: float) -> None:
    prior = FlatDirichlet(np.ones((2, 2, 2)), sign * np.array([0.5, 2.0]))
    constants = trained(prior, 0.9, simulations=1).arrays.constants
    expected = (0.0, 20.0) if sign > 0 else (-20.0, -5.0)
    assert (constants.value_min, constants.value_max) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("simulations", "branching", "rollouts"), [(1, 15, 1), (14, 15, 1), (29, 15, 1), (30, 15, 2)]
)
def test_roll_outs_are_shared(simulations: int, branching: int, rollouts: int) -> None:
    agent = trained(UNIFORM, simulations=simulations, branching=branching)
    assert agent.arrays.roots.rollouts == rollouts


def test_a_search_leaves_the_belief_as_it_was() -> None:
    agent = trained(CHAIN, simulations=30, branching=3, depth=5)
    show(agent, CHAIN, OBSERVED["chain"])
    before = copy(agent.arrays.belief)
    agent.act(0)
    after = agent.arrays.belief
    for name in ("counts", "initial"):
        for one, other in zip(getattr(after, name), getattr(before, name), strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(after.pair, before.pair)
    np.testing.assert_array_equal(after.entry, before.entry)
    assert not after.loose_tally.any()


def test_copies_share_nothing() -> None:
    """Trees are copied without their content, which may be large."""
    one = trained(UNIFORM, simulations=30, branching=3, depth=5).arrays
    other = copy(one)
    for mine, its in zip(one.tree, other.tree, strict=True):
        if isinstance(mine, int):
            assert mine == its
            continue
        assert (mine.shape, mine.dtype) == (its.shape, its.dtype)
        assert not np.shares_memory(mine, its)
    assert not np.shares_memory(one.belief.entry, other.belief.entry)
    np.testing.assert_array_equal(one.belief.entry, other.belief.entry)


def test_one_step_of_search() -> None:
    """With depth 1: the reward, the best sampled mean reward after it, and the leaves' value."""
    rewards = UNIFORM.rewards.mean.to_dense()
    agent = trained(UNIFORM, 0.5, LONG, simulations=1, branching=1, depth=1)
    possible = {
        first + 0.5 * (max(pair) + 0.5 * agent.arrays.constants.value_max)
        for y, first in enumerate(rewards[0, 0])
        for pair in itertools.product(*rewards[y])
    }
    found = set()
    for _ in range(500):
        agent.act(0)
        found.add(round(float(agent.arrays.q[0]), 9))
    assert found == {round(value, 9) for value in possible}


@pytest.mark.parametrize(
    ("states", "actions", "simulations", "branching", "depth"),
    [(1, 1, 1, 1, 1), (1, 3, 9, 4, 3), (3, 1, 9, 2, 3), (2, 2, 1, 1, 9), (2, 2, 500, 70, 1)],
)
def test_extremes(states: int, actions: int, simulations: int, branching: int, depth: int) -> None:
    agent = Bfs3(simulations=simulations, branching=branching, depth=depth)
    assert_plays(agent, states, actions)


@pytest.mark.parametrize("parameter", ["simulations", "branching", "depth"])
def test_huge_parameters_are_refused(parameter: str) -> None:
    with pytest.raises(InvalidInput, match=f"bfs3: {parameter} = 1000+: must be a whole number"):
        make_agent("bfs3", **{parameter: 10**30})


def test_trees_that_do_not_fit_are_refused() -> None:
    agent = Bfs3(simulations=10**9, branching=5, depth=1000)
    message = "bfs3: simulations = 1000000000 and depth = 1000 need 8.0e+11 outcomes in memory"
    with pytest.raises(InvalidInput) as caught:
        agent.train(UNIFORM, Task(0.9, 10), np.random.default_rng(0))
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    with pytest.raises(AgentError) as told:
        evaluate(agent, Experiment(UNIFORM, UNIFORM, num_mdps=1, horizon=5))
    assert str(told.value).startswith(f"bfs3 failed while training: {message}")


def test_paths_that_do_not_fit_are_refused() -> None:
    prior = FlatDirichlet(np.ones((40, 10, 40)), 0.0)
    with pytest.raises(InvalidInput, match=r"bfs3: depth = 1000000 with 400 pairs .* lower depth"):
        trained(prior, simulations=1, branching=1, depth=1_000_000)


def test_a_reward_that_was_sure_can_turn_out_otherwise() -> None:
    """The pair (2, 1) of the chain; the next trajectory begins without what was learned."""
    agent = trained(CHAIN, simulations=5, branching=3, depth=3)
    assert agent.arrays.belief.num_special.tolist() == [1, 1, 1, 1, 1, 0]
    agent.observe(2, 1, 0, 1.07)
    assert agent.arrays.belief.num_special[5] == 0
    agent.observe(2, 1, 1, 0.0)
    assert agent.arrays.belief.num_special[5] == 1
    agent.observe(2, 1, 2, 0.0)  # for two there is no room
    assert agent.arrays.belief.num_special[5] == ALL_AT_ONCE
    agent.start(0, np.random.default_rng(0))
    assert agent.arrays.belief.num_special[5] == 0


# Means and two standard errors: of the paper's best of a grid, and of its library run today.
ROWS = {
    "GDL": (1, 15, 25, 150, [(2.9, 0.07), (2.78, 0.17)]),
    "uniform:Grid": (1, 15, 50, 60, [(0.42, 0.09)]),
}


@pytest.mark.parametrize("prior", thinned(ROWS, usual=["GDL"]))
def test_published_rows(prior: str) -> None:
    simulations, branching, depth, number, published = ROWS[prior]
    experiment = Experiment(prior, prior.removeprefix("uniform:"), number, horizon=250)
    agent = Bfs3(simulations=simulations, branching=branching, depth=depth)
    result = evaluate(agent, experiment, workers=None)
    for mean, two_errors in published:
        z = (result.mean - mean) / np.hypot(result.ci95 / 2, two_errors / 2)
        told = f"{result.mean:.3f} ± {result.ci95:.3f}: z = {z:.2f}"
        print(told)
        assert abs(z) <= 3.5, told
