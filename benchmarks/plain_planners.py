"""BAMCP and BFS3 in plain Python: short, slow, and close to their pseudo-code.

Histories are tuples of what happened, beliefs are arrays of counts, and BAMCP draws every row of
the MDP that a simulation plays. Of several best actions the first is taken, except where the
settings ask for a random one.
"""

import math
import random
from collections import Counter, defaultdict
from typing import Any

import numpy as np

from brlbench.beliefs.flat import FlatDirichlet

History = tuple[tuple[int, int, int], ...]
LEARNING_RATE = 0.2


def first_best(values: list[float]) -> int:
    """The first of the highest values."""
    return values.index(max(values))


class PlainPlanner:
    """What both share: counts, rewards and a random generator."""

    def __init__(self, prior: FlatDirichlet, discount: float) -> None:
        self.counts = prior.counts.to_dense()
        self.rewards = prior.rewards.mean.to_dense().tolist()
        self.discount = discount
        self.num_states, self.num_actions = prior.num_states, prior.num_actions
        self.actions = range(prior.num_actions)
        self.possible = prior.rewards.mean.at(prior.counts)
        self.chance = random.Random(0)

    def reseed(self, seed: int) -> None:
        """Start another stream of random numbers."""
        self.chance = random.Random(seed)

    def observe(self, x: int, u: int, y: int) -> None:
        """Count a real transition."""
        self.counts[x, u, y] += 1

    def random_best(self, values: list[float]) -> int:
        """A random one of the highest values."""
        return self.chance.choice([u for u in self.actions if values[u] == max(values)])


class BamcpNode:
    """Visits and sums of returns of each action."""

    def __init__(self, num_actions: int) -> None:
        self.visits = [0] * num_actions
        self.sums = [0.0] * num_actions

    def mean(self, u: int) -> float:
        """The mean return of an action."""
        return self.sums[u] / self.visits[u] if self.visits[u] else -math.inf


class PlainBamcp(PlainPlanner):
    """BAMCP: simulations in MDPs drawn from the posterior, in a tree of histories."""

    def __init__(
        self,
        prior: FlatDirichlet,
        discount: float,
        simulations: int,
        depth: int,
        exploration: float = 3.0,
        rollout_epsilon: float = 0.5,
    ) -> None:
        super().__init__(prior, discount)
        self.simulations, self.depth = simulations, depth
        self.exploration, self.rollout_epsilon = exploration, rollout_epsilon
        self.q = [[0.0] * prior.num_actions for _ in range(prior.num_states)]
        self.nodes: dict[History, BamcpNode] = {}

    def observe(self, x: int, u: int, y: int) -> None:
        """Count a real transition, and learn the Q-function of the roll-outs."""
        super().observe(x, u, y)
        target = self.rewards[x][u][y] + self.discount * max(self.q[y])
        self.q[x][u] += LEARNING_RATE * (target - self.q[x][u])

    def search(self, x: int) -> int:
        """Develop a tree and take the best action of its root."""
        self.nodes = {(): BamcpNode(self.num_actions)}
        rng = np.random.default_rng(self.chance.getrandbits(64))
        drawn = rng.standard_gamma(self.counts, size=(self.simulations, *self.counts.shape))
        for mdp in drawn.tolist():  # rows that still have to be divided by their sums
            self.simulate((), x, mdp, self.depth)
        root = self.nodes[()]
        return self.random_best([root.mean(u) for u in self.actions])

    def simulate(self, history: History, x: int, mdp: Any, left: int) -> float:
        """The return of a simulation from a node of the tree, which learns from it."""
        if left == 0:
            return 0.0
        node = self.nodes[history]
        u = self.select(node)
        y = self.chance.choices(range(self.num_states), mdp[x][u])[0]
        if node.visits[u] == 0:
            later = self.rollout(y, mdp, left - 1)
        else:
            following = (*history, (x, u, y))
            self.nodes.setdefault(following, BamcpNode(self.num_actions))
            later = self.simulate(following, y, mdp, left - 1)
        value: float = self.rewards[x][u][y] + self.discount * later
        node.visits[u] += 1
        node.sums[u] += value
        return value

    def select(self, node: BamcpNode) -> int:
        """Untried actions first, by chance; then the highest upper confidence bound."""
        untried = [u for u in self.actions if node.visits[u] == 0]
        if untried:
            return self.chance.choice(untried)
        logarithm = math.log(sum(node.visits) + 1)
        return first_best(
            [
                node.mean(u) + self.exploration * math.sqrt(logarithm / node.visits[u])
                for u in self.actions
            ]
        )

    def rollout(self, x: int, mdp: Any, left: int) -> float:
        """The return of the roll-out policy."""
        if left == 0:
            return 0.0
        if self.chance.random() < self.rollout_epsilon:
            u = self.chance.choice(self.actions)
        else:
            u = self.random_best(self.q[x])
        y = self.chance.choices(range(self.num_states), mdp[x][u])[0]
        return self.rewards[x][u][y] + self.discount * self.rollout(y, mdp, left - 1)  # type: ignore[no-any-return]


class FsssNode:
    """For each action: the drawn next states, their mean reward, and bounds."""

    def __init__(self, outcomes: list[Counter[int]], rewards: list[float]) -> None:
        self.outcomes, self.rewards = outcomes, rewards
        self.lower = [0.0] * len(rewards)
        self.upper = [0.0] * len(rewards)


class PlainBfs3(PlainPlanner):
    """BFS3: for each action the mean of FSSS's bounds at drawn next states."""

    def __init__(
        self,
        prior: FlatDirichlet,
        discount: float,
        simulations: int,
        branching: int,
        depth: int,
        skip_complete: bool = True,
    ) -> None:
        super().__init__(prior, discount)
        self.skip_complete = skip_complete
        self.rollouts = max(1, simulations // branching)
        self.branching, self.depth = branching, depth
        self.value_min = min(0.0, self.possible.min()) / (1 - discount)
        self.value_max = self.possible.max() / (1 - discount)
        self.nodes: dict[History, FsssNode] = {}
        # Histories without a node have the widest bounds.
        self.lower: defaultdict[History, float] = defaultdict(lambda: self.value_min)
        self.upper: defaultdict[History, float] = defaultdict(lambda: self.value_max)
        self.q: list[float] = []

    def search(self, x: int) -> int:
        """The best action."""
        self.q = []
        for u in self.actions:
            total = 0.0
            for _ in range(self.branching):
                y = self.draw((), x, u, 1)[0]
                total += self.rewards[x][u][y] + self.discount * self.fsss(((x, u, y),), y)
            self.q.append(total / self.branching)
        return self.random_best(self.q)

    def draw(self, history: History, x: int, u: int, number: int) -> list[int]:
        """Next states from the mean of the belief after a history."""
        counts = self.counts[x, u].copy()
        for past_x, past_u, past_y in history:
            if (past_x, past_u) == (x, u):
                counts[past_y] += 1
        return self.chance.choices(range(self.num_states), counts.tolist(), k=number)

    def fsss(self, history: History, x: int) -> float:
        """The upper bound of the value at a history, in a tree of its own."""
        for table in (self.nodes, self.lower, self.upper):
            table.clear()
        for _ in range(self.rollouts):
            self.rollout(history, x, 0)
        return self.upper[history]

    def rollout(self, history: History, x: int, level: int) -> None:
        """From a history to the depth, along the highest upper bounds and the widest gaps."""
        if level == self.depth:
            return
        if history not in self.nodes:
            drawn = [self.draw(history, x, u, self.branching) for u in self.actions]
            rewards = [
                sum(self.rewards[x][u][y] for y in drawn[u]) / self.branching for u in self.actions
            ]
            self.nodes[history] = FsssNode([Counter(following) for following in drawn], rewards)
            self.back_up(history, x)
        node = self.nodes[history]
        u = first_best(node.upper)
        following = sorted(node.outcomes[u])
        gaps = {y: self.gap((*history, (x, u, y))) for y in following}
        # Leaves keep their gap, which is all that is left of the gap of a complete search.
        leaves = self.discount ** (self.depth - level - 1) * (self.value_max - self.value_min)
        incomplete = [y for y in following if gaps[y] > leaves * (1 + 1e-9)]
        choice = incomplete if incomplete and self.skip_complete else following
        y = max(choice, key=lambda y: gaps[y] * node.outcomes[u][y])
        self.rollout((*history, (x, u, y)), y, level + 1)
        self.back_up(history, x)

    def gap(self, history: History) -> float:
        """How far apart the bounds of the value at a history are."""
        return self.upper[history] - self.lower[history]

    def back_up(self, history: History, x: int) -> None:
        """Bellman's equation for both bounds."""
        node = self.nodes[history]
        for u in self.actions:
            for bound, known in ((node.lower, self.lower), (node.upper, self.upper)):
                later = sum(
                    known[*history, (x, u, y)] * number for y, number in node.outcomes[u].items()
                )
                bound[u] = node.rewards[u] + self.discount * later / self.branching
        self.lower[history], self.upper[history] = max(node.lower), max(node.upper)
