"""BFS3's search: against a plain one, within its sampled trees, and where the answer is known."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.agents.bfs3 import Bfs3
from brlbench.agents.model import copy
from brlbench.errors import AgentError, InvalidInput
from brlbench.execution import evaluate
from brlbench.experiment import Experiment
from brlbench.kernels.fsss_state import NO_EDGE, NO_NODE
from brlbench.kernels.path_belief import ALL_SPECIAL
from brlbench.prior import FlatDirichlet
from brlbench.problems import distribution
from compiled_planning import (
    count,
    count_any,
    draw_edge,
    expand,
    make_all_again,
    make_arms,
    more_rollouts,
    take_back,
    upper_bound,
)
from laws import assert_same_frequencies, assert_same_law
from made_bfs3 import LONG, show, trained
from plain_planners import PlainBfs3
from planner_cases import CHAIN, OBSERVED, PRIORS, UNIFORM

SETTINGS: dict[str, dict[str, Any]] = {
    "one roll-out": {"simulations": 1, "branching": 3, "depth": 4},
    "some roll-outs": {"simulations": 21, "branching": 3, "depth": 3},
    "complete": {"simulations": 1000, "branching": 3, "depth": 2},
    "to the letter": {"simulations": 36, "branching": 3, "depth": 3, "skip_complete": False},
    "one branch": {"simulations": 4, "branching": 1, "depth": 4},
    "equal numbers of draws": {"simulations": 8, "branching": 2, "depth": 4},
}


@pytest.mark.parametrize("learned", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", PRIORS)
def test_searches_are_those_of_the_pseudo_code(name: str, settings: str, learned: bool) -> None:
    prior = PRIORS[name]
    agent = trained(prior, deadline=LONG, **SETTINGS[settings])
    plain = PlainBfs3(prior, 0.8, **SETTINGS[settings])
    if learned:
        show(agent, prior, OBSERVED[name])
        for transition in OBSERVED[name]:
            plain.observe(*transition)
    plain.rollouts = min(plain.rollouts, 12)  # as many complete the search of depth 2
    found, actions, expected, expected_actions = [], [], [], []
    for _ in range(10_000):
        actions.append(agent.act(0))
        found.append(agent.arrays.q.copy())
    for seed in range(400):
        plain.reseed(seed)
        expected_actions.append(plain.search(0))
        expected.append(plain.q)
    assert_same_law(np.array(found), np.array(expected), ["value 0", "value 1"])
    assert_same_frequencies(np.bincount(actions), np.bincount(expected_actions, minlength=2))


@pytest.mark.parametrize("branching", [1, 2, 5, 15])
@pytest.mark.parametrize("problem", [*PRIORS, "GC", "GDL", "Grid", "uniform:Grid"])
def test_actions_are_given_up_only_if_others_are_better(problem: str, branching: int) -> None:
    """As a deadline that is far away makes the agent search all of them to the end."""
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
    """If there is room for the tree of one root only."""
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


History = tuple[int, ...]  # of pairs and next states


class Arm(NamedTuple):
    """An arm of a node of the tree."""

    bounds: tuple[float, float]
    outcomes: list[tuple[int, int]]  # next state and number of draws of each


class Search(NamedTuple):
    """A search from the same seed after some roll-outs."""

    root: tuple[float, float]
    arms: dict[History, Arm]
    rng: list[int]


def search(agent: Bfs3, rollouts: int, seed: int) -> Search:
    arrays = agent.arrays._replace(rollouts=rollouts)
    arrays.rng[:] = np.random.default_rng(seed).integers(0, 2**64, 4, dtype=np.uint64)
    upper = upper_bound(arrays, 0)
    found = kept(arrays)
    assert found.root[1] == upper
    return found


def kept(arrays: Any) -> Search:
    make_all_again(arrays, 0, 0)
    root = arrays.tree.node[0]
    return Search((float(root.lower), float(root.upper)), arms(arrays), arrays.rng.tolist())


def arms(agent: Any, node: int = 0, history: History = ()) -> dict[History, Arm]:
    """All arms below a node."""
    tree, actions = agent.tree, agent.belief.counts.num_actions
    found: dict[History, Arm] = {}
    for u in range(actions):
        reward, edge = tree.arm[node * actions + u].tolist()
        pair = int(tree.node[node].state) * actions + u
        low, high = (reward + agent.discount * v for v in (agent.value_min, agent.value_max))
        outcomes = []
        if edge != NO_EDGE:
            _, low, high, *_, first, end, _, _ = tree.edge[edge].tolist()
            for y, _, times, child in tree.outcome[first:end].tolist():
                outcomes.append((y, times))
                if child != NO_NODE:
                    found |= arms(agent, child, (*history, pair, y))
        found[*history, pair] = Arm((low, high), outcomes)
    return found


Values = dict[History, tuple[float, float]]


def complete(agent: Any, node: int = 0, history: History = ()) -> Values:
    """Draw all that is not drawn yet below a node; return the values of all arms there.

    These are the values of the whole sampled tree if all its leaves are worth as little, or as
    much, as can be; by recursion, without any of the bounds that the search has found.
    """
    tree, counts = agent.tree, agent.belief.counts
    actions, level = counts.num_actions, len(history) // 2
    rewards = agent.belief.rewards.reshape(-1, counts.num_states)
    values: Values = {}
    make_arms(agent, node)
    for u in range(actions):
        a, pair = node * actions + u, int(tree.node[node].state) * actions + u
        if tree.arm[a].edge == NO_EDGE:
            tree.arm[a].edge = draw_edge(agent, a, pair)
        edge = tree.edge[tree.arm[a].edge]
        total = np.zeros(2)
        for outcome in tree.outcome[edge.first : edge.end]:
            y, entry = int(outcome.next_state), int(outcome.entry)
            later = (agent.value_min, agent.value_max)
            if level + 1 < agent.depth:
                count(agent, pair, y, entry)
                if outcome.child == NO_NODE:
                    outcome.child = expand(agent, y)
                values |= complete(agent, int(outcome.child), (*history, pair, y))
                below = [values[*history, pair, y, y * actions + v] for v in range(actions)]
                later = (max(low for low, _ in below), max(high for _, high in below))
                take_back(agent, pair, entry)
            total += outcome.times * (rewards[pair, y] + agent.discount * np.array(later))
        low, high = (total / agent.branching).tolist()
        values[*history, pair] = (low, high)
    return values


@pytest.mark.parametrize("branching", [1, 2, 3, 15])
@pytest.mark.parametrize("discount", [0.5, 0.95])
@pytest.mark.parametrize("name", PRIORS)
def test_bounds_bracket_the_value_of_the_sampled_tree(
    name: str, discount: float, branching: int
) -> None:
    prior = PRIORS[name]
    agent = trained(prior, discount, simulations=branching * 400, branching=branching, depth=4)
    show(agent, prior, OBSERVED[name])
    go_below_root(agent)
    for seed in range(5):
        partial = [search(agent, rollouts, seed) for rollouts in (1, 2, 3, 4, 8, 16, 32, 64, 400)]
        values = complete(agent.arrays)
        tiny = 1e-9 * max(abs(high) for _, high in values.values())
        for some in partial:
            for history, arm in some.arms.items():
                assert arm.outcomes in ([], partial[-1].arms[history].outcomes)
                assert arm.bounds[0] <= values[history][0] + tiny
                assert arm.bounds[1] >= values[history][1] - tiny
        for fewer, more in itertools.pairwise(partial):
            for history, arm in fewer.arms.items():
                assert arm.bounds[0] <= more.arms[history].bounds[0] + tiny
                assert arm.bounds[1] >= more.arms[history].bounds[1] - tiny
        here = [value for history, value in values.items() if len(history) == 1]
        assert partial[-1].root == pytest.approx(tuple(map(max, zip(*here, strict=True))))


def go_below_root(agent: Bfs3) -> None:
    """Count a transition that leads to the search's root, as there is one."""
    count_any(agent.arrays, 0, 0)


@pytest.mark.parametrize("skip_complete", [True, False])
@pytest.mark.parametrize("branching", [1, 2, 5, 15])
@pytest.mark.parametrize("problem", ["chain", "uneven", "GC", "Grid", "uniform:Grid"])
def test_where_roll_outs_begin_changes_nothing(
    problem: str, branching: int, skip_complete: bool
) -> None:
    """At the deepest node whose floors allow it, or at the root as the pseudo-code says."""
    prior = PRIORS[problem] if problem in PRIORS else distribution(problem)
    settings: Any = {"branching": branching, "depth": 12, "skip_complete": skip_complete}
    agent = trained(prior, 0.95, simulations=branching * 300, **settings)
    go_below_root(agent)
    for seed in range(5):
        for rollouts in (2, 10, 50, 300):
            agent.arrays.made[0] = 0
            one = search(agent, rollouts, seed)
            made = int(agent.arrays.made[0])
            search(agent, 1, seed)
            more_rollouts(agent.arrays, made - 1)
            assert_same(kept(agent.arrays), one)


def assert_same(one: Search, other: Search) -> None:
    """The same draws, and up to rounding the same bounds."""
    assert one.rng == other.rng
    tiny = 1e-11 * abs(one.root[1])
    assert one.root == pytest.approx(other.root, rel=0, abs=tiny)
    assert one.arms.keys() == other.arms.keys()
    for history, arm in one.arms.items():
        assert arm.outcomes == other.arms[history].outcomes
        assert arm.bounds == pytest.approx(other.arms[history].bounds, rel=0, abs=tiny)


@pytest.mark.parametrize("skip_complete", [True, False])
@pytest.mark.parametrize("branching", [1, 2, 5, 15])
@pytest.mark.parametrize("discount", [0.5, 0.95])
@pytest.mark.parametrize("name", PRIORS)
def test_a_search_stops_when_it_can_go_no_further(
    name: str, discount: float, branching: int, skip_complete: bool
) -> None:
    """That is when it is complete, or, to the letter, perhaps before; budgets do not matter."""
    prior, depth = PRIORS[name], 4
    settings: Any = {"branching": branching, "depth": depth, "skip_complete": skip_complete}
    agent = trained(prior, discount, simulations=branching * 400, **settings)
    leaves = discount**depth * (agent.arrays.value_max - agent.arrays.value_min)
    edges = prior.num_actions * min(branching, prior.num_states)
    for seed in range(5):
        done = search(agent, 10**12, seed)
        assert len(done.arms) <= prior.num_actions * sum(edges**level for level in range(depth))
        more_rollouts(agent.arrays, 20)
        assert agent.arrays.tree.node[0].upper == pytest.approx(done.root[1], rel=1e-12)
        searches = (search(agent, rollouts, seed) for rollouts in itertools.count(1))
        enough = next(n for n, some in enumerate(searches, 1) if some == done)
        if skip_complete or branching == 1:
            assert done.root[1] - done.root[0] == pytest.approx(leaves, rel=1e-8)
            assert enough <= len(done.arms) // prior.num_actions  # each makes a node
        if enough > 1:
            fewer = search(agent, enough - 1, seed)
            assert fewer.root[1] - fewer.root[0] > leaves * (1 + 1e-9)


def test_to_the_letter_a_search_may_never_be_complete() -> None:
    """A next state that was drawn often keeps the widest gap when all below it is known."""
    prior, gaps = PRIORS["chain"], {}
    for skip_complete in (True, False):
        settings: Any = {"branching": 15, "depth": 4, "skip_complete": skip_complete}
        agent = trained(prior, 0.95, simulations=15 * 400, **settings)
        root = search(agent, 10**12, 0).root
        gaps[skip_complete] = (root[1] - root[0]) / (
            0.95**4 * (agent.arrays.value_max - agent.arrays.value_min)
        )
    assert gaps[True] == pytest.approx(1)
    assert gaps[False] > 1.01


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
    arrays = trained(prior, 0.9, simulations=1).arrays
    expected = (0.0, 20.0) if sign > 0 else (-20.0, -5.0)
    assert (arrays.value_min, arrays.value_max) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("simulations", "branching", "rollouts"), [(1, 15, 1), (14, 15, 1), (29, 15, 1), (30, 15, 2)]
)
def test_roll_outs_are_shared(simulations: int, branching: int, rollouts: int) -> None:
    agent = trained(UNIFORM, simulations=simulations, branching=branching)
    assert agent.arrays.rollouts == rollouts


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
    assert not agent.arrays.tally.any()


def test_copies_share_nothing() -> None:
    """And have trees of their own, whose content is not copied, as they may be large."""
    one = trained(UNIFORM, simulations=30, branching=3, depth=5).arrays
    other = copy(one)
    for name in one.tree._fields:
        mine, its = getattr(one.tree, name), getattr(other.tree, name)
        assert (mine.shape, mine.dtype) == (its.shape, its.dtype)
        assert not np.shares_memory(mine, its)
    assert not np.shares_memory(one.belief.entry, other.belief.entry)
    np.testing.assert_array_equal(one.belief.entry, other.belief.entry)


def test_one_step_of_search() -> None:
    """With depth 1: the reward, the best sampled mean reward after it, and the leaves' value."""
    rewards = UNIFORM.rewards.mean.to_dense()
    agent = trained(UNIFORM, 0.5, LONG, simulations=1, branching=1, depth=1)
    possible = {
        first + 0.5 * (max(pair) + 0.5 * agent.arrays.value_max)
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
    shape = (states, actions, states)
    prior = FlatDirichlet(np.ones(shape), np.random.default_rng(0).normal(size=shape))
    agent = Bfs3(simulations=simulations, branching=branching, depth=depth)
    result = evaluate(agent, Experiment(prior, prior, num_mdps=3, horizon=30))
    assert result.actions is not None
    assert set(np.unique(result.actions)) <= set(range(actions))


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
    """The pair (2, 1) of the chain; the next trajectory begins without what was seen in this."""
    agent = trained(CHAIN, simulations=5, branching=3, depth=3)
    assert agent.arrays.belief.num_special.tolist() == [1, 1, 1, 1, 1, 0]
    agent.observe(2, 1, 0, 1.07)
    assert agent.arrays.belief.num_special[5] == 0
    agent.observe(2, 1, 1, 0.0)
    assert agent.arrays.belief.num_special[5] == 1
    agent.observe(2, 1, 2, 0.0)  # for two there is no room
    assert agent.arrays.belief.num_special[5] == ALL_SPECIAL
    agent.start(0, np.random.default_rng(0))
    assert agent.arrays.belief.num_special[5] == 0


# Means and two standard errors: of the paper's best of a grid, and of its library run today.
ROWS = {
    "GDL": (1, 15, 25, 300, [(2.9, 0.07), (2.78, 0.17)]),
    "uniform:Grid": (1, 15, 50, 60, [(0.42, 0.09)]),
}


@pytest.mark.slow
@pytest.mark.parametrize("prior", ROWS)
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
