"""Priors with counts, flat or tied, and what is believed after transitions."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidInput
from ..mdps.batch import MDPs
from ..mdps.mdp import MDP, Rewards
from ..mdps.sparse import Floats, Integers, SparseTable, as_array
from .base import Family, Outcome
from .rewards import RewardPrior

GivenRewards = ArrayLike | SparseTable | Rewards | RewardPrior


class CountingPrior(Family):
    """The base of priors with Dirichlet counts, and rewards that are known or unknown."""

    counts: SparseTable
    """The Dirichlet parameters [S, A, S] of each pair's row, sparse; others are impossible."""
    rewards: Rewards
    """The rewards [S, A, S], sparse: `rewards.mean` and `rewards.variance`; the expected ones if
    they are unknown."""
    reward_prior: RewardPrior | None
    """The prior of unknown rewards; None if they are known."""

    def _set_rewards(
        self, rewards: GivenRewards, variances: ArrayLike | SparseTable | None
    ) -> None:
        """Keep known rewards, or a prior of unknown ones."""
        self.reward_prior = None
        if not isinstance(rewards, RewardPrior):
            self.rewards = Rewards.build(self.counts.shape, rewards, variances)
            return
        if variances is not None:
            raise InvalidInput("reward_variances: the prior of the rewards has them: leave it out")
        self.reward_prior = rewards.over(*self.counts.shape[:2])
        self.rewards = self.reward_prior.expected_rewards(self.counts)

    @property
    def given_rewards(self) -> Rewards | RewardPrior:
        """The known rewards, or the prior of unknown ones."""
        return self.reward_prior or self.rewards

    def with_rewards(self, rewards: GivenRewards) -> Self:
        """The same distribution with other rewards."""
        other = copy.copy(self)
        for name in ("digest", "frame", "max_reward"):
            vars(other).pop(name, None)
        other._set_rewards(rewards, None)
        return other

    @property
    def answers(self) -> frozenset[str]:
        """The needs that it meets, among the keys of `NEEDS`."""
        answers = super().answers
        if self.reward_prior is None:
            return answers
        return answers if self.reward_prior.is_binary else answers - _UNCOUNTABLE

    def tiny_alike(self) -> Family:
        """A tiny prior of the family with rewards of the same kind."""
        tiny = self.tiny()
        assert isinstance(tiny, CountingPrior)
        return tiny if self.reward_prior is None else tiny.with_rewards(type(self.reward_prior)())

    def sample_many(self, rngs: Sequence[np.random.Generator]) -> Floats:
        """Draw the probabilities [n, E] of n MDPs, each with a generator of its own."""
        raise NotImplementedError

    def draw(self, rngs: Sequence[np.random.Generator]) -> MDPs:
        """Draw MDPs, each with a generator of its own."""
        mdps = self.frame.with_probability(self.sample_many(rngs))
        if self.reward_prior is None or not len(rngs):
            return mdps
        return replace(mdps, reward=self.reward_prior.draw(rngs)[:, self.counts.pair])

    def sample(self, rng: np.random.Generator) -> MDP:
        """Draw one MDP."""
        if self.reward_prior is not None:
            return super().sample(rng)
        return self._mdp(self.sample_many([rng])[0])

    @cached_property
    def frame(self) -> MDPs:
        """The parts that all drawn MDPs share: all but probabilities and unknown mean rewards."""
        nothing, reward = np.zeros((0, len(self.counts.values))), self.rewards.mean.at(self.counts)
        variance = self.rewards.variance.at(self.counts)
        if self.reward_prior is not None:
            variance = self.reward_prior.deviation.ravel()[self.counts.pair] ** 2
        return MDPs(
            places=self.counts,
            probability=nothing,
            reward=reward[None] if self.reward_prior is None else nothing,
            variance=variance[None],
            start=self.start[None],
            is_binary=self.rewards.is_binary,
        )

    @property
    def known_rewards(self) -> Rewards | None:
        """The rewards, those of impossible transitions too; None if they are unknown."""
        return self.rewards if self.reward_prior is None else None

    @cached_property
    def max_reward(self) -> float:
        """The largest absolute mean reward of a possible transition."""
        if self.reward_prior is not None:
            return max(map(abs, self.reward_prior.limits))
        return float(np.abs(self.rewards.mean.at(self.counts)).max())

    def posterior(self, transitions: ArrayLike) -> Any:
        """The distribution after observed transitions, an array [n, 3] of (state, action, next).

        Rewards are a fourth column; they teach something where rewards are unknown.
        """
        observed, rewards = _columns(transitions)
        if observed.size == 0:
            return self.as_prior()
        distinct, which, times = np.unique(
            observed, axis=0, return_inverse=True, return_counts=True
        )
        if rewards is None or self.reward_prior is None:
            return self.learned(distinct, times, None)
        possible = self.reward_prior.nearest(rewards)
        totals: Floats = np.bincount(which.ravel(), possible).astype(np.float64)
        return self.learned(distinct, times, totals)

    def learned(
        self, transitions: Integers, times: Integers, totals: Floats | None
    ) -> "CountingPrior":
        """The distribution after distinct transitions [n, 3], each seen some times [n].

        Totals [n] are those of their rewards, or None if rewards teach nothing.
        """
        raise NotImplementedError

    def rewards_after(
        self, transitions: Integers, times: Integers, totals: Floats | None
    ) -> Rewards | RewardPrior:
        """The rewards, or the belief about them, after these transitions; see `learned`."""
        if self.reward_prior is None or totals is None:
            return self.given_rewards
        pairs = transitions[:, 0] * self.num_actions + transitions[:, 1]
        return self.reward_prior.posterior(pairs, times, totals)

    def belief(self) -> "CountingBelief":
        """The belief before the first transition; each call returns a new object."""
        return CountingBelief(self)

    def _mdp(self, probabilities: Floats) -> MDP:
        return MDP(self.counts.replace(probabilities), self.rewards, self.start)


_UNCOUNTABLE = frozenset({"predictive", "outcomes"})
"""Needs that priors with unknown Gaussian rewards do not meet."""


def _columns(transitions: ArrayLike) -> tuple[Integers, Floats | None]:
    """Observed transitions [n, 3], and the rewards [n] if there is a fourth column."""
    observed = as_array(transitions, "transitions")
    if observed.size == 0:
        return np.zeros((0, 3), np.int64), None
    if observed.ndim != 2 or observed.shape[1] not in (3, 4):
        raise InvalidInput(
            f"transitions has shape {list(observed.shape)}: must have three columns, (state, "
            "action, next state), or a fourth with the reward"
        )
    if observed.shape[1] == 3:
        return observed, None
    places = observed[:, :3].astype(np.int64)
    if (places != observed[:, :3]).any():
        raise InvalidInput("transitions: states and actions must be whole numbers")
    return places, observed[:, 3].astype(np.float64)


Seen = dict[tuple[int, int, int], tuple[int, float]]
"""Times that each (state, action, next state) was seen, and the total of its rewards."""


class CountingBelief:
    """The posterior of a prior with counts, one transition at a time."""

    def __init__(self, prior: CountingPrior) -> None:
        """Begin at the prior."""
        self._prior = prior
        self._seen: Seen = {}  # never changed in place
        self._posterior: CountingPrior | None = None

    def begin(self, state: int) -> None:
        """Learn from a start state: nothing, since all MDPs start alike."""

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Learn from a transition; its reward teaches nothing where rewards are known."""
        transition = int(state), int(action), int(next_state)
        times, total = self._seen.get(transition, (0, 0.0))
        if self._prior.reward_prior is not None:
            total += float(self._prior.reward_prior.nearest(np.float64(reward)))
        self._seen = {**self._seen, transition: (times + 1, total)}
        self._posterior = None

    def posterior(self) -> CountingPrior:
        """The distribution over MDPs after all transitions."""
        if self._posterior is None:
            transitions = np.array(list(self._seen), np.int64).reshape(-1, 3)
            columns = np.array(list(self._seen.values())).reshape(-1, 2)
            times = columns[:, 0].astype(np.int64)
            self._posterior = self._prior.learned(transitions, times, columns[:, 1])
        return self._posterior

    def sample(self, rng: np.random.Generator) -> MDP:
        """Draw an MDP."""
        return self.posterior().sample(rng)

    def mean(self) -> MDP:
        """The MDP of expected probabilities."""
        return self.posterior().mean()

    def predictive(self, state: int, action: int) -> tuple[Floats, float]:
        """The probabilities [S] of the next state, and the expected reward."""
        mean = self.mean()
        probabilities = np.zeros(mean.num_states)
        outcomes = row_outcomes(mean, state, action)
        probabilities[[outcome.next_state for outcome in outcomes]] = [
            outcome.probability for outcome in outcomes
        ]
        return probabilities, sum(outcome.probability * outcome.reward for outcome in outcomes)

    def outcomes(self, state: int, action: int) -> list[Outcome]:
        """All that can follow an action; unknown binary rewards are different outcomes."""
        outcomes, prior = row_outcomes(self.mean(), state, action), self._prior.reward_prior
        if prior is None:
            return outcomes
        if not prior.is_binary:
            raise InvalidInput(
                "rewards are Gaussian with unknown means, so infinitely many can follow an action: "
                "use predictive"
            )
        return [
            Outcome(chance * share, following, reward)
            for chance, following, mean in outcomes
            for share, reward in ((1 - mean, 0.0), (mean, 1.0))
            if chance * share > 0
        ]

    def counts(self) -> SparseTable:
        """The Dirichlet parameters [S, A, S] of each pair's row."""
        return self.posterior().counts

    def mark(self) -> Seen:
        """The transitions so far, for `undo`."""
        return self._seen

    def undo(self, mark: Seen) -> None:
        """Forget the transitions since a mark."""
        self._seen, self._posterior = mark, None


def row_outcomes(mdp: MDP, state: int, action: int) -> list[Outcome]:
    """All outcomes of an action in an MDP."""
    table = mdp.transitions
    pair = state * table.num_actions + action
    row = slice(table.row_start[pair], table.row_start[pair + 1])
    rewards = mdp.rewards.mean.at_places(table.place[row])
    columns = (table.values[row].tolist(), table.next_state[row].tolist(), rewards.tolist())
    return [Outcome(*numbers) for numbers in zip(*columns, strict=True)]
