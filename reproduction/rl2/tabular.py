"""TabulaRL's agents in episodes, with its single precision, on any MDP.

x, u, y are a state, an action and the next state; h is the number of decisions before one in its
episode. All agents make a plan for an episode from what they knew at its start, and take the best
actions of the plan, ties at random. TabulaRL (iosband/TabulaRL) keeps counts, probabilities and
most values in single precision. Sums here are in the order that gives the published numbers, since
rounding decides between some actions.

TabulaRL does not count the next state of an episode's last decision.
"""

import math
from typing import NamedTuple

import numpy as np

from brlbench.kernels.jit import cold, inlined, kernel
from brlbench.kernels.types import Floats, Integers, Singles

from .legacy import Stream, choice, random_sample, standard_gamma, standard_normal

GREEDY, SAMPLED, BONUS, OPTIMISTIC = 0, 1, 2, 3
DELTA = 0.05  # of UCRL2


class Rule(NamedTuple):
    """How an agent plans, and what it believes before the first transition."""

    plan: int  # GREEDY, SAMPLED, BONUS or OPTIMISTIC
    weight: float = 1.0  # the count of each next state
    mean: float = 0.0  # of mean rewards
    precision: float = 1.0  # of mean rewards; that of rewards about their mean is 1
    epsilon: float = 0.0  # probability of a random action
    samples: int = 1  # sampled MDPs per plan
    scaling: float = 1.0  # of bonuses and confidence sets
    in_place: bool = True  # whether an optimistic sweep changes the mean model's rows
    counts_last: bool = False  # whether an episode's last next state is counted


class Belief(NamedTuple):
    """What an agent knows."""

    counts: Singles  # [S, A, S]
    mean: Floats  # [S, A]
    precision: Floats  # [S, A]


class Plan(NamedTuple):
    """A plan for an episode of H decisions, and work space."""

    q: Floats  # [H, S, A]
    value: Floats  # [S]
    sampled: Floats  # [H, S, A]
    rewards: Floats  # [S, A]
    rows: Floats  # [S, S * A]; sampled, by next state, then by pair
    later: Floats  # [S * A]; expected values of the next state
    means: Singles  # [S, A, S]; expected
    bonus: Floats  # [S, A]; per later decision, or the slack of a row
    order: Integers  # [S]; states by value
    row: Singles  # [S]


def make_belief(rule: Rule, states: int, actions: int) -> Belief:
    """The belief before the first transition."""
    return Belief(
        counts=np.full((states, actions, states), rule.weight, np.float32),
        mean=np.full((states, actions), rule.mean),
        precision=np.full((states, actions), rule.precision),
    )


def make_plan(states: int, actions: int, episode: int) -> Plan:
    """Room for a plan."""
    pairs = states, actions
    return Plan(
        q=np.zeros((episode, *pairs)),
        value=np.zeros(states),
        sampled=np.zeros((episode, *pairs)),
        rewards=np.zeros(pairs),
        rows=np.zeros((states, states * actions)),
        later=np.zeros(states * actions),
        means=np.zeros((*pairs, states), np.float32),
        bonus=np.zeros(pairs),
        order=np.zeros(states, np.int64),
        row=np.zeros(states, np.float32),
    )


@kernel
def play(
    rewards: Floats,  # [S, A]; means
    rows: Floats,  # [S, A, S]
    rule: Rule,
    belief: Belief,
    plan: Plan,
    stream: Stream,
    sums: Floats,  # [episodes]; of all rewards so far, to be filled
) -> None:
    """Play an MDP from state 0 in each episode."""
    total, (episode, _, num_actions) = 0.0, plan.q.shape
    for number in range(len(sums)):
        make(rule, belief, plan, stream, number)
        x = 0
        for h in range(episode):
            if random_sample(stream) < rule.epsilon:
                u = choice(stream, num_actions)
            else:
                u = best(plan, h, x, stream)
            r = rewards[x, u] + standard_normal(stream)
            y = next_state(rows, x, u, stream)
            learn(belief, x, u, y, r, rule.counts_last or h + 1 < episode)
            total += r
            x = y
        sums[number] = total


@inlined
def best(plan: Plan, h: int, x: int, stream: Stream) -> int:
    """One of the best actions."""
    q, highest, ties = plan.q, plan.q[h, x, 0], 0
    for u in range(q.shape[2]):
        highest = max(highest, q[h, x, u])
    for u in range(q.shape[2]):
        ties += q[h, x, u] == highest
    left = choice(stream, ties)
    for u in range(q.shape[2]):
        if q[h, x, u] == highest:
            if left == 0:
                return u
            left -= 1
    return 0


@inlined
def next_state(rows: Floats, x: int, u: int, stream: Stream) -> int:
    """Draw the next state, as `choice` with probabilities."""
    total, running = 0.0, 0.0
    for y in range(rows.shape[2]):
        total += rows[x, u, y]
    drawn = random_sample(stream)
    for y in range(rows.shape[2] - 1):
        running += rows[x, u, y]
        if drawn < running / total:
            return y
    return rows.shape[2] - 1


@inlined
def learn(belief: Belief, x: int, u: int, y: int, r: float, counted: bool) -> None:
    """Learn from a reward, and from a next state if it is counted."""
    before = belief.precision[x, u]
    belief.mean[x, u] = (belief.mean[x, u] * before + r) / (before + 1.0)
    belief.precision[x, u] = before + 1.0
    if counted:
        belief.counts[x, u, y] += np.float32(1.0)


@inlined
def total_count(belief: Belief, x: int, u: int) -> float:
    """The sum of a pair's counts."""
    total = np.float32(0.0)
    for y in range(belief.counts.shape[2]):
        total += belief.counts[x, u, y]
    return float(total)


@cold
def make(rule: Rule, belief: Belief, plan: Plan, stream: Stream, number: int) -> None:
    """Make the plan of an episode, by its number."""
    if rule.plan == SAMPLED:
        sample(belief, plan, stream)
        solve_sampled(plan, plan.q)
        for _ in range(1, rule.samples):
            sample(belief, plan, stream)
            solve_sampled(plan, plan.sampled)
            for h in range(plan.q.shape[0]):
                for x in range(plan.q.shape[1]):
                    for u in range(plan.q.shape[2]):
                        plan.q[h, x, u] = max(plan.q[h, x, u], plan.sampled[h, x, u])
        return
    expect(rule, belief, plan, number)
    if rule.plan == OPTIMISTIC:
        solve_optimistic(rule, plan)
    else:
        solve_expected(plan)


@inlined
def sample(belief: Belief, plan: Plan, stream: Stream) -> None:
    """Draw an MDP from the belief."""
    states, actions = plan.rewards.shape
    for x in range(states):
        for u in range(actions):
            deviation = standard_normal(stream) * 1.0 / math.sqrt(belief.precision[x, u])
            plan.rewards[x, u] = belief.mean[x, u] + deviation
            total, pair = 0.0, x * actions + u
            for y in range(states):
                plan.rows[y, pair] = standard_gamma(stream, belief.counts[x, u, y])
                total += plan.rows[y, pair]
            for y in range(states):
                plan.rows[y, pair] *= 1.0 / total


@inlined
def expect(rule: Rule, belief: Belief, plan: Plan, number: int) -> None:
    """The expected MDP, with what the rule adds to rewards and rows."""
    states, actions, horizon = *plan.rewards.shape, plan.q.shape[0]
    log = math.log(2 * states * actions * (number + 1) / DELTA)  # episodes count from 0
    for x in range(states):
        for u in range(actions):
            total = total_count(belief, x, u)
            for y in range(states):
                plan.means[x, u, y] = belief.counts[x, u, y] / np.float32(total)
            reward, bonus = belief.mean[x, u], 0.0
            if rule.plan == BONUS:
                reward += 1.0 / (belief.precision[x, u] + 1.0)
                bonus = 2 * horizon * horizon * rule.scaling * horizon / (1.0 + total)
            elif rule.plan == OPTIMISTIC:
                seen = max(belief.precision[x, u] - rule.precision, 1.0)
                reward += rule.scaling * math.sqrt(4 * log / seen)
                seen = max(total - rule.weight, 1.0)
                bonus = rule.scaling * math.sqrt(4 * states * log / seen)
            plan.rewards[x, u], plan.bonus[x, u] = reward, bonus


@inlined
def take_best(plan: Plan, q: Floats, h: int) -> None:
    """The values of a decision."""
    for x in range(q.shape[1]):
        plan.value[x] = q[h, x, 0]
        for u in range(1, q.shape[2]):
            plan.value[x] = max(plan.value[x], q[h, x, u])


@inlined
def solve_expected(plan: Plan) -> None:
    """Solve the expected MDP; bonuses are for each later decision."""
    horizon, states, actions = plan.q.shape
    plan.value[:] = 0
    for left in range(horizon):
        h = horizon - 1 - left
        for x in range(states):
            for u in range(actions):
                q = plan.rewards[x, u] + expected_value(plan, x, u) + plan.bonus[x, u] * left
                plan.q[h, x, u] = np.float32(q)
        take_best(plan, plan.q, h)


@inlined
def expected_value(plan: Plan, x: int, u: int) -> float:
    """The expected value of the next state, in four sums and a rest as processors add vectors."""
    row, value, states = plan.means, plan.value, len(plan.value)
    a = b = c = d = np.float32(0.0)
    rest = states - states % 4
    for y in range(0, rest, 4):
        a += row[x, u, y] * np.float32(value[y])
        b += row[x, u, y + 1] * np.float32(value[y + 1])
        c += row[x, u, y + 2] * np.float32(value[y + 2])
        d += row[x, u, y + 3] * np.float32(value[y + 3])
    total = (a + b) + (c + d)
    for y in range(rest, states):
        total += row[x, u, y] * np.float32(value[y])
    return float(total)


@inlined
def solve_sampled(plan: Plan, q: Floats) -> None:
    """Solve a sampled MDP."""
    horizon, states, actions = q.shape
    plan.value[:] = 0
    for h in range(horizon - 1, -1, -1):
        plan.later[:] = 0
        for y in range(states):
            for pair in range(len(plan.later)):
                plan.later[pair] += plan.rows[y, pair] * plan.value[y]
        for x in range(states):
            for u in range(actions):
                q[h, x, u] = np.float32(plan.rewards[x, u] + plan.later[x * actions + u])
        take_best(plan, q, h)


@inlined
def solve_optimistic(rule: Rule, plan: Plan) -> None:
    """Extended value iteration, in double precision; in place, rows keep their changes."""
    horizon, states, actions = plan.q.shape
    plan.value[:] = 0
    for h in range(horizon - 1, -1, -1):
        sort(plan)
        for x in range(states):
            for u in range(actions):
                plan.q[h, x, u] = plan.rewards[x, u] + optimistic(rule, plan, x, u)
        take_best(plan, plan.q, h)


@inlined
def sort(plan: Plan) -> None:
    """Sort states by their values; equal ones keep their order."""
    for i in range(len(plan.order)):
        k = i
        while k > 0 and plan.value[plan.order[k - 1]] > plan.value[i]:
            plan.order[k] = plan.order[k - 1]
            k -= 1
        plan.order[k] = i


@inlined
def optimistic(rule: Rule, plan: Plan, x: int, u: int) -> float:
    """The expected value of the most favourable row that is close enough."""
    states, slack = len(plan.row), plan.bonus[x, u] * 0.5
    top = plan.order[states - 1]
    if plan.means[x, u, top] + slack > 1:
        return plan.value[top]
    for y in range(states):
        plan.row[y] = plan.means[x, u, y]
    plan.row[top] += slack
    place, total = 0, add(plan.row)
    while total > 1 and place < states:
        worst = plan.order[place]
        plan.row[worst] = max(0.0, 1.0 - total + plan.row[worst])
        place += 1
        total = add(plan.row)
    later = 0.0
    for y in range(states):
        later += plan.row[y] * plan.value[y]
        if rule.in_place:
            plan.means[x, u, y] = plan.row[y]
    return later


@inlined
def add(row: Singles) -> float:
    """The sum of single numbers."""
    total = np.float32(0.0)
    for y in range(len(row)):
        total += row[y]
    return float(total)
