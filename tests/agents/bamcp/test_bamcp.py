"""BAMCP's search: against a plain one that draws every MDP, and where the answer is known."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from benchmarks.plain_planners import PlainBamcp

from brlbench.agents import bamcp
from brlbench.agents.bamcp import Bamcp, ball_urn
from brlbench.agents.bamcp.rollout import SHARED, SLOTS, RolloutPolicy
from brlbench.agents.bamcp.table_urn import TableUrn
from brlbench.agents.bamcp.tree import NO_NODE, Tree
from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.bamcp_searches import COLUMNS, plainly_searched, searched
from helpers.extremes import assert_plays
from helpers.laws import assert_same_frequencies, assert_same_law
from helpers.made_planners import show, started
from helpers.planner_cases import OBSERVED, PRIORS, UNIFORM
from helpers.sizes import sizes, thinned

SETTINGS: dict[str, dict[str, Any]] = {
    "as published": {"simulations": 60, "depth": 5},
    "few": {"simulations": 7, "depth": 3},
    "greedy": {"simulations": 40, "depth": 6, "exploration": 0.3, "rollout_epsilon": 0.1},
}


def trained(prior: FlatDirichlet, discount: float = 0.8, **parameters: Any) -> Bamcp:
    return started(Bamcp(**parameters), prior, discount)


# Priors, settings, and whether the agent has observed anything.
SEARCHES = thinned(
    itertools.product(PRIORS, SETTINGS, [False, True]),
    usual=[
        ("uniform", "as published", False),
        ("chain", "as published", True),
        *(("uneven", settings, True) for settings in SETTINGS),
    ],
)


@pytest.mark.parametrize("numbers", sizes((3_000, 120), (10_000, 400)))
@pytest.mark.parametrize("search", SEARCHES)
def test_searches_are_those_that_draw_every_mdp(
    search: tuple[str, str, bool], numbers: tuple[int, int]
) -> None:
    """Compared by many searches of the agent, and some of a plain one."""
    name, settings, learned = search
    prior = PRIORS[name]
    agent = trained(prior, **SETTINGS[settings])
    plain = PlainBamcp(prior, 0.8, **SETTINGS[settings])
    if learned:
        show(agent, prior, OBSERVED[name])
        for transition in OBSERVED[name]:
            plain.observe(*transition)
    found, actions = searched(agent, numbers[0])
    expected, expected_actions = plainly_searched(plain, numbers[1])
    assert_same_law(found, expected, COLUMNS)
    assert_same_frequencies(actions, expected_actions)


@pytest.mark.parametrize("background", [False, True])
def test_searches_of_large_problems(monkeypatch: pytest.MonkeyPatch, background: bool) -> None:
    """Where balls or tables of uniform rows would be too large, the law is the same."""
    settings = SETTINGS["as published"]
    expected, expected_actions = searched(trained(UNIFORM, **settings), 10_000)
    monkeypatch.setattr(ball_urn, "_MAX_BALLS", 0)
    monkeypatch.setattr(bamcp, "_SMALL", 0 if background else 100)
    agent = trained(UNIFORM, **settings)
    assert agent.arrays.urn.counts.has_background == background
    assert isinstance(agent.arrays.urn, TableUrn)
    found, actions = searched(agent, 10_000)
    assert_same_law(found, expected, COLUMNS)
    assert_same_frequencies(actions, expected_actions)


@pytest.mark.parametrize("actions", [3, 4, 100])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_the_roll_out_policy_is_greedy_or_random(epsilon: float, actions: int) -> None:
    agent = trained(sure(actions), simulations=1, depth=1, rollout_epsilon=epsilon)
    policy, uniform = agent.arrays.leaf, np.full(actions, 1 / actions)
    np.testing.assert_allclose(chances(policy), [uniform, uniform], rtol=1e-14)
    for u, r in ((0, 2.0), (2, 2.0), (1, -1.0)):
        agent.observe(0, u, 1, r)
    tied = np.zeros(actions)
    tied[[0, 2]] = 0.5
    greedy = epsilon / actions + (1 - epsilon) * tied
    np.testing.assert_allclose(chances(policy), [greedy, uniform], rtol=1e-14, atol=1e-15)
    agent.start(0, np.random.default_rng(0))
    np.testing.assert_allclose(chances(policy), [uniform, uniform], rtol=1e-14)


def chances(policy: RolloutPolicy) -> Any:
    """The probabilities [S, A] by which roll-outs draw actions, from the slots and their tables."""
    pairs = len(policy.q)
    slots = policy.slots.reshape(-1, SLOTS)
    own = np.bincount(slots[slots != SHARED], minlength=pairs).reshape(len(slots), -1)
    shared = (slots == SHARED).sum(axis=1, keepdims=True)
    part = policy.part.reshape(own.shape)
    assert (np.sort(slots[slots != SHARED]) == slots[slots != SHARED]).all()  # own states' pairs
    return (own + shared * part / np.maximum(part.sum(axis=1, keepdims=True), 1e-9)) / SLOTS


def test_the_roll_out_policy_learns_from_real_transitions() -> None:
    agent = trained(UNIFORM, simulations=5, depth=4)
    plain = PlainBamcp(UNIFORM, 0.8, simulations=5, depth=4)
    for transition in OBSERVED["uniform"] * 3:
        show(agent, UNIFORM, [transition])
        plain.observe(*transition)
        agent.act(transition[2])
        np.testing.assert_allclose(agent.arrays.leaf.q, np.ravel(plain.q), rtol=1e-13)
    agent.start(0, np.random.default_rng(0))
    assert (agent.arrays.leaf.q == 0).all()


def children(tree: Tree, edge: int) -> list[int]:
    """The nodes below an edge; each is in the slot of its state."""
    first, listed = int(tree.edges["child"][edge]), []
    for slot in range(tree.slots if first != NO_NODE else 0):
        child = int(tree.children[first * tree.slots + slot])
        while child != NO_NODE:
            assert tree.nodes["state"][child] % tree.slots == slot
            listed.append(child)
            child = int(tree.nodes["sibling"][child])
    return listed


def assert_is_a_tree(agent: Bamcp, state: int) -> None:
    """Every node is below one edge of an earlier node, and visits add up."""
    tree, actions = agent.arrays.tree, agent.arrays.tree.num_actions
    size = int(tree.size[0])
    below: dict[int, list[int]] = {}
    assert tree.nodes["state"][0] == state
    for node in range(1, size):
        assert 0 <= tree.nodes["parent"][node] // actions < node
        below.setdefault(int(tree.nodes["parent"][node]), []).append(node)
    for node, u in itertools.product(range(size), range(actions)):
        edge = node * actions + u
        listed = children(tree, edge)
        assert sorted(listed) == below.get(edge, [])
        assert len({int(tree.nodes["state"][child]) for child in listed}) == len(listed)
        # The first visit of an edge makes no node, and the last step of a simulation visits none.
        assert tree.nodes["visits"][listed].sum() <= max(0, tree.edges["visits"][edge] - 1)
    edge_visits = tree.edges["visits"][: size * actions].reshape(size, actions)
    np.testing.assert_array_equal(edge_visits.sum(axis=1), tree.nodes["visits"][:size])


@pytest.mark.parametrize("name", ["GC", "GDL", "Grid", "uniform:GC"])
def test_each_simulation_adds_a_node_at_most(name: str) -> None:
    agent = trained(distribution(name), 0.95, simulations=300, depth=6)
    for _ in range(5):
        agent.start(0, np.random.default_rng(2))
        agent.act(0)
        assert agent.arrays.tree.nodes["visits"][0] == 300
        assert agent.arrays.tree.size[0] <= 300
        assert_is_a_tree(agent, 0)
    np.testing.assert_array_equal(agent.arrays.urn.size, agent.arrays.urn.learned)


def sure(actions: int) -> FlatDirichlet:
    """Two states; each action leads to a known one."""
    counts = np.zeros((2, actions, 2))
    counts[0, :, 1] = counts[1, :, 0] = 0.7
    return FlatDirichlet(counts, np.linspace(0, 1, 2 * actions).reshape(2, actions, 1) ** 2)


@pytest.mark.parametrize("exploration", [0.0, 0.2, 3.0])
def test_the_bonus(exploration: float) -> None:
    """With sure rewards and one step, only the bonus decides how often an action is tried."""
    rewards = (np.linspace(0, 1, 8).reshape(2, 4) ** 2)[0]
    agent = trained(sure(4), simulations=200, depth=1, exploration=exploration)
    agent.act(0)
    visits = np.ones(4)
    while visits.sum() < 200:
        bonus = exploration * np.sqrt(np.log(visits.sum() + 1) / visits)
        visits[np.argmax(rewards + bonus)] += 1
    np.testing.assert_array_equal(agent.arrays.tree.edges["visits"][:4], visits)
    np.testing.assert_allclose(agent.arrays.tree.edges["value"][:4], rewards, rtol=1e-13)


def test_values_are_discounted_returns_of_depth_steps() -> None:
    """With one action, in a deterministic MDP, all simulations are alike."""
    rewards = sure(1).rewards.mean.to_dense().max(axis=(1, 2))
    for depth in (1, 2, 3, 10):
        agent = trained(sure(1), simulations=20, depth=depth)
        assert agent.act(0) == 0
        expected = sum(0.8**step * rewards[step % 2] for step in range(depth))
        assert agent.arrays.tree.edges["value"][0] == pytest.approx(expected, rel=1e-13)
        assert agent.arrays.tree.edges["visits"][0] == 20


def test_untried_actions_come_first_by_chance() -> None:
    """With fewer simulations than actions, the best of those that were tried is taken."""
    agent, rng = trained(sure(6), simulations=2, depth=1), np.random.default_rng(5)
    pairs: dict[tuple[int, ...], int] = {}
    for _ in range(6000):
        agent.start(0, rng)
        action = agent.act(0)
        tried = tuple(np.flatnonzero(agent.arrays.tree.edges["visits"][:6]).tolist())
        assert action == tried[1]
        pairs[tried] = pairs.get(tried, 0) + 1
    assert sorted(pairs) == list(itertools.combinations(range(6), 2))
    assert abs(np.array(list(pairs.values())) - 400).max() < 4.5 * math.sqrt(400)


def test_actions_of_negative_value_can_be_the_best() -> None:
    """An action that was not tried does not count as one of value 0."""
    prior = FlatDirichlet(np.ones((2, 3, 2)), -1.0)
    agent = trained(prior, simulations=1, depth=3)
    for _ in range(20):
        agent.start(0, np.random.default_rng(3))
        assert agent.act(0) == np.flatnonzero(agent.arrays.tree.edges["visits"][:3])[0]


@pytest.mark.parametrize("reuse_tree", [False, True])
@pytest.mark.parametrize(
    ("states", "actions", "simulations", "depth"),
    [(1, 1, 1, 1), (1, 3, 5, 4), (3, 1, 5, 4), (2, 2, 1, 1), (2, 2, 1, 9), (2, 2, 9, 1)],
)
def test_extremes(
    states: int, actions: int, simulations: int, depth: int, reuse_tree: bool
) -> None:
    agent = Bamcp(simulations=simulations, depth=depth, reuse_tree=reuse_tree)
    assert_plays(agent, states, actions)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"simulations": 10**8}, "bamcp: simulations = 100000000: must be a whole number"),
        ({"simulations": 10**30}, "bamcp: simulations = "),
        ({"depth": 10**7}, "bamcp: depth = 10000000: must be a whole number"),
        ({"exploration": 1e400}, "bamcp: exploration = inf: must be a number"),
    ],
)
def test_huge_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Bamcp(**parameters)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("parameter", "value"), [("simulations", 12_000_000), ("depth", 1_000_000)]
)
def test_searches_that_do_not_fit_are_refused(parameter: str, value: int) -> None:
    prior = FlatDirichlet(np.ones((2, 200, 2)), 0.0)
    with pytest.raises(InvalidInput) as caught:
        trained(prior, **{parameter: value})
    assert str(caught.value).startswith(f"bamcp: {parameter} = {value} ")
    assert f"lower {parameter}" in str(caught.value)


def test_visits_that_can_not_be_counted_are_refused() -> None:
    agent = Bamcp(simulations=10_000_000, reuse_tree=True)
    with pytest.raises(InvalidInput) as caught:
        agent.train(UNIFORM, Task(0.9, 1000), np.random.default_rng(0))
    assert str(caught.value).startswith("bamcp: simulations = 10000000 ")
    assert "lower simulations" in str(caught.value)


@pytest.mark.parametrize("reuse_tree", [False, True])
def test_a_transition_that_was_impossible(reuse_tree: bool) -> None:
    """Once observed it is drawn like any other; an agent that meets many of them plays on."""
    test = distribution("GC").uniform()
    agent = Bamcp(simulations=50, depth=6, reuse_tree=reuse_tree)
    evaluate(agent, Experiment("GC", test, num_mdps=3, horizon=60))
    agent.start(0, np.random.default_rng(0))
    for _ in range(30):
        agent.observe(0, 0, 3, 0.0)
    agent.start(0, np.random.default_rng(0))
    for _ in range(3):
        agent.observe(0, 0, 3, 0.0)
    found = np.zeros(5)
    for _ in range(200):
        agent.arrays.tree.size[0] = 0
        agent.act(0)
        tree = agent.arrays.tree
        for node in range(1, int(tree.size[0])):
            if tree.nodes["parent"][node] == 0:
                found[tree.nodes["state"][node]] += 1
    assert (found > 0).tolist() == [True, True, False, True, False]


def test_observing_before_the_first_search() -> None:
    """Transitions before any decision are learned, and there is no tree to keep yet."""
    agent = trained(UNIFORM, simulations=10, depth=3, reuse_tree=True)
    show(agent, UNIFORM, OBSERVED["uniform"])
    assert agent.arrays.tree.size[0] == 0
    agent.act(0)
    assert_is_a_tree(agent, 0)


def subtree(agent: Bamcp, node: int) -> dict[tuple[int, ...], tuple[Any, ...]]:
    """The statistics below a node by the path (action, state, action, …) that leads to them."""
    tree, actions = agent.arrays.tree, agent.arrays.tree.num_actions
    found: dict[tuple[int, ...], tuple[Any, ...]] = {}
    left: list[tuple[tuple[int, ...], int]] = [((), node)]
    while left:
        path, node = left.pop()
        edges = slice(node * actions, (node + 1) * actions)
        numbers = (*tree.edges["visits"][edges].tolist(), *tree.edges["value"][edges].tolist())
        found[path] = (int(tree.nodes["visits"][node]), int(tree.nodes["state"][node]), *numbers)
        for u in range(actions):
            for child in children(tree, node * actions + u):
                left.append(((*path, u, int(tree.nodes["state"][child])), child))
    return found


@pytest.mark.parametrize("name", ["GC", "Grid", "uniform:GC"])
def test_the_tree_below_what_happened_is_kept(name: str) -> None:
    prior, rng = distribution(name), np.random.default_rng(4)
    agent = trained(prior, 0.95, simulations=200, depth=8, reuse_tree=True)
    rewards, means = prior.rewards.mean.to_dense(), prior.mean().transitions.to_dense()
    x, kept_ones = 0, 0
    for _ in range(30):
        u = agent.act(x)
        assert_is_a_tree(agent, x)
        before = subtree(agent, 0)
        assert len(before) == agent.arrays.tree.size[0]
        y = int(rng.choice(prior.num_states, p=means[x, u]))
        agent.observe(x, u, y, rewards[x, u, y])
        kept = {path[2:]: numbers for path, numbers in before.items() if path[:2] == (u, y)}
        assert agent.arrays.tree.size[0] == len(kept)
        if kept:
            assert subtree(agent, 0) == kept
            kept_ones += len(kept)
        x = y
    assert kept_ones > 500


def test_no_nodes_are_added_to_a_full_tree() -> None:
    agent = trained(UNIFORM, simulations=20, depth=12, reuse_tree=True)
    for _ in range(20):
        agent.act(0)
        assert agent.arrays.tree.size[0] <= len(agent.arrays.tree.nodes["visits"])
        edge_visits = agent.arrays.tree.edges["visits"][:2]
        assert edge_visits.sum() == agent.arrays.tree.nodes["visits"][0]
    assert agent.arrays.tree.size[0] == len(agent.arrays.tree.nodes["visits"])
    assert agent.arrays.tree.nodes["visits"][0] == 400


def test_without_reuse_the_tree_is_rebuilt() -> None:
    agent = trained(UNIFORM, simulations=50, depth=5)
    x = 0
    for _ in range(10):
        u = agent.act(x)
        assert agent.arrays.tree.nodes["visits"][0] == 50
        agent.observe(x, u, 1 - x, 0.5)
        assert agent.arrays.tree.size[0] == 0
        x = 1 - x


# Means and two standard errors: of the paper's best of a grid, and of its library run today.
ROWS = {
    "GC": (2500, 15, 16, [(35.56, 1.27), (34.63, 3.91)]),
    "uniform:GC": (1250, 25, 30, [(33.87, 1.26)]),
}


@pytest.mark.parametrize("prior", thinned(ROWS, usual=["GC"]))
def test_published_rows(prior: str) -> None:
    simulations, depth, number, published = ROWS[prior]
    experiment = Experiment(prior, prior.removeprefix("uniform:"), number, horizon=250)
    result = evaluate(Bamcp(simulations=simulations, depth=depth), experiment, workers=None)
    for mean, two_errors in published:
        z = (result.mean - mean) / np.hypot(result.ci95 / 2, two_errors / 2)
        told = f"{result.mean:.2f} ± {result.ci95:.2f}: z = {z:.2f}"
        print(told)
        assert abs(z) <= 3.5, told
