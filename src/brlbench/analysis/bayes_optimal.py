"""The exact value of acting Bayes-optimally in tiny problems: the yardstick of planners.

The states of a Bayes-adaptive MDP are pairs of a state and what is known. Over a finite horizon
there are finitely many, and dynamic programming over them is exact. What is known is how often each
outcome was seen, for priors with counts, and the weights, for sets of hypotheses. The number of
pairs grows quickly with the horizon, so only tiny problems can be solved.
"""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..beliefs.base import Distribution, Family
from ..beliefs.flat import FlatDirichlet
from ..beliefs.hypotheses import Hypotheses, HypothesisBelief
from ..beliefs.tied import TiedDirichlet
from ..errors import InvalidInput
from ..problems import distribution
from ..values import COUNT, check, number, whole

MAX_BELIEFS = 3_000_000
_MAX_HORIZON = 255  # a byte counts how often a transition was seen
_DECIMALS = 14  # of weights: what is known is the same, whatever the order of transitions


class Step(NamedTuple):
    """One outcome of an action, and what is known after it."""

    probability: float
    next_state: int
    reward: float
    known: bytes


class Knowledge(NamedTuple):
    """How a family's knowledge begins, in each start state, and how it changes."""

    begin: Callable[[int], tuple[float, bytes]]  # the state's probability, and what is known
    steps: Callable[[int, int, bytes], Iterator[Step]]  # of a state and an action


def bayes_optimal_value(
    prior: str | Path | Distribution, discount: float, horizon: int, episode: int | None = None
) -> float:
    """The highest expected return over `horizon` decisions of any agent that knows only the prior.

    The prior is a name, a file or a distribution, as in `brlbench.distribution`. With `episode`,
    the state is drawn from the start again after so many decisions. The discount may be 1. Exact up
    to rounding. Problems with more than three million reachable beliefs are refused: for a flat
    prior on 2 states and 2 actions, all transitions possible, that is a horizon of about 20.
    """
    gamma = check(discount, "discount", number(above=0, most=1))
    horizon = check(horizon, "horizon", whole(0, _MAX_HORIZON))
    length = horizon + 1 if episode is None else check(episode, "episode", COUNT)
    prior = known_prior(prior)
    begin, steps = knowledge_of(prior)
    check_starts(prior, episode)
    starts = [(x, float(chance)) for x, chance in enumerate(prior.start) if chance > 0]
    values: dict[tuple[int, bytes], list[float]] = {}

    def value(state: int, known: bytes, left: int) -> float:
        if left == 0:
            return 0.0
        # Counts tell how many decisions are left; weights don't.
        by_left = values.setdefault((state, known), [math.nan] * horizon)
        if not math.isnan(by_left[left - 1]):
            return by_left[left - 1]
        best = -math.inf
        for action in range(prior.num_actions):
            q = 0.0
            for probability, following, reward, then in steps(state, action, known):
                q += probability * (reward + gamma * value_after(following, then, left - 1))
            best = max(best, q)
        if len(values) > MAX_BELIEFS:
            raise InvalidInput(
                f"horizon = {horizon}: more than {MAX_BELIEFS} beliefs can be reached; "
                "choose a shorter horizon or a smaller problem"
            )
        by_left[left - 1] = best
        return best

    def value_after(state: int, known: bytes, left: int) -> float:
        if left == 0 or (horizon - left) % length:
            return value(state, known, left)
        return sum(chance * value(x, known, left) for x, chance in starts)

    total = 0.0
    for state in range(prior.num_states):
        chance, known = begin(state)
        if chance > 0:
            total += chance * value(state, known, horizon)
    return total


def known_prior(source: str | Path | Distribution) -> Family:
    """The prior of a distribution, if it is of a family whose beliefs can be searched."""
    prior: Family = distribution(source).as_prior()
    if not isinstance(prior, FlatDirichlet | TiedDirichlet | Hypotheses):
        raise InvalidInput(
            f"{prior.name}: exact values and bounds are computed for flat and tied Dirichlet "
            f"priors and for sets of hypotheses, not for {prior.kind}"
        )
    return prior


def check_starts(prior: Family, episode: int | None) -> None:
    """Refuse episodes whose start states teach."""
    if isinstance(prior, Hypotheses) and len(prior.mdps.start) > 1 and episode is not None:
        raise InvalidInput(
            f"episode = {episode}: the hypotheses differ in their starts, which would teach: use "
            "hypotheses with the same start"
        )


def is_searchable(prior: Family) -> bool:
    """Whether finitely many beliefs can follow: there are no unknown Gaussian rewards."""
    if isinstance(prior, Hypotheses):
        return not prior.has_unknown_gaussian
    assert isinstance(prior, FlatDirichlet | TiedDirichlet)  # see `known_prior`
    return prior.reward_prior is None or prior.reward_prior.is_binary


def knowledge_of(prior: Family) -> Knowledge:
    """How the knowledge of a prior begins and changes."""
    if isinstance(prior, Hypotheses):
        return _of_hypotheses(prior)
    assert isinstance(prior, FlatDirichlet | TiedDirichlet)  # see `known_prior`
    return _of_counts(prior)


def _of_counts(prior: FlatDirichlet | TiedDirichlet) -> Knowledge:
    """Known is how often each count's outcome was seen; tied pairs have counts in common.

    Unknown binary rewards follow: how often each pair paid 0, and how often 1.
    """
    if prior.reward_prior is None:
        return _of_transitions(prior)
    if not prior.reward_prior.is_binary:
        raise InvalidInput(
            "the rewards are Gaussian with unknown means, so beliefs are infinitely many: use "
            "BernoulliRewards, or known rewards"
        )
    begin, transitions = _of_transitions(prior)
    weights, pairs = prior.reward_prior.strength.ravel(), prior.counts.num_pairs
    wins = (weights * prior.reward_prior.expected.ravel()).tolist()
    losses = (weights - np.array(wins)).tolist()
    unpaid = bytes(2 * pairs)

    def begin_unpaid(state: int) -> tuple[float, bytes]:
        chance, unseen = begin(state)
        return chance, unseen + unpaid

    def steps(state: int, action: int, known: bytes) -> Iterator[Step]:
        seen, paid = known[: -2 * pairs], known[-2 * pairs :]
        place = 2 * (state * prior.num_actions + action)
        lost, won = losses[place // 2] + paid[place], wins[place // 2] + paid[place + 1]
        for chance, following, _, then in transitions(state, action, seen):
            for reward, share in ((0, lost / (lost + won)), (1, won / (lost + won))):
                yield Step(
                    chance * share, following, float(reward), then + _more(paid, place + reward)
                )

    return Knowledge(begin_unpaid, steps)


def _more(seen: bytes, cell: int) -> bytes:
    """The same with one more in a cell."""
    return seen[:cell] + bytes([seen[cell] + 1]) + seen[cell + 1 :]


def _of_transitions(prior: FlatDirichlet | TiedDirichlet) -> Knowledge:
    """Known is how often each count's outcome was seen."""
    table = prior.counts
    counts, rewards = table.values.tolist(), prior.rewards.mean.at(table).tolist()
    following, first = table.next_state.tolist(), table.row_start.tolist()
    if isinstance(prior, TiedDirichlet):
        cells = np.unique(prior.cell, return_inverse=True)[1].tolist()
    else:
        cells = list(range(len(counts)))
    unseen = bytes(max(cells) + 1)

    def begin(state: int) -> tuple[float, bytes]:
        return float(prior.start[state]), unseen

    def steps(state: int, action: int, seen: bytes) -> Iterator[Step]:
        pair = state * prior.num_actions + action
        entries = range(first[pair], first[pair + 1])
        total = sum(counts[entry] + seen[cells[entry]] for entry in entries)
        for entry in entries:
            cell = cells[entry]
            chance = (counts[entry] + seen[cell]) / total
            yield Step(chance, following[entry], rewards[entry], _more(seen, cell))

    return Knowledge(begin, steps)


def _of_hypotheses(prior: Hypotheses) -> Knowledge:
    """Known are the weights."""
    if prior.has_unknown_gaussian:
        raise InvalidInput(
            "the hypotheses differ in Gaussian rewards, which have infinitely many outcomes: use "
            "constant rewards"
        )

    def known(weights: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bytes:
        return bytes(np.round(weights / weights.sum(), _DECIMALS))

    def begin(state: int) -> tuple[float, bytes]:
        belief = prior.belief()
        belief.begin(state)
        return float(prior.start[state]), known(belief.weights)

    def steps(state: int, action: int, weights: bytes) -> Iterator[Step]:
        belief = HypothesisBelief(prior, np.frombuffer(weights))
        for outcome in belief.outcomes(state, action):
            mark = belief.mark()
            belief.observe(state, action, outcome.next_state, outcome.reward)
            yield Step(*outcome, known(belief.weights))
            belief.undo(mark)

    return Knowledge(begin, steps)
