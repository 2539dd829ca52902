"""The exact value of acting Bayes-optimally in tiny problems: the yardstick of planners.

The states of a Bayes-adaptive MDP are pairs (state, counts seen so far). Over a finite horizon
there are finitely many, and dynamic programming over them is exact. Their number grows with the
horizon to the power of the number of possible transitions, so only tiny problems can be solved.
"""

import math

from ..errors import InvalidInput
from ..values import check, whole
from .dirichlet import FlatDirichlet
from .mdp import check_discount

MAX_BELIEFS = 3_000_000
_MAX_HORIZON = 255  # a byte counts how often a transition was seen


def bayes_optimal_value(prior: FlatDirichlet, discount: float, horizon: int) -> float:
    """The highest expected return over `horizon` decisions of any agent that knows only the prior.

    Exact up to rounding. Problems with more than three million reachable beliefs are refused: for
    2 states and 2 actions, all transitions possible, that is a horizon of about 20.
    """
    gamma = check_discount(discount)
    horizon = check(horizon, "horizon", whole(0, _MAX_HORIZON))
    table = prior.counts
    counts, rewards = table.values.tolist(), prior.rewards.mean.at(table).tolist()
    following, first = table.next_state.tolist(), table.row_start.tolist()
    values: dict[tuple[int, bytes], float] = {}

    def value(state: int, seen: bytes, left: int) -> float:
        if left == 0:
            return 0.0
        belief = (state, seen)
        if belief in values:
            return values[belief]
        best = -math.inf
        pairs = range(state * prior.num_actions, (state + 1) * prior.num_actions)
        for start, end in ((first[pair], first[pair + 1]) for pair in pairs):
            total = sum(counts[start:end]) + sum(seen[start:end])
            q = 0.0
            for entry in range(start, end):
                then = seen[:entry] + bytes([seen[entry] + 1]) + seen[entry + 1 :]
                future = value(following[entry], then, left - 1)
                q += (counts[entry] + seen[entry]) / total * (rewards[entry] + gamma * future)
            best = max(best, q)
        if len(values) >= MAX_BELIEFS:
            raise InvalidInput(
                f"horizon = {horizon}: more than {MAX_BELIEFS} beliefs can be reached; "
                "choose a shorter horizon or a smaller problem"
            )
        values[belief] = best
        return best

    unseen = bytes(len(counts))
    return sum(
        float(probability) * value(state, unseen, horizon)
        for state, probability in enumerate(prior.start)
        if probability > 0
    )
