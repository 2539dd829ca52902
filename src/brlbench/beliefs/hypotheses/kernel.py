"""The weights of hypotheses, compiled, and the effective counts that they mean.

An outcome of a pair is a next state with its reward. Where rewards are constant and differ between
hypotheses, a next state has an outcome per distinct reward. Counts have an entry per outcome. With
mean probabilities p(o), weights w(k) and probabilities q(k, o), the effective count of a row is
(1 - sum w q^2) / (sum w q^2 - sum p^2): that of the Dirichlet distribution with the same mean and
the same summed variance.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ...kernels.arrays import at, copy_start
from ...kernels.counts import Counts
from ...kernels.jit import cold, inlined, kernel
from ...kernels.solving import endless
from ...kernels.types import Floats, Integers, ShortIntegers
from .drawing import begin_trajectory as begin_trajectory
from .drawing import draw_optimum as draw_optimum
from .drawing import draw_rows as draw_rows
from .drawing import start_episode as start_episode
from .drawing import step_trajectory as step_trajectory
from .rewards import REWARD_TOLERANCE

NO_ENTRY = -1
LEAST_COUNT, MOST_COUNT = 0.01, 1e9  # limits of effective counts
_CERTAIN = 1e-12  # a row with less summed variance is known


class Cases(NamedTuple):
    """The hypotheses: K MDPs over the same E transitions, with O outcomes. Never changes."""

    row_start: Integers  # [P + 1]; the transitions of a pair
    next_state: Integers  # [E]
    probability: Floats  # [E, K]
    reward: Floats  # [E, K], or [E, 1] if all have the same; means
    deviation: Floats  # as `reward`; zero where rewards are constant
    outcome_start: Integers  # [E + 1]; the outcomes of a transition
    outcome_reward: Floats  # [O]
    label: ShortIntegers  # [E, K]; number of a transition's outcome; [0, 0] if all have one
    start: Floats  # [K, S], or [1, S] if all have the same
    varying: Integers  # [V]; the pairs whose rows differ between hypotheses

    @property
    def is_shared(self) -> bool:
        """Copies of beliefs share it."""
        return True


class Solutions(NamedTuple):
    """The optima of all K hypotheses, or of none where nobody looks them up."""

    q: Floats  # [K, P] or [0, P]
    scale: Floats  # [K] or [0]; the largest absolute value

    @property
    def is_shared(self) -> bool:
        """Copies of beliefs share it."""
        return True


class Weights(NamedTuple):
    """The hypotheses that are left, n of K, and their weights."""

    cases: Cases
    solutions: Solutions
    left: Integers  # [1]; n
    case: Integers  # [K]; the first n are their numbers
    weight: Floats  # [K]; the first n are their weights, which sum to 1
    product: Floats  # [K]; work space
    mean: Floats  # [most outcomes of a pair]; work space
    changed: Integers  # [P]; the pairs whose rows changed last


class SavedWeights(NamedTuple):
    """N saved copies of weights."""

    left: Integers  # [N]
    case: Integers  # [N, K]
    weight: Floats  # [N, K]


@inlined
def find_entry(cases: Cases, pair: int, y: int) -> int:
    """The pair's entry for a next state, or NO_ENTRY, by binary search."""
    low, high = cases.row_start[pair], cases.row_start[pair + 1]
    while low < high:
        middle = (low + high) // 2
        if cases.next_state[middle] < y:
            low = middle + 1
        else:
            high = middle
    if low < cases.row_start[pair + 1] and cases.next_state[low] == y:
        return int(low)
    return NO_ENTRY


@inlined
def deviation_of(cases: Cases, entry: int, k: int) -> float:
    """The standard deviation of a transition's reward under hypothesis k."""
    deviation: float = cases.deviation[entry, k if cases.deviation.shape[1] > 1 else 0]
    return deviation


@inlined
def surprise(cases: Cases, entry: int, k: int, r: float) -> float:
    """The negative exponent of the density of a Gaussian reward under hypothesis k."""
    mean = cases.reward[entry, k if cases.reward.shape[1] > 1 else 0]
    distance: float = (r - mean) / deviation_of(cases, entry, k)
    return distance * distance / 2


@inlined
def least_surprise(belief: Weights, entry: int, r: float) -> float:
    """The least surprise among possible hypotheses, or 0 where the reward is constant.

    Densities are relative to it: all of them can be too small for floating-point numbers.
    """
    cases, least = belief.cases, np.inf
    if cases.deviation.shape[1] == 1 and cases.deviation[entry, 0] == 0:
        return 0.0
    for i in range(belief.left[0]):
        k = belief.case[i]
        if cases.probability[entry, k] > 0 and deviation_of(cases, entry, k) > 0:
            least = min(least, surprise(cases, entry, k, r))
    return least


@inlined
def likelihood_of_reward(cases: Cases, entry: int, k: int, r: float, least: float) -> float:
    """The density of a reward under hypothesis k, up to a common factor; 1 or 0 if constant."""
    deviation = deviation_of(cases, entry, k)
    if deviation > 0:
        return math.exp(least - surprise(cases, entry, k, r)) / deviation
    mean = cases.reward[entry, k if cases.reward.shape[1] > 1 else 0]
    return 1.0 if abs(r - mean) <= REWARD_TOLERANCE * max(1.0, abs(mean)) else 0.0


@inlined
def keep_possible(belief: Weights, total: float) -> None:
    """Let the products, whose sum is `total`, be the weights; drop those that are zero."""
    left = 0
    for i in range(belief.left[0]):
        if belief.product[i] > 0:
            belief.weight[left] = belief.product[i] / total
            belief.case[left] = belief.case[i]
            left += 1
    belief.left[0] = left


def begin(belief: Weights, x: int) -> bool:
    """Learn from a start state; return whether any weight changed."""
    start = belief.cases.start
    if start.shape[0] == 1:
        return False
    total, least, most = 0.0, np.inf, 0.0
    for i in range(belief.left[0]):
        chance = start[belief.case[i], x]
        least, most = min(least, chance), max(most, chance)
        belief.product[i] = belief.weight[i] * chance
        total += belief.product[i]
    if not total > 0 or least == most:
        return False
    keep_possible(belief, total)
    return True


@inlined
def learn(belief: Weights, pair: int, y: int, r: float) -> bool:
    """Multiply the weights by the likelihoods of a transition; return whether any changed.

    A transition that no hypothesis allows teaches nothing.
    """
    cases, weight, product = belief.cases, belief.weight, belief.product
    entry = find_entry(cases, pair, y)
    if entry == NO_ENTRY:
        return False
    rewarded = cases.reward.shape[1] > 1 or cases.deviation.shape[1] > 1
    surprising = least_surprise(belief, entry, r) if rewarded else 0.0
    total, least, most = 0.0, np.inf, 0.0
    for i in range(belief.left[0]):
        k = belief.case[i]
        likelihood = cases.probability[entry, k]
        if rewarded and likelihood > 0:
            likelihood *= likelihood_of_reward(cases, entry, k, r, surprising)
        least, most = min(least, likelihood), max(most, likelihood)
        product[i] = weight[i] * likelihood
        total += product[i]
    if not total > 0 or least == most:
        return False
    keep_possible(belief, total)
    return True


@cold
def recount(belief: Weights, counts: Counts, entry_reward: Floats) -> int:
    """Set the rows that vary; return how many changed."""
    number = 0
    for pair in belief.cases.varying:
        if set_row(belief, counts, entry_reward, pair):
            belief.changed[number] = pair
            number += 1
    return number


@kernel
def set_all_rows(belief: Weights, counts: Counts, entry_reward: Floats) -> None:
    """Set all rows."""
    for pair in range(len(counts.total)):
        set_row(belief, counts, entry_reward, pair)


@inlined
def set_row(belief: Weights, counts: Counts, entry_reward: Floats, pair: int) -> bool:
    """Set the effective counts of a pair; return whether they changed."""
    cases, mean, first = belief.cases, belief.mean, counts.row_start[pair]
    squares, expected_squares, reward = 0.0, 0.0, 0.0
    for entry in range(cases.row_start[pair], cases.row_start[pair + 1]):
        begin, end = cases.outcome_start[entry], cases.outcome_start[entry + 1]
        expected_squares += set_means(belief, entry, mean[begin - first : end - first])
        for o in range(begin, end):
            chance, worth = mean[o - first], cases.outcome_reward[o]
            if chance > 0 and cases.reward.shape[1] > 1 and end == begin + 1:
                worth = mean_reward(belief, entry) / chance
            squares += chance * chance
            reward += chance * worth
            if len(entry_reward) > 0:
                entry_reward[o] = worth
    strength = MOST_COUNT
    if expected_squares - squares > _CERTAIN:
        strength = (1 - expected_squares) / (expected_squares - squares)
    strength = min(max(strength, LEAST_COUNT), MOST_COUNT)
    is_new, total = False, 0.0
    for i in range(counts.row_length[pair]):
        count = strength * mean[i]
        total += count
        is_new |= count != counts.entry_count[first + i]
        counts.entry_count[first + i] = count
    is_new |= strength * reward != counts.reward_sum[pair]
    counts.total[pair], counts.reward_sum[pair] = total, strength * reward
    return bool(is_new)


@inlined
def set_means(belief: Weights, entry: int, mean: Floats) -> float:
    """Set the mean probabilities of a transition's outcomes; return the mean of their squares."""
    cases, squares = belief.cases, 0.0
    mean[:] = 0.0
    for i in range(belief.left[0]):
        k = belief.case[i]
        chance = cases.probability[entry, k]
        joint = belief.weight[i] * chance
        squares += joint * chance
        mean[cases.label[entry, k] if len(mean) > 1 else 0] += joint
    return squares


@inlined
def mean_reward(belief: Weights, entry: int) -> float:
    """The mean, over the hypotheses, of a transition's probability times its reward."""
    cases, total = belief.cases, 0.0
    for i in range(belief.left[0]):
        k = belief.case[i]
        total += belief.weight[i] * cases.probability[entry, k] * cases.reward[entry, k]
    return total


def reset(belief: Weights, initial: Weights) -> None:
    """Back to the initial weights."""
    left = initial.left[0]
    belief.left[0] = left
    copy_start(belief.case, initial.case, left)
    copy_start(belief.weight, initial.weight, left)


def save_belief(belief: Weights, saved: SavedWeights, k: int) -> None:
    """Save the weights as number k."""
    saved.left[k] = belief.left[0]
    copy_start(saved.case[k], belief.case, belief.left[0])
    copy_start(saved.weight[k], belief.weight, belief.left[0])


def restore_belief(belief: Weights, saved: SavedWeights, k: int) -> None:
    """Back to the weights number k."""
    belief.left[0] = saved.left[k]
    copy_start(belief.case, saved.case[k], saved.left[k])
    copy_start(belief.weight, saved.weight[k], saved.left[k])


def count(belief: Weights, counts: Counts, pair: int, y: int, r: float) -> int:
    """Learn, and set the rows that vary."""
    return recount(belief, counts, counts.reward[:0]) if learn(belief, pair, y, r) else 0


def count_rewarded(
    belief: Weights, counts: Counts, entry_reward: Floats, pair: int, y: int, r: float
) -> int:
    """As `count`, with the rewards of entries."""
    return recount(belief, counts, entry_reward) if learn(belief, pair, y, r) else 0


def observe(
    belief: Weights, counts: Counts, entry_reward: Floats, pair: int, y: int, r: float
) -> None:
    """Learn."""
    learn(belief, pair, y, r)


def changed(belief: Weights, pair: int, i: int) -> int:
    """The i-th pair whose row changed."""
    return int(belief.changed[at(i)])


def overwrites(belief: Weights) -> bool:
    """Rows are set anew."""
    return True


def update_solution(belief: Weights, model: Any, x: int, u: int, y: int, number: int) -> None:
    """Exchange the rows that changed."""
    if number > 0:
        endless.update_rows(model, x * model.counts.num_actions + u, number)
