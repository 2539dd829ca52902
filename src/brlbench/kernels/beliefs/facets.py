"""The cost of an action under a belief, from MDPs drawn from the prior and solved exactly.

A facet is what a belief knows about one state: the counts seen in the rows of its actions. Alike
actions have the same prior, so their order means nothing: a facet keeps their rows sorted, and
stands for every order. Averaged over these orders, the likelihood of a facet in an MDP has the
factor `weight`, relative to its mean over MDPs. The product of a belief's weights, over all states,
has mean 1, and the mean of weights times regrets is an unbiased estimate of what an action costs.

Blocks of MDPs are independent repetitions of the estimate.

Notation: R repetitions; K = R * BLOCK MDPs; S states, A actions, E possible transitions; F facets;
M, the largest number of possible transitions of one state; O orders of a state's actions. A facet's
entry m is its state's m-th possible transition.
"""

from typing import NamedTuple

import numpy as np

from ..jit import cold, inlined, kernel, summing
from ..solving.elimination import eliminate
from ..types import Floats, Integers, ShortIntegers, Singles

BLOCK = 128  # MDPs per repetition; their numbers fit into the nearest cache


class Problem(NamedTuple):
    """The possible transitions of a prior, and MDPs drawn from it, solved.

    MDPs are the last axis, so that code is vectorised over them.
    """

    discount: float
    num_actions: int
    row_start: Integers  # [P + 1]; the first entry of each pair
    next_state: Integers  # [E]
    reward: Floats  # [E]
    prior: Floats  # [E]; the prior's counts
    order: Integers  # [S, O, A]; the orders of each state's actions that exchange alike ones
    num_orders: Integers  # [S]
    probability: Singles  # [E, K]
    regret: Singles  # [P, K]; V* - Q*


class Facets(NamedTuple):
    """All facets so far; the first S are those of unknown states."""

    state: Integers  # [F]
    seen: Integers  # [F, M]; the counts
    following: Integers  # [F, M]; the facet after one more observation, or UNKNOWN
    chance: Floats  # [F, M]; the probability of each transition
    lead: Integers  # [F, A]; the first action that has the same prior and the same counts
    weight: Singles  # [F, K]
    loss: Singles  # [F, A, K]; the weight times the regret of each action


class Scratch(NamedTuple):
    """Work space."""

    likelihood: Singles  # [A, A, BLOCK]; of the counts of one action in the row of another
    product: Singles  # [BLOCK]
    weight: Singles  # [BLOCK]


UNKNOWN = -1


@kernel
def solve_all(
    problem: Problem,  # its MDPs are written, unless there is no room for any
    probabilities: Floats,  # [K, E]
    start_value: Floats,  # [K]; out: the mean of V* over start states
    start: Floats,  # [S]
    matrix: Floats,  # [S, S]; work space
    value: Floats,  # [S]; work space
    policy: Integers,  # [S]; work space
) -> None:
    """Solve every MDP by policy iteration."""
    states, actions = len(policy), problem.num_actions
    for i in range(len(probabilities)):
        start_value[i] = 0.0
        chance = probabilities[i]
        for x in range(states):
            value[x], policy[x] = 0.0, 0
        better = True
        _improve(problem, chance, value, policy)
        while better:
            _evaluate(problem, chance, policy, matrix, value)
            better = _improve(problem, chance, value, policy)
        for x in range(states):
            start_value[i] += start[x] * value[x]
        if problem.regret.shape[1] > 0:
            for pair in range(states * actions):
                lost = value[pair // actions] - _q_value(problem, chance, value, pair)
                problem.regret[pair, i] = max(lost, 0.0)
            for entry in range(len(chance)):
                problem.probability[entry, i] = chance[entry]


@inlined
def _q_value(problem: Problem, chance: Floats, value: Floats, pair: int) -> float:
    total = 0.0
    for entry in range(problem.row_start[pair], problem.row_start[pair + 1]):
        future = problem.discount * value[problem.next_state[entry]]
        total += chance[entry] * (problem.reward[entry] + future)
    return total


@cold
def _improve(problem: Problem, chance: Floats, value: Floats, policy: Integers) -> bool:
    """Switch to better actions; return whether there are any."""
    actions, changed, scale = problem.num_actions, False, 0.0
    for x in range(len(policy)):
        scale = max(scale, abs(value[x]))
    for x in range(len(policy)):
        best = policy[x]
        # Or rounding could cycle.
        highest = _q_value(problem, chance, value, x * actions + best) + 1e-12 * scale
        for u in range(actions):
            q = _q_value(problem, chance, value, x * actions + u)
            if q > highest:
                highest, best = q, u
        changed |= best != policy[x]
        policy[x] = best
    return changed


@cold
def _evaluate(
    problem: Problem, chance: Floats, policy: Integers, matrix: Floats, value: Floats
) -> None:
    """The values of a policy."""
    for x in range(len(policy)):
        matrix[x, :] = 0.0
        matrix[x, x] = 1.0
        value[x] = 0.0
        pair = x * problem.num_actions + policy[x]
        for entry in range(problem.row_start[pair], problem.row_start[pair + 1]):
            matrix[x, problem.next_state[entry]] -= problem.discount * chance[entry]
            value[x] += chance[entry] * problem.reward[entry]
    eliminate(matrix, value)


@kernel
def weigh_facets(problem: Problem, facets: Facets, scratch: Scratch, first: int, end: int) -> None:
    """Compute the weights and the losses of some facets in all MDPs."""
    for facet in range(first, end):
        for block in range(0, problem.regret.shape[1], BLOCK):
            _fill_losses(problem, facets, scratch, facet, block)


@cold
def _fill_losses(
    problem: Problem, facets: Facets, scratch: Scratch, facet: int, block: int
) -> None:
    """A facet's weight in a block of MDPs, and its weight times the regret of each action.

    Both are means over the orders of alike actions.
    """
    x, actions = facets.state[facet], problem.num_actions
    _fill_likelihoods(problem, facets, scratch, facet, block)
    weight, loss, likelihood = facets.weight, facets.loss, scratch.likelihood
    for j in range(block, block + BLOCK):
        weight[facet, j] = 0.0
    for u in range(actions):
        for j in range(block, block + BLOCK):
            loss[facet, u, j] = 0.0
    share = np.float32(1 / problem.num_orders[x])
    product = scratch.product
    for o in range(problem.num_orders[x]):
        for j in range(BLOCK):
            product[j] = share
        for u in range(actions):
            row = problem.order[x, o, u]
            for j in range(BLOCK):
                product[j] *= likelihood[row, u, j]
        for j in range(BLOCK):
            weight[facet, block + j] += product[j]
        for u in range(actions):
            pair = x * actions + problem.order[x, o, u]
            for j in range(BLOCK):
                loss[facet, u, block + j] += product[j] * problem.regret[pair, block + j]


@cold
def _fill_likelihoods(
    problem: Problem, facets: Facets, scratch: Scratch, facet: int, block: int
) -> None:
    """The likelihood of each action's counts in the row of each, relative to its mean.

    It is a product over observations of their probability, relative to the expected one then.
    """
    actions = problem.num_actions
    first = facets.state[facet] * actions
    offset = problem.row_start[first]
    likelihood = scratch.likelihood
    for u in range(actions):
        begin, end = problem.row_start[first + u], problem.row_start[first + u + 1]
        for v in range(actions):
            start = problem.row_start[first + v]
            if problem.row_start[first + v + 1] - start != end - begin:
                continue
            for j in range(BLOCK):
                likelihood[v, u, j] = 1.0
            total, most = 0.0, 0
            for m in range(begin, end):
                total += problem.prior[m]
                most = max(most, facets.seen[facet, m - offset])
            for time in range(most):  # in turn: one entry after the other could underflow
                for m in range(begin, end):
                    if time < facets.seen[facet, m - offset]:
                        factor = np.float32(total / (problem.prior[m] + time))
                        total += 1.0
                        row = start + m - begin
                        for j in range(BLOCK):
                            likelihood[v, u, j] *= factor * problem.probability[row, block + j]


@cold
def set_costs(
    facets: Facets,
    scratch: Scratch,
    known: ShortIntegers,  # [N, S]; the facets of beliefs
    node: int,
    x: int,
    cost: Singles,  # [N, A]; out
) -> None:
    """Estimate what every action costs in a state under a belief."""
    facet, num_mdps = known[node, x], facets.weight.shape[1]
    for u in range(cost.shape[1]):
        cost[node, u] = 0.0
    for block in range(0, num_mdps, BLOCK):
        _multiply_weights(facets, scratch, known, node, x, block)
        for u in range(cost.shape[1]):
            if facets.lead[facet, u] == u:
                cost[node, u] += _dot(scratch.weight, facets.loss, facet, u, block) / num_mdps


@cold
def add_losses(
    facets: Facets,
    scratch: Scratch,
    known: ShortIntegers,
    node: int,
    x: int,
    u: int,
    factor: float,
    loss: Floats,  # [K]; out
) -> None:
    """Add what an action costs in each MDP, in a state under a belief, times a factor."""
    facet = known[node, x]
    for block in range(0, len(loss), BLOCK):
        _multiply_weights(facets, scratch, known, node, x, block)
        for j in range(BLOCK):
            loss[block + j] += factor * scratch.weight[j] * facets.loss[facet, u, block + j]


@inlined
def _multiply_weights(
    facets: Facets, scratch: Scratch, known: ShortIntegers, node: int, x: int, block: int
) -> None:
    """The weights of a block of MDPs by the facets of all states but x."""
    for j in range(BLOCK):
        scratch.weight[j] = 1.0
    for y in range(known.shape[1]):
        other = known[node, y]
        if other >= known.shape[1] and y != x:
            for j in range(BLOCK):
                scratch.weight[j] *= facets.weight[other, block + j]


@summing
def _dot(weight: Singles, loss: Singles, facet: int, u: int, block: int) -> np.float32:
    total = np.float32(0.0)
    for j in range(BLOCK):
        total += weight[j] * loss[facet, u, block + j]
    return total
