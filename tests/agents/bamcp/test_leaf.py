"""BAMCP with the mean MDP's values at its leaves: against a plain one, and where they are known."""

from typing import Any

import numpy as np
import pytest
from benchmarks.plain_planners import BamcpNode, History, PlainBamcp

from brlbench.agents.bamcp import Bamcp
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from brlbench.kernels.loop import trajectory
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.training import warm_up
from brlbench.testing import step_by_step
from helpers.bamcp_searches import COLUMNS, plainly_searched, searched
from helpers.beliefs import Beliefs, what_is_known
from helpers.laws import LIMIT, assert_same_frequencies, assert_same_law
from helpers.made_planners import show, started
from helpers.planner_cases import OBSERVED, PRIORS

LEAVES = ["value", "updated-value"]
DISCOUNT = 0.8


class PlainWithValues(PlainBamcp):
    """The plain search, which looks values up where it would begin a roll-out or stop."""

    def __init__(self, leaf: str, beliefs: Beliefs, *given: Any, **parameters: Any) -> None:
        super().__init__(*given, **parameters)
        self.leaf, self.beliefs = leaf, beliefs

    def simulate(self, history: History, x: int, mdp: Any, left: int) -> float:
        """The return of a simulation from a node of the tree, which learns from it."""
        if left == 0:
            return self.leaf_value(history, x)
        node = self.nodes[history]
        u = self.select(node)
        y = self.chance.choices(range(self.num_states), mdp[x][u])[0]
        then = (*history, (x, u, y))
        if node.visits[u] == 0:
            later = self.leaf_value(then, y)
        else:
            self.nodes.setdefault(then, BamcpNode(self.num_actions))
            later = self.simulate(then, y, mdp, left - 1)
        value: float = self.rewards[x][u][y] + self.discount * later
        node.visits[u] += 1
        node.sums[u] += value
        return value

    def leaf_value(self, history: History, x: int) -> float:
        """The value of the mean MDP."""
        seen = tuple(sorted(history)) if self.leaf == "updated-value" else ()
        return float(self.beliefs.value(seen)[x])


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("name", PRIORS)
def test_searches_are_those_of_a_plain_one(name: str, leaf: str) -> None:
    prior = PRIORS[name]
    settings: dict[str, Any] = {"simulations": 40, "depth": 3, "exploration": 0.5}
    agent = started(Bamcp(leaf=leaf, **settings), prior, DISCOUNT)
    beliefs = Beliefs(prior, DISCOUNT, OBSERVED[name])
    plain = PlainWithValues(leaf, beliefs, prior, DISCOUNT, **settings)
    show(agent, prior, OBSERVED[name])
    for transition in OBSERVED[name]:
        plain.observe(*transition)
    found, actions = searched(agent, 5_000)
    expected, expected_actions = plainly_searched(plain, 300)
    assert_same_law(found, expected, COLUMNS)
    assert_same_frequencies(actions, expected_actions)


@pytest.mark.parametrize(("leaf", "depth"), [("value", 0), ("updated-value", 1)])
@pytest.mark.parametrize("name", PRIORS)
def test_one_step(name: str, leaf: str, depth: int) -> None:
    """The mean MDP's Q-values; or, with what the step teaches, those of one step of lookahead."""
    prior, number = PRIORS[name], 20_000
    agent: Any = started(Bamcp(number, 1, exploration=100.0, leaf=leaf), prior, DISCOUNT)
    show(agent, prior, OBSERVED[name])
    agent.act(0)
    beliefs = Beliefs(prior, DISCOUNT, OBSERVED[name])
    expected, spread = returns_of_a_step(beliefs, depth)
    np.testing.assert_allclose(expected, beliefs.q(0, depth), rtol=1e-12)
    edges = agent.arrays.tree.edges[:2]
    error = spread / np.sqrt(edges["visits"])
    assert (np.abs(edges["value"] - expected) <= LIMIT * error + 1e-12).all()


def returns_of_a_step(beliefs: Beliefs, depth: int) -> tuple[Floats, Floats]:
    """The mean and the standard deviation of the returns of each action in state 0."""
    counts = beliefs.counts[0]
    chances = counts / counts.sum(axis=1, keepdims=True)
    worth = np.zeros(counts.shape)
    for u, y in np.ndindex(counts.shape):
        seen = ((0, u, y),) if depth == 1 else ()
        worth[u, y] = beliefs.rewards[0, u, y] + beliefs.discount * beliefs.value(seen)[y]
    mean = (chances * worth).sum(axis=1)
    return mean, np.sqrt((chances * (worth - mean[:, None]) ** 2).sum(axis=1))


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("depth", [1, 2, 7])
def test_nothing_is_lost_beyond_the_tree(depth: int, leaf: str) -> None:
    """Where all is certain and there is one action, every return is the value for ever."""
    counts = np.zeros((2, 1, 2))
    counts[0, 0, 1] = counts[1, 0, 0] = 0.7
    prior = FlatDirichlet(counts, [[[0, 0.2]], [[1.0, 0]]])
    agent: Any = started(Bamcp(20, depth, leaf=leaf), prior, DISCOUNT)
    assert agent.act(0) == 0
    value = (0.2 + DISCOUNT * 1.0) / (1 - DISCOUNT**2)
    assert agent.arrays.tree.edges["value"][0] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("name", ["GC", "uniform:Grid"])
def test_simulated_transitions_are_taken_back(name: str) -> None:
    prior = distribution(name)
    agent: Any = started(Bamcp(100, 6, leaf="updated-value"), prior, 0.95)
    for x, u, y in [(0, 0, 1), (1, 1, 2), (2, 0, 2)]:
        before = what_is_known(agent.arrays.leaf.model)
        agent.act(x)
        assert what_is_known(agent.arrays.leaf.model) == before
        show(agent, prior, [(x, u, y)])


@pytest.mark.parametrize("reuse_tree", [False, True])
def test_both_forms_agree(reuse_tree: bool) -> None:
    experiment = Experiment("uniform:GC", "GC", num_mdps=2, horizon=30, seed=3)
    for leaf in LEAVES[reuse_tree:]:
        agent = Bamcp(30, 4, leaf=leaf, reuse_tree=reuse_tree)
        one, other = evaluate(agent, experiment), evaluate(step_by_step(agent), experiment)
        np.testing.assert_array_equal(one.actions, other.actions)


def test_returns_in_a_kept_tree_are_those_of_the_new_root() -> None:
    """An edge that was taken once has a return of its own belief, the real transition included."""
    prior, compared = PRIORS["uneven"], 0
    for seed in range(20):
        agent: Any = started(Bamcp(30, 2, leaf="updated-value", reuse_tree=True), prior, DISCOUNT)
        agent.start(0, np.random.default_rng(seed))
        u = agent.act(0)
        show(agent, prior, [(0, u, 1)])
        beliefs = Beliefs(prior, DISCOUNT, [(0, u, 1)])
        for v in range(2 * (agent.arrays.tree.size[0] > 0)):
            edge = agent.arrays.tree.edges[v]
            if edge["visits"] == 1:
                possible = [
                    beliefs.rewards[1, v, y] + DISCOUNT * beliefs.value(((1, v, y),))[y]
                    for y in range(2)
                ]
                assert np.abs(edge["value"] - possible).min() < 1e-12
                compared += 1
    assert compared >= 5


@pytest.mark.parametrize("leaf", ["rollout", "value"])
@pytest.mark.parametrize("prior", ["GC", "mixed:0.5:GC"])  # balls and tables
def test_all_code_is_compiled_before_it_is_timed(prior: str, leaf: str) -> None:
    experiment = Experiment(prior, "GC", num_mdps=1, horizon=3)
    agent = Bamcp(5, 2, leaf=leaf)
    warm_up(agent, experiment.prior, experiment.task)
    compiled: Any = trajectory.play
    before = len(compiled.signatures)
    evaluate(agent, experiment)
    assert len(compiled.signatures) == before


def test_values_of_several_roots_are_not_mixed() -> None:
    with pytest.raises(InvalidInput) as caught:
        Bamcp(leaf="value", reuse_tree=True)
    assert str(caught.value).startswith('bamcp: leaf = "value" and reuse_tree = True: ')
