"""The least that any agent loses, for priors that are not flat with known rewards.

One depth after another: all beliefs that can be reached within a depth are looked at. They are few
where a transition teaches about many pairs, or few things can happen. Losses are exact for
hypotheses, which are all solved. For others they are means over MDPs drawn from the prior, weighted
by the likelihood of what was seen divided by its exact mean, as in `kernels.beliefs.facets`.

In episodes, an agent that knows the MDP maximises the sum of each one. The loss of an action then
depends on the decisions left in the episode. At the border, the next state is drawn from the start.

Notation: R repetitions of BLOCK MDPs each; K MDPs in all; P pairs.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln

from ...analysis.bayes_optimal import MAX_BELIEFS, knowledge_of
from ...beliefs.base import Family
from ...beliefs.flat import FlatDirichlet
from ...beliefs.hypotheses import Hypotheses
from ...beliefs.tied import TiedDirichlet
from ...kernels.beliefs.facets import BLOCK
from ...kernels.types import Singles
from ...mdps.batch import MDPs
from ...mdps.mdp import last_q_values, q_values
from ...mdps.sparse import Floats
from .search import draw_stratified, problem_of, solve_drawn

Counting = FlatDirichlet | TiedDirichlet
_NEGLIGIBLE = 1e-10  # value of decisions that value iteration leaves out, relative to the largest
MAX_DEPTH = 250  # a byte counts how often an outcome was seen

Weights = Callable[[bytes], Floats]
"""The weights [R, K / R] of the MDPs, given what is known; their mean over all is about 1."""


class Episodes(NamedTuple):
    """Some episodes of equal length."""

    length: int
    horizon: int  # decisions in all of them

    def factor(self, discount: float) -> float:
        """The sum of the discounts at which episodes begin."""
        return float((discount ** np.arange(0.0, self.horizon, self.length)).sum())


class Deepening:
    """The least that any agent loses against one that knows the MDP."""

    def __init__(
        self,
        prior: FlatDirichlet | TiedDirichlet | Hypotheses,
        discount: float,
        repetitions: int,
        depth: int,
        rng: np.random.Generator,
        is_over: Callable[[int], bool],
        episodes: Episodes | None = None,
    ) -> None:
        """Solve the MDPs; `is_over` tells from the number of beliefs whether to stop."""
        self._prior, self._discount, self._is_over = prior, discount, is_over
        self._deepest, self._repetitions = min(depth, MAX_DEPTH), repetitions
        self._length = None if episodes is None else episodes.length
        number = repetitions * BLOCK
        if episodes is not None:
            values, self._regrets, self._weights = _solve_episodes(
                prior, discount, episodes, number, rng
            )
        elif isinstance(prior, Hypotheses):
            values, self._regrets, self._weights = _solve_hypotheses(prior, discount)
        else:
            solve = _solve_tied if prior.reward_prior is None else _solve_rewarded
            values, self._regrets, self._weights = solve(prior, discount, number, rng)
        self.values = np.broadcast_to(values, repetitions)
        """The mean optimal value at the start [R], by each repetition's MDPs."""
        begin, self._steps = knowledge_of(prior)
        self._roots = [
            (chance, state, known)
            for state in range(prior.num_states)
            for chance, known in [begin(state)]
            if chance > 0
        ]
        self._starts = [
            (float(chance), state) for state, chance in enumerate(prior.start) if chance > 0
        ]
        # By the decisions made in the episode, too; without episodes it is zero.
        self._costs: dict[tuple[int, bytes, int], Floats] = {}
        self._known: dict[tuple[int, bytes, int, int], Floats] = {}
        self._losses = np.zeros(1)
        self.depth = 0
        """The number of decisions that were looked at."""

    @property
    def num_beliefs(self) -> int:
        """The number of beliefs that were looked at."""
        return len(self._costs)

    @property
    def loss(self) -> float:
        """The least expected loss, by all MDPs."""
        return float(self._losses.mean())

    def losses(self) -> Floats:
        """The least expected loss [R]: that of the actions which are best by all MDPs."""
        return np.broadcast_to(self._losses, self._repetitions).copy()

    def is_full(self) -> bool:
        """Whether there are too many beliefs."""
        return self.num_beliefs >= MAX_BELIEFS

    def grow(self) -> bool:
        """Look one decision further; return whether there is more to find."""
        left = self.depth + 1
        try:
            losses = sum(
                chance * self._least(state, known, 0, left) for chance, state, known in self._roots
            )
        except TimeoutError:  # the last depth counts
            return True
        self._losses, self.depth = np.asarray(losses), left
        return left < self._deepest

    def _least(self, state: int, known: bytes, made: int, left: int) -> Floats:
        """The least loss of a number of decisions, from a belief on."""
        key = (state, known, made, left)
        if key in self._known:
            return self._known[key]
        costs = self._cost(state, known, made)
        means = costs.mean(axis=1)
        least = np.full(1, np.inf)
        for action in np.argsort(means, kind="stable"):
            if means[action] >= least.mean():
                break  # no loss is negative
            loss = costs[action]
            if left > 1:
                for step in self._steps(state, int(action), known):
                    later = self._later(step.next_state, step.known, made, left - 1)
                    loss = loss + self._discount * step.probability * later
            if loss.mean() < least.mean():
                least = loss
        self._known[key] = least
        return least

    def _later(self, state: int, known: bytes, made: int, left: int) -> Floats:
        """The least loss after a decision that leads to a state."""
        if self._length is None:
            return self._least(state, known, 0, left)
        if made + 1 < self._length:
            return self._least(state, known, made + 1, left)
        first = (chance * self._least(x, known, 0, left) for chance, x in self._starts)
        return np.asarray(sum(first))

    def _cost(self, state: int, known: bytes, made: int) -> Floats:
        """The immediate loss of each action [A, R]."""
        key = (state, known, made)
        if key not in self._costs:
            if self._is_over(len(self._costs)) or self.is_full():
                raise TimeoutError
            first = state * self._prior.num_actions
            weights = self._weights(known)
            regret = self._regrets[made][first : first + self._prior.num_actions]
            products = regret.reshape(len(regret), *weights.shape) * weights
            self._costs[key] = products.mean(axis=2)
        return self._costs[key]


Solved = tuple[Floats, list[Floats], Weights]
"""Mean optimal values [R], regrets [P, K] by the decisions made in the episode, and weights."""


def _solve_hypotheses(prior: Hypotheses, discount: float) -> Solved:
    """The solutions of all hypotheses; the expected optimal value has R = 1."""
    solutions = [prior.mdps.mdp(k).solve(discount) for k in range(len(prior))]
    starts = np.broadcast_to(prior.mdps.start, (len(prior), prior.num_states))
    values = [start @ solution.value for start, solution in zip(starts, solutions, strict=True)]
    regret = np.array([(s.value[:, None] - s.q).ravel() for s in solutions]).T
    value = np.array([prior.weights @ np.array(values)])
    return value, [np.maximum(regret, 0.0)], _weights_of_hypotheses(prior)


def _weights_of_hypotheses(prior: Hypotheses) -> Weights:
    def weights(known: bytes) -> Floats:
        return len(prior) * np.frombuffer(known)[None]

    return weights


def _solve_tied(prior: Counting, discount: float, number: int, rng: np.random.Generator) -> Solved:
    """The solutions of drawn MDPs."""
    no_orders = np.zeros((0, 0, 0), np.int64), np.zeros(0, np.int64)
    problem = problem_of(prior, discount, number, *no_orders)
    values = solve_drawn(prior, problem, number, rng).reshape(-1, BLOCK).mean(axis=1)
    regret = np.maximum(problem.regret, 0.0).astype(np.float64)
    return values, [regret], _weights_of_transitions(prior, problem.probability)


def _weights_of_transitions(prior: Counting, probability: Floats | Singles) -> Weights:
    """The weights of MDPs whose transitions have some probabilities [E, K]."""
    log_weights = _log_weights(prior, probability)

    def weights(known: bytes) -> Floats:
        seen = np.frombuffer(known, np.uint8).astype(np.float64)
        return np.asarray(np.exp(log_weights(seen)).reshape(-1, BLOCK))

    return weights


def _log_weights(prior: Counting, probability: Floats | Singles) -> Callable[[Floats], Floats]:
    """The logarithms [K] of weights, given how often each count's outcome was seen.

    `probability` [E, K] is that of the MDPs' transitions.
    """
    if isinstance(prior, TiedDirichlet):
        cells, entry = np.unique(prior.cell, return_index=True)
        counts, group = prior.group_counts.ravel()[cells], cells // prior.group_counts.shape[1]
    else:
        counts, group = prior.counts.values, prior.counts.pair
        entry = np.arange(len(counts))
    logs = np.log(np.maximum(probability[entry], np.finfo(np.float32).tiny))
    totals = np.bincount(group, counts)

    def log_weights(seen: Floats) -> Floats:
        tried = np.bincount(group, seen, len(totals))
        mean = (gammaln(counts + seen) - gammaln(counts)).sum()
        mean -= (gammaln(totals + tried) - gammaln(totals)).sum()
        return np.asarray(seen @ logs - mean)

    return log_weights


def _solve_rewarded(
    prior: Counting, discount: float, number: int, rng: np.random.Generator
) -> Solved:
    """The same where binary rewards are unknown."""
    mdps = prior.draw([rng] * number)
    q = solve_all(mdps, discount)
    value = (q.max(axis=2) @ prior.start).reshape(-1, BLOCK).mean(axis=1)
    return value, [_regret(q)], _weights_of_rewards(prior, mdps.probability, mdps.reward)


def _regret(q: Floats) -> Floats:
    """The regrets [P, K] of Q-values [K, S, A]."""
    regret = q.max(axis=2, keepdims=True) - q
    return np.ascontiguousarray(regret.reshape(len(q), -1).T)


def _weights_of_rewards(prior: Counting, probability: Floats, reward: Floats) -> Weights:
    """The weights of MDPs [K, E] with binary rewards of some means [K, E]."""
    log_weights = _log_weights(prior, probability.T)
    assert prior.reward_prior is not None
    alpha, beta = (array.ravel() for array in prior.reward_prior.parameters().values())
    means = reward[:, prior.counts.row_start[:-1]].T  # [P, K]
    won_logs, lost_logs = (np.log(np.maximum(m, np.finfo(float).tiny)) for m in (means, 1 - means))

    def weights(known: bytes) -> Floats:
        numbers = np.frombuffer(known, np.uint8).astype(np.float64)
        lost, won = numbers[-2 * len(alpha) :].reshape(-1, 2).T
        mean = (betaln(alpha + won, beta + lost) - betaln(alpha, beta)).sum()
        logs = log_weights(numbers[: -2 * len(alpha)]) + won @ won_logs + lost @ lost_logs
        return np.asarray(np.exp(logs - mean).reshape(-1, BLOCK))

    return weights


def _solve_episodes(
    prior: Family, discount: float, episodes: Episodes, number: int, rng: np.random.Generator
) -> Solved:
    """The solutions of drawn MDPs, or of all hypotheses, with each number of decisions left."""
    if isinstance(prior, Hypotheses):
        mdps = prior.mdps
        table, probability, reward = mdps.places, mdps.probability, mdps.reward
        weights = _weights_of_hypotheses(prior)
    else:
        assert isinstance(prior, Counting)
        table, (probability, reward) = prior.counts, _drawn(prior, number, rng)
        if prior.reward_prior is None:
            weights = _weights_of_transitions(prior, probability.T)
        else:
            weights = _weights_of_rewards(prior, probability, reward)
    layers = list(q_values(table, probability, reward, discount, episodes.length))
    values = layers[-1].max(axis=2) @ prior.start * episodes.factor(discount)
    if isinstance(prior, Hypotheses):
        means = np.array([prior.weights @ values])
    else:
        means = values.reshape(-1, BLOCK).mean(axis=1)
    return means, [_regret(q) for q in reversed(layers)], weights


def value_of_hypotheses(prior: Hypotheses, discount: float, episodes: Episodes) -> float:
    """The expected optimal value of all episodes."""
    mdps = prior.mdps
    q = last_q_values(mdps.places, mdps.probability, mdps.reward, discount, episodes.length)
    values = (q.max(axis=2) * mdps.start).sum(axis=1)
    return float(prior.weights @ values) * episodes.factor(discount)


def bytes_of_episodes(prior: Family, repetitions: int, episodes: Episodes) -> int:
    """The memory that solutions with each number of decisions left need."""
    number = len(prior) if isinstance(prior, Hypotheses) else repetitions * BLOCK
    pairs = prior.num_states * prior.num_actions
    return 2 * 8 * number * episodes.length * pairs


def _drawn(prior: Counting, number: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The probabilities [n, E] of drawn MDPs, and their mean rewards [n, E] or [E]."""
    if prior.reward_prior is None:
        rewards = prior.rewards.mean.at(prior.counts)
        return draw_stratified(prior, number, BLOCK, rng), rewards
    mdps = prior.draw([rng] * number)
    return mdps.probability, mdps.reward


def mean_values_of_episodes(
    prior: Counting, discount: float, episodes: Episodes, blocks: int, rng: np.random.Generator
) -> Floats:
    """The mean optimal value of all episodes, in each of some independent blocks [n] of MDPs."""
    means = []
    for _ in range(blocks):
        q = last_q_values(prior.counts, *_drawn(prior, BLOCK, rng), discount, episodes.length)
        means.append(float((q.max(axis=2) @ prior.start).mean()))
    return np.array(means) * episodes.factor(discount)


def mean_rewarded_values(
    prior: Counting, discount: float, blocks: int, rng: np.random.Generator
) -> Floats:
    """The mean optimal value at the start, in each of some independent blocks [n] of MDPs."""
    q = (solve_all(prior.draw([rng] * BLOCK), discount) for _ in range(blocks))
    return np.array([float((each.max(axis=2) @ prior.start).mean()) for each in q])


def solve_all(mdps: MDPs, discount: float) -> Floats:
    """The optimal Q-values [N, S, A] of MDPs, by value iteration."""
    decisions = math.ceil(math.log(_NEGLIGIBLE * (1 - discount)) / math.log(discount))
    return last_q_values(mdps.places, mdps.probability, mdps.reward, discount, decisions)
