"""Learned supports against plain NumPy, brute force and data with known supports."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from brlbench.agents.base import Task
from brlbench.agents.sparse_prior import SparsePrior
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.streams import generator
from helpers.optimism import with_spread
from helpers.reference import assert_close, best, walk

OTHER, SIBLING, BACK, BOTH, SELF = range(5)


def likelihood(k: int, n: int, m: int) -> float:
    """The probability of n transitions to m different states, but for factors without k."""
    if k < m:
        return 0.0
    return math.factorial(k) / math.factorial(k - m) * math.gamma(k) / math.gamma(n + k)


def by_brute_force(outcomes: list[int], states: int, k: int) -> float:
    """The probability of a sequence if its k possible states are drawn first."""
    supports = list(itertools.combinations(range(states), k))
    total = 0.0
    for support in supports:
        chance, counts = 1.0, dict.fromkeys(support, 1)
        for n, y in enumerate(outcomes):
            chance *= counts.get(y, 0) / (n + k)
            counts[y] = counts.get(y, 0) + 1
        total += chance
    return total / len(supports)


@pytest.mark.parametrize("outcomes", [[2], [2, 2, 2], [0, 1], [0, 3, 0, 3, 1], [4, 3, 2, 1, 0, 0]])
def test_the_likelihood_is_that_of_a_drawn_support(outcomes: list[int]) -> None:
    exact = np.array([by_brute_force(outcomes, 5, k) for k in range(1, 6)])
    n, m = len(outcomes), len(set(outcomes))
    formula = np.array([likelihood(k, n, m) for k in range(1, 6)])
    assert formula / formula.sum() == pytest.approx(exact / exact.sum())


class Reference:
    """The agent's model, written down a second time: dense, and computed anew at every step."""

    def __init__(self, states: int, actions: int, odds: float) -> None:
        self.counts = np.zeros((states, actions, states))
        self.initial = 1 / np.arange(1, states + 1) / (1 / np.arange(1, states + 1)).sum()
        self.share = self.initial
        self.novelties: list[tuple[int, int, Floats]] = []  # action, group taken, groups on offer
        self.odds = odds

    def group(self, x: int, y: int) -> int:
        there, back = bool(self.counts[x, :, y].any()), bool(self.counts[y, :, x].any())
        return SELF if x == y else SIBLING * there + BACK * back

    def habits(self, x: int, u: int) -> tuple[Floats, Floats]:
        """The probabilities [S] of unseen states with shared and with own habits."""
        states = len(self.counts)
        groups = [self.group(x, y) for y in range(states)]
        taken, offered = np.zeros((2, 5)), np.zeros((2, 5))
        for action, group, on_offer in self.novelties:
            for row in [0] + [1] * (action == u):
                taken[row, group] += 1
                offered[row] += on_offer
        rates = (1 + taken[0]) / (states + offered[0])
        own = (taken[1] + 0.3 * states * rates) / (offered[1] + 0.3 * states)
        unseen = self.counts[x, u] == 0
        shared_row, own_row = unseen * rates[groups], unseen * own[groups]
        if not unseen.any():
            return shared_row, own_row
        return shared_row / shared_row.sum(), own_row / own_row.sum()

    def weights(self, x: int, u: int) -> Floats:
        """The posterior [S] of k."""
        row = self.counts[x, u]
        n, m = int(row.sum()), int((row > 0).sum())
        found = [likelihood(k, n, m) for k in range(1, len(row) + 1)] * self.share
        return np.asarray(found / found.sum())

    def row(self, x: int, u: int) -> Floats:
        """Dirichlet counts [S] with the mean and the summed variance of a row."""
        row, ks = self.counts[x, u], np.arange(1, len(self.counts) + 1)
        n, m = row.sum(), (row > 0).sum()
        weights = self.weights(x, u)
        shared, own = self.habits(x, u)
        unseen = (self.odds * own + shared) / (1 + self.odds)
        mean = (weights / (n + ks)).sum() * (row + 1) * (row > 0)
        mean += (weights * (ks - m) / (n + ks)).sum() * unseen
        second = np.sum((row + 1) * (row + 2) * (row > 0)) + 2 * (ks - m)
        squares = (weights * second / ((n + ks) * (n + ks + 1))).sum()
        ratio = (squares - (mean**2).sum()) / (1 - (mean**2).sum())  # 1 / (strength + 1)
        return np.asarray(mean * (1 / ratio - 1))

    def rows(self) -> Floats:
        """All rows [S, A, S]."""
        states, actions, _ = self.counts.shape
        return np.array([[self.row(x, u) for u in range(actions)] for x in range(states)])

    def see(self, x: int, u: int, y: int) -> None:
        """Learn from a transition."""
        if self.counts[x, u, y] == 0:
            shared, own = self.habits(x, u)
            self.odds *= own[y] / shared[y]
            groups = [self.group(x, z) for z in np.flatnonzero(self.counts[x, u] == 0).tolist()]
            on_offer = np.bincount(groups, minlength=5).astype(float)
            self.novelties.append((u, self.group(x, y), on_offer))
        self.counts[x, u, y] += 1
        pairs = np.argwhere(self.counts.any(axis=2))
        found = [self.weights(x, u) for x, u in pairs]
        self.share = (self.initial + np.sum(found, axis=0)) / (1 + len(pairs))


def play(agent: SparsePrior, name: str, steps: int, seed: int) -> Iterator[tuple[int, ...]]:
    """Play an MDP with a uniform prior, and yield its transitions."""
    problem = distribution(name)
    rng = np.random.default_rng(seed)
    mdp = problem.sample(rng)
    transitions, rewards = mdp.transitions.to_dense(), problem.rewards.mean.to_dense()
    agent.train(problem.uniform(), Task(0.9, steps), rng)
    agent.start(0, generator("start", seed))
    x = 0
    for _ in range(steps):
        u = agent.act(x)
        y = int(rng.choice(problem.num_states, p=transitions[x, u]))
        agent.observe(x, u, y, rewards[x, u, y])
        yield x, u, y
        x = y


@pytest.mark.parametrize(("name", "odds", "steps"), [("GC", 1.0, 30), ("GDL", 0.03, 25)])
def test_the_model_is_that_of_plain_numpy(name: str, odds: float, steps: int) -> None:
    """Predictions, EM, habits and the solution with bonuses, after each transition."""
    agent, problem = SparsePrior(0.5, odds), distribution(name)
    reference = Reference(problem.num_states, problem.num_actions, odds)
    for x, u, y in play(agent, name, steps, seed=5):
        reference.see(x, u, y)
        rows, model = reference.rows(), agent.arrays.spread.model
        entries = rows.size
        assert model.counts.entry_count[:entries] == pytest.approx(rows.ravel(), rel=1e-9)
        assert agent.arrays.supports.share == pytest.approx(reference.share, rel=1e-9)
        expected = with_spread(FlatDirichlet(rows, problem.rewards.mean), 0.9, 0.5, 0.5)
        assert_close(model.q, expected)


def test_predictions_are_those_of_drawn_supports() -> None:
    """With one pair and P(k) held at its prior, by brute force over all supports."""
    outcomes, states = [0, 2, 0], 3
    prior = FlatDirichlet(np.ones((3, 1, 3)), np.zeros(3))
    agent = SparsePrior(0.0, odds=0.0)
    agent.train(prior, Task(0.9, 10), generator("train"))
    agent.start(0, generator("start"))
    arrays = agent.arrays
    for y in outcomes:
        agent.observe(0, 0, y, 0.0)
    share = arrays.supports.share
    evidence = [by_brute_force(outcomes, states, k) for k in (1, 2, 3)]
    then = [[by_brute_force([*outcomes, y], states, k) for k in (1, 2, 3)] for y in range(states)]
    exact = np.array(then) @ share / (evidence @ share)
    counts = arrays.spread.model.counts.entry_count[:3]
    assert counts / counts.sum() == pytest.approx(exact)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_number_of_possible_next_states_is_learned(k: int) -> None:
    """Rows with k next states out of six, each seen often: P(k) is near one."""
    rng = np.random.default_rng(k)
    states, actions = 6, 4
    agent = SparsePrior()
    prior = FlatDirichlet(np.ones((states, actions, states)), np.zeros(states))
    agent.train(prior, Task(0.9, 10_000), generator("train"))
    agent.start(0, generator("start"))
    for x, u in np.ndindex(states, actions):
        support = rng.choice(states, k, replace=False)
        for y in rng.choice(support, 60, p=rng.dirichlet(np.full(k, 3.0))):
            agent.observe(x, u, int(y), 0.0)
    assert agent.arrays.supports.share[k - 1] > 0.9


def test_habits_of_actions_are_noticed() -> None:
    """One action always stays, the other always goes on round a ring."""
    states = 8
    agent = SparsePrior(odds=0.1)
    prior = FlatDirichlet(np.ones((states, 2, states)), np.zeros(states))
    agent.train(prior, Task(0.9, 100), generator("train"))
    agent.start(0, generator("start"))
    for x in range(states - 1):
        agent.observe(x, 0, x, 0.0)
        agent.observe(x, 1, x + 1, 0.0)
    assert agent.arrays.novelty.odds[0] > 10
    last = agent.arrays.spread.model.counts.entry_count[: states * 2 * states].reshape(
        states, 2, states
    )
    stay, go_on = (row / row.sum() for row in last[-1])
    assert stay[-1] > 0.5 > 3 * go_on[-1]


@pytest.mark.parametrize("name", ["GC", "Grid"])
def test_with_an_informative_prior_it_is_spread(name: str) -> None:
    def solve(posterior: FlatDirichlet, discount: float) -> Floats:
        return with_spread(posterior, discount, 0.5, 0.5)

    agent = SparsePrior(0.5)
    for step in walk(agent, distribution(name), discount=0.9, steps=20, solve=solve):
        assert step.action in best(step.q_before[step.state])
    assert len(agent.arrays.supports.rows) == 0


def test_rows_that_say_something_are_believed() -> None:
    """One row of the prior is uniform, the other certain: only the first is modelled."""
    counts = np.ones((2, 2, 2))
    counts[:, 1, 0] = 0
    agent = SparsePrior()
    agent.train(FlatDirichlet(counts, np.zeros(2)), Task(0.9, 10), generator("train"))
    agent.start(0, generator("start"))
    agent.observe(0, 1, 1, 0.0)  # believed: one count more
    arrays = agent.arrays
    assert arrays.supports.rows.tolist() == [0, 2]
    assert arrays.spread.model.counts.total[1] == 2
    assert arrays.supports.share == pytest.approx([2 / 3, 1 / 3])
    agent.observe(0, 0, 0, 0.0)  # modelled: k = 1 and k = 2 explain it equally well
    assert arrays.supports.share == pytest.approx([2 / 3, 1 / 3])
    agent.observe(0, 0, 1, 0.0)  # only k = 2 explains both
    assert arrays.supports.share == pytest.approx([1 / 3, 2 / 3])
