"""An upper bound on the value of acting Bayes-optimally: no agent's mean return is above it.

An agent that knows the MDP has the expected value E[V*]. Any other agent loses against it. Under
the belief b, the action u in the state x loses c(x, b, u) = E[V*(x) - Q*(x, u)] on average, and an
agent's value is E[V*] minus the expected discounted sum of its actions' losses. The least
possible sum comes from a search over beliefs; decisions beyond the search cost nothing. So the sum
is never too large, and E[V*] minus it is an upper bound.

Losses are estimated from MDPs drawn from the prior. A minimum of estimates is too low on average,
so the bound stays above the Bayes-optimal value on average. The least loss is a mean over the MDPs,
once the best actions are known. Its independent blocks give the one-sided 95% limit. MDPs in which
much can be lost are those of high value, so most of the error is known from the values of the same
MDPs and is taken out (a control variate).
"""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ... import memory, streams
from ...beliefs.base import Distribution, Family
from ...beliefs.flat import FlatDirichlet
from ...beliefs.hypotheses import Hypotheses
from ...beliefs.tied import TiedDirichlet
from ...errors import InvalidInput
from ...mdps.mdp import check_discount
from ...mdps.sparse import Floats
from ...values import COUNT, DISCOUNT, INDEX, POSITIVE, Flag, Index, Number, check, whole
from ..bayes_optimal import check_starts, is_searchable, known_prior

if TYPE_CHECKING:  # importing kernels takes long
    from .deepening import Deepening, Episodes
    from .search import Search

SECONDS = 60.0
REPETITIONS = 16
_LEVEL = 0.95
_BLOCKS_OF_VALUES = 256  # of MDPs that E[V*] comes from
_NEGLIGIBLE = 1e-6  # discount of decisions that need not be looked at
_FARTHEST = 100_000  # decisions ahead
_MOST_STATES = 100  # solving an MDP takes a millisecond then


class BayesOptimalBound(NamedTuple):
    """An upper bound on the expected discounted return of every agent."""

    upper: Number
    """The bound: the one-sided 95% limit of `estimate`."""
    estimate: Number
    """The estimated bound."""
    standard_error: Number
    """The standard error of `estimate`."""
    clairvoyant: Number
    """The expected value of an agent that knows the MDP, E[V*]."""
    depth: Index
    """The most decisions that the search looked ahead; 0 without a search."""
    beliefs: Index
    """The number of beliefs in the search."""
    is_complete: Flag
    """Whether the search has seen all beliefs that matter, up to its depth."""


class Growth(NamedTuple):
    """The progress of a search."""

    seconds: float
    beliefs: int
    depth: int
    estimate: float


OnGrowth = Callable[[Growth], None]


def bayes_optimal_bound(
    prior: str | Path | Distribution,
    discount: float = 0.95,
    seconds: float | None = None,
    *,
    depth: int | None = None,
    beliefs: int | None = None,
    repetitions: int = REPETITIONS,
    horizon: int | None = None,
    episode: int | None = None,
    seed: int = 0,
    on_growth: OnGrowth | None = None,
) -> BayesOptimalBound:
    """An upper bound on the mean discounted return of any agent, in MDPs drawn from a prior.

    It is the 95% limit of an estimate: with a chance below about 5%, it is too low. It bounds
    agents that know the prior, so it bounds those that are told another one as well. Of unknown
    Gaussian rewards, infinitely many can follow an action. So there is no search then: the bound is
    the value of an agent that knows the MDP, and needs the horizon.

    Args:
        prior: what MDPs are drawn from: a name, a file or a distribution, as in
            `brlbench.distribution`.
        discount: the discount factor; in episodes it may be 1.
        seconds: the time limit of the search; 60 unless `depth` or `beliefs` is given.
        depth: the most decisions to look ahead.
        beliefs: the number of beliefs to search; unlike seconds, it is reproducible.
        repetitions: independent repetitions, at least 4; each has 128 MDPs.
        horizon: decisions per trajectory, for priors with negative rewards. Without it, the bound
            is that of infinitely many decisions, which is also one of finitely many if no reward is
            negative. In episodes it must be given.
        episode: decisions after which the state is drawn from the start again. The bound is then
            one of `horizon` decisions in all.
        seed: of the MDPs that are drawn.
        on_growth: called with a `Growth` from time to time.
    """
    begin = time.monotonic()
    gamma = check_discount(discount) if episode is None else check(discount, "discount", DISCOUNT)
    prior = known_prior(prior)
    is_limited = (seconds, depth, beliefs) != (None, None, None)
    if not is_limited:
        seconds = SECONDS
    end = math.inf if seconds is None else check(seconds, "seconds", POSITIVE)
    most = math.inf if beliefs is None else check(beliefs, "beliefs", COUNT)
    check(repetitions, "repetitions", whole(4))
    if horizon is not None:
        check(horizon, "horizon", COUNT)
    episodes = _episodes(prior, horizon, episode)
    deepest = _deepest(gamma, depth, episodes)
    names = (prior.digest, gamma, check(seed, "seed", INDEX), *(episodes or ()))
    rng = streams.generator("Bayes-optimal bound", *names)
    if not is_searchable(prior):
        return _clairvoyant(prior, gamma, episodes, rng, is_limited)
    _check_size(prior, repetitions, episodes)

    def is_over(number: int) -> bool:
        return number >= most or time.monotonic() - begin >= end

    values, search = _begin(prior, gamma, repetitions, deepest, rng, is_over, episodes)
    is_complete = False
    while not (is_complete or is_over(search.num_beliefs) or search.is_full()):
        is_complete = not search.grow()
        if on_growth is not None:
            spent, estimate = time.monotonic() - begin, float(values.mean()) - search.loss
            on_growth(Growth(spent, search.num_beliefs, search.depth, estimate))
    beyond = _beyond(prior, gamma, horizon) if episodes is None else 0.0
    return _limit(values, search, is_complete, beyond)


def _episodes(prior: Family, horizon: int | None, episode: int | None) -> "Episodes | None":
    """The episodes of a bound; without a search, decisions without episodes are a single one."""
    from .deepening import Episodes

    check_starts(prior, episode)
    if episode is None and is_searchable(prior):
        return None
    if horizon is None:
        why = "its rewards are Gaussian" if episode is None else f"episode = {episode}"
        raise InvalidInput(
            f"horizon is not given, and {why}: give the decisions per trajectory of the experiment"
        )
    length = horizon if episode is None else check(episode, "episode", COUNT)
    if horizon % length:
        raise InvalidInput(
            f"horizon = {horizon}: must be a multiple of episode = {length}, such as "
            f"{length * max(1, horizon // length)}"
        )
    return Episodes(length=length, horizon=horizon)


def _clairvoyant(
    prior: Family,
    discount: float,
    episodes: "Episodes | None",
    rng: np.random.Generator,
    is_limited: bool,
) -> BayesOptimalBound:
    """The value of an agent that knows the MDP, as a bound; there is no search to be limited."""
    if is_limited:
        raise InvalidInput(
            "the rewards are Gaussian with unknown means, so beliefs are infinitely many and no "
            "search lowers the bound: leave out seconds, depth and beliefs for the value of an "
            "agent that knows the MDP"
        )
    assert episodes is not None  # see `_episodes`
    from scipy.stats import t

    from .deepening import mean_values_of_episodes, value_of_hypotheses

    if isinstance(prior, Hypotheses):
        value, error, limit = value_of_hypotheses(prior, discount, episodes), 0.0, 0.0
    else:
        assert isinstance(prior, FlatDirichlet | TiedDirichlet)  # see `known_prior`
        values = mean_values_of_episodes(prior, discount, episodes, _BLOCKS_OF_VALUES, rng)
        value, error = float(values.mean()), _standard_error(values)
        limit = float(t.ppf(_LEVEL, len(values) - 1))
    return BayesOptimalBound(
        upper=value + limit * error,
        estimate=value,
        standard_error=error,
        clairvoyant=value,
        depth=0,
        beliefs=0,
        is_complete=False,
    )


def _begin(
    prior: Family,
    discount: float,
    repetitions: int,
    depth: int,
    rng: np.random.Generator,
    is_over: Callable[[int], bool],
    episodes: "Episodes | None",
) -> "tuple[Floats, Search | Deepening]":
    """Values of MDPs in blocks, whose mean is E[V*], and a search."""
    from .deepening import Deepening, mean_rewarded_values, mean_values_of_episodes
    from .search import Search, mean_values

    if isinstance(prior, Hypotheses):
        search = Deepening(prior, discount, repetitions, depth, rng, is_over, episodes)
        return search.values, search
    assert isinstance(prior, FlatDirichlet | TiedDirichlet)  # see `known_prior`
    number = _BLOCKS_OF_VALUES
    if episodes is not None:
        values = mean_values_of_episodes(prior, discount, episodes, number, rng)
    elif prior.reward_prior is not None:
        values = mean_rewarded_values(prior, discount, number, rng)
    else:
        values = mean_values(prior, discount, number, rng)
        if isinstance(prior, FlatDirichlet):
            return values, Search(prior, discount, repetitions, depth, rng)
    return values, Deepening(prior, discount, repetitions, depth, rng, is_over, episodes)


def _deepest(discount: float, depth: int | None, episodes: "Episodes | None") -> int:
    """The number of decisions to look ahead: no more than matter, or than there are."""
    if episodes is None:
        far = min(_FARTHEST, math.ceil(math.log(_NEGLIGIBLE) / math.log(discount)))
    else:
        far = episodes.horizon
    return far if depth is None else min(far, check(depth, "depth", COUNT))


def _limit(
    values: Floats, search: "Search | Deepening", is_complete: bool, beyond: float
) -> BayesOptimalBound:
    """The one-sided limit, by Student's t over the repetitions."""
    from scipy.stats import t

    losses, sampled = search.losses(), search.values
    clairvoyant = float(values.mean())
    slopes = _slopes(losses, sampled)
    corrected = losses - slopes * (sampled - clairvoyant)
    estimate = clairvoyant - float(corrected.mean()) + beyond
    of_values = (1 - float(slopes.mean())) * _standard_error(values)
    error = math.hypot(of_values, _standard_error(corrected))
    return BayesOptimalBound(
        upper=estimate + float(t.ppf(_LEVEL, len(losses) - 2)) * error,
        estimate=estimate,
        standard_error=error,
        clairvoyant=clairvoyant,
        depth=search.depth,
        beliefs=search.num_beliefs,
        is_complete=is_complete,
    )


def _slopes(losses: Floats, values: Floats) -> Floats:
    """The slopes [R] of losses [R] by values [R]; each is that of all other repetitions.

    So it does not depend on the repetition that it corrects, and the correction has mean zero.
    """
    slopes = np.zeros(len(losses))
    for r in range(len(losses)):
        others = np.delete(values, r) - np.delete(values, r).mean()
        spread = float(others @ others)
        if spread > 0:
            slopes[r] = others @ np.delete(losses, r) / spread
    return slopes


def _standard_error(sample: Floats) -> float:
    return float(np.std(sample, ddof=1) / math.sqrt(len(sample)))


def _beyond(prior: Family, discount: float, horizon: int | None) -> float:
    """The most that an agent could save by stopping at the horizon, where rewards are negative."""
    if horizon is None:
        return 0.0
    worst = min(0.0, least_reward(prior))
    return -worst * discount**horizon / (1 - discount)


def least_reward(prior: Family) -> float:
    """The lowest mean reward of a possible transition."""
    if isinstance(prior, FlatDirichlet | TiedDirichlet) and prior.reward_prior is not None:
        return prior.reward_prior.limits[0]
    if isinstance(prior, Hypotheses):
        return float(np.where(prior.mdps.probability > 0, prior.mdps.reward, np.inf).min())
    mean = prior.mean()
    return float(mean.rewards.mean.at(mean.transitions).min())


def _check_size(prior: Family, repetitions: int, episodes: "Episodes | None") -> None:
    """Refuse problems whose MDPs take too long to solve or need too much memory."""
    from .deepening import bytes_of_episodes
    from .search import bytes_at_start

    if prior.num_states > _MOST_STATES:
        raise InvalidInput(
            f"the prior has {prior.num_states} states: bounds are computed for at most "
            f"{_MOST_STATES}"
        )
    if episodes is not None:
        size = bytes_of_episodes(prior, repetitions, episodes)
    elif isinstance(prior, FlatDirichlet):
        size = bytes_at_start(prior, repetitions)
    else:
        return  # a MDP per repetition is small, and hypotheses are in memory already
    memory.check_memory(
        size,
        f"a bound for {prior.num_states} states and {prior.num_actions} actions",
        "use a smaller problem, fewer repetitions, or shorter episodes",
    )
