"""BFS3's search from one root: within its sampled tree, and wherever its roll-outs begin."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest

from brlbench.agents.bfs3 import Bfs3
from brlbench.agents.bfs3.tree import IS_NODE, NO_EDGE, NOT_FOLLOWED
from brlbench.problems import distribution
from helpers.compiled_planning import (
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
from helpers.made_bfs3 import trained
from helpers.made_planners import show
from helpers.planner_cases import OBSERVED, PRIORS
from helpers.sizes import thinned

pytestmark = pytest.mark.slow  # compiled code of tests is not kept on disk

History = tuple[int, ...]  # of pairs and next states


class Arm(NamedTuple):
    """An arm of a node of the tree."""

    bounds: tuple[float, float]
    outcomes: list[tuple[int, int]]  # next state and number of draws of each


class Search(NamedTuple):
    """The state of a search after some roll-outs."""

    root: tuple[float, float]
    arms: dict[History, Arm]
    rng: list[int]


def search(agent: Bfs3, rollouts: int, seed: int) -> Search:
    arrays = agent.arrays
    arrays.rng[:] = np.random.default_rng(seed).integers(0, 2**64, 4, dtype=np.uint64)
    upper = upper_bound(arrays, 0, rollouts)
    found = kept(arrays)
    assert found.root[1] == upper
    return found


def kept(arrays: Any) -> Search:
    make_all_again(arrays, 0, 0)
    root = arrays.tree.node[0]
    return Search((float(root.lower), float(root.upper)), arms(arrays), arrays.rng.tolist())


def arms(agent: Any, node: int = 0, history: History = ()) -> dict[History, Arm]:
    """All arms below a node."""
    tree, actions, constants = agent.tree, agent.tree.num_actions, agent.constants
    found: dict[History, Arm] = {}
    for u in range(actions):
        reward, edge = tree.arm[node * actions + u].tolist()
        pair = int(tree.node[node].state) * actions + u
        leaves = (constants.value_min, constants.value_max)
        low, high = (reward + constants.discount * value for value in leaves)
        outcomes = []
        if edge != NO_EDGE:
            _, low, high, *_, first, end, _, _ = tree.edge[edge].tolist()
            for y, _, times, kind, child in tree.outcome[first:end].tolist():
                outcomes.append((y, times))
                if kind != NOT_FOLLOWED:
                    found |= arms(agent, child, (*history, pair, y))
        found[*history, pair] = Arm((low, high), outcomes)
    return found


Values = dict[History, tuple[float, float]]


def complete(agent: Any, node: int = 0, history: History = ()) -> Values:
    """Draw what is not drawn yet below a node; return the lowest and highest value of each arm.

    They are those of the whole sampled tree with the lowest and the highest leaves, computed by
    recursion, without any bounds of the search.
    """
    tree, counts, constants = agent.tree, agent.belief.counts, agent.constants
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
            later = (constants.value_min, constants.value_max)
            if level + 1 < constants.depth:
                count(agent, pair, y, entry)
                if outcome.child_kind == NOT_FOLLOWED:
                    outcome.child_kind, outcome.child = IS_NODE, expand(agent, y)
                values |= complete(agent, int(outcome.child), (*history, pair, y))
                below = [values[*history, pair, y, y * actions + v] for v in range(actions)]
                later = (max(low for low, _ in below), max(high for _, high in below))
                take_back(agent, pair, entry)
            total += outcome.times * (rewards[pair, y] + constants.discount * np.array(later))
        low, high = (total / constants.branching).tolist()
        values[*history, pair] = (low, high)
    return values


@pytest.mark.parametrize("branching", [1, 2, 3, 15])
@pytest.mark.parametrize("discount", thinned([0.5, 0.95], usual=[0.95]))
@pytest.mark.parametrize("name", PRIORS)
def test_bounds_bracket_the_value_of_the_sampled_tree(
    name: str, discount: float, branching: int
) -> None:
    prior = PRIORS[name]
    agent = trained(prior, discount, simulations=branching * 400, branching=branching, depth=4)
    show(agent, prior, OBSERVED[name])
    go_below_root(agent)
    for seed in range(2):
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
    """Count a transition that leads to the search's root, as a decision does."""
    count_any(agent.arrays, 0, 0)


@pytest.mark.parametrize("skip_complete", [True, False])
@pytest.mark.parametrize("branching", thinned([1, 2, 5, 15], usual=[2, 15]))
@pytest.mark.parametrize(
    "problem",
    thinned(
        ["chain", "uneven", "GC", "Grid", "uniform:Grid"], usual=["uneven", "Grid", "uniform:Grid"]
    ),
)
def test_where_roll_outs_begin_changes_nothing(
    problem: str, branching: int, skip_complete: bool
) -> None:
    """At the deepest node above its floors, or at the root as in the pseudo-code."""
    prior = PRIORS[problem] if problem in PRIORS else distribution(problem)
    settings: Any = {"branching": branching, "depth": 12, "skip_complete": skip_complete}
    agent = trained(prior, 0.95, simulations=branching * 300, **settings)
    go_below_root(agent)
    for seed in range(2):
        for rollouts in (2, 10, 100):
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
@pytest.mark.parametrize("discount", thinned([0.5, 0.95], usual=[0.95]))
@pytest.mark.parametrize("name", PRIORS)
def test_a_search_stops_when_it_can_go_no_further(
    name: str, discount: float, branching: int, skip_complete: bool
) -> None:
    """A complete search stops whatever its budget; to the letter, it may stop before."""
    prior, depth = PRIORS[name], 4
    settings: Any = {"branching": branching, "depth": depth, "skip_complete": skip_complete}
    agent = trained(prior, discount, simulations=branching * 400, **settings)
    constants = agent.arrays.constants
    leaves = discount**depth * (constants.value_max - constants.value_min)
    edges = prior.num_actions * min(branching, prior.num_states)
    for seed in range(2):
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
        constants = agent.arrays.constants
        leaves = 0.95**4 * (constants.value_max - constants.value_min)
        gaps[skip_complete] = (root[1] - root[0]) / leaves
    assert gaps[True] == pytest.approx(1)
    assert gaps[False] > 1.01
