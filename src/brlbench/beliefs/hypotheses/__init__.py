"""Hypotheses: the unknown MDP is one of K known ones, which may differ in all they have.

A belief is a weight per hypothesis. A start state multiplies each weight by the probability that
the hypothesis gives to it, and a transition by that of the next state and of the reward. An
observation that no hypothesis allows teaches nothing: the weights stay as they are. A weight that
is too small for a floating-point number is zero from then on.

Notation: K hypotheses, S states, E transitions that are possible in at least one of them.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ...arguments import counted
from ...errors import InvalidInput
from ...mdps.batch import MDPs
from ...mdps.mdp import MDP, PROBABILITY_TOLERANCE
from ...mdps.sparse import Floats, Integers, as_array
from ..base import Family, Outcome
from .rewards import check_rewards, has_unknown_gaussian, log_likelihoods, with_equal_rewards


class Hypotheses(Family):
    """A set of MDPs with weights, one of which is the true one. Immutable."""

    kind = "sets of hypotheses"
    mdps: MDPs
    """The hypotheses."""
    weights: Floats
    """The probabilities [K] of the hypotheses."""

    def __init__(
        self,
        mdps: Sequence[MDP] | MDPs,
        weights: ArrayLike | None = None,
        name: str = "",
        description: str = "",
    ) -> None:
        """Validate and keep.

        Args:
            mdps: the hypotheses, of equal numbers of states and of actions. The reward of a
                transition must be constant in all of them, or Gaussian in all of them.
            weights: how likely each one is; scaled to sum to 1. By default all are equally likely.
            name: a short name for tables and files.
            description: a longer one.
        """
        if not isinstance(mdps, MDPs):
            mdps = MDPs.gather(mdps)
        self.mdps = mdps = with_equal_rewards(mdps)
        self.weights = _checked_weights(weights, len(mdps))
        self.num_states, self.num_actions = mdps.places.num_states, mdps.places.num_actions
        self.start = _expected(self.weights, mdps.start)
        self.name = name
        self.description = description
        if mdps.is_binary:
            raise InvalidInput(
                "the rewards of hypotheses are constant or Gaussian, not binary: use a "
                "FlatDirichlet with BernoulliRewards"
            )
        check_rewards(mdps)

    def __len__(self) -> int:
        return len(self.mdps)

    def __repr__(self) -> str:
        return (
            f"Hypotheses({self.name or 'unnamed'}: {counted(len(self), 'MDP')} of "
            f"{counted(self.num_states, 'state')} and {counted(self.num_actions, 'action')})"
        )

    @property
    def answers(self) -> frozenset[str]:
        """All but what follows an action where that is a Gaussian reward that differs."""
        return super().answers - ({"predictive"} if self.has_unknown_gaussian else set())

    @cached_property
    def has_unknown_gaussian(self) -> bool:
        """Whether hypotheses differ in a Gaussian reward: then infinitely much can follow."""
        return has_unknown_gaussian(self.mdps, self.weights)

    @classmethod
    def tiny(cls) -> "Hypotheses":
        """Two MDPs of two states and two actions, with other rewards."""
        transitions = np.full((2, 2, 2), 0.5)
        rewards = [np.zeros((2, 2, 2)), np.ones((2, 2, 2))]
        return Hypotheses([MDP(transitions, reward, 0) for reward in rewards])

    def content(self) -> bytes:
        """All that the law depends on, as bytes; names do not count."""
        return b"hypotheses" + self.mdps.content() + self.weights.tobytes()

    @property
    def examples(self) -> MDPs:
        """All MDPs that are possible."""
        return self.mdps[np.flatnonzero(self.weights)]

    @cached_property
    def max_reward(self) -> float:
        """The largest absolute mean reward of a possible transition."""
        return float(np.abs(np.where(self.mdps.probability > 0, self.mdps.reward, 0.0)).max())

    def mean(self) -> MDP:
        """The MDP of expected probabilities; rewards are those expected after the transition."""
        return _mean(self.mdps, self.weights)

    def draw(self, rngs: Sequence[np.random.Generator]) -> MDPs:
        """Draw MDPs, each with a generator of its own."""
        return self.mdps[self.draw_indices(rngs)]

    def draw_indices(self, rngs: Sequence[np.random.Generator]) -> list[int]:
        """The numbers of drawn hypotheses, each drawn with a generator of its own."""
        return _draw_indices(self.weights, rngs)

    def belief(self) -> "HypothesisBelief":
        """The belief before the first transition; each call returns a new object."""
        return HypothesisBelief(self)

    def posterior(self, transitions: ArrayLike, start: int | None = None) -> "Hypotheses":
        """The weights after observed transitions.

        Args:
            transitions: rows of (state, action, next state), or with the reward as a fourth number.
            start: the first state, if it was observed as well.
        """
        observed = as_array(transitions, "transitions")
        if observed.size and (observed.ndim != 2 or observed.shape[1] not in (3, 4)):
            raise InvalidInput(
                f"transitions has shape {list(observed.shape)}: must have three columns, (state, "
                "action, next state), or a fourth with the reward"
            )
        belief = self.belief()
        if start is not None:
            belief.begin(start)
        for row in observed.reshape(-1, observed.shape[-1]) if observed.size else ():
            x, u, y = map(int, row[:3])
            belief.observe(x, u, y, float(row[3]) if len(row) == 4 else None)
        return self.with_weights(belief.weights)

    def with_weights(self, weights: ArrayLike) -> "Hypotheses":
        """The same hypotheses with other weights."""
        return Hypotheses(self.mdps, weights, self.name, self.description)

    def renumbered(self, order: Integers) -> "Hypotheses":
        """The same hypotheses where state x has become state `order[x]`."""
        mdps = [self.mdps.mdp(i).renumbered(order) for i in range(len(self))]
        return Hypotheses(mdps, self.weights, self.name, self.description)

    def entry(self, state: int, action: int, next_state: int) -> int | None:
        """The number of a transition among `mdps.places`; None if no hypothesis allows it."""
        places = self.mdps.places
        pair = state * self.num_actions + action
        first, end = places.row_start[pair : pair + 2]
        entry = int(first + np.searchsorted(places.next_state[first:end], next_state))
        return entry if entry < end and places.next_state[entry] == next_state else None


class HypothesisBelief:
    """The weights of hypotheses, which learn from start states and transitions."""

    def __init__(self, prior: Hypotheses, weights: Floats | None = None) -> None:
        """Begin at the prior's weights, or at others."""
        self._prior = prior
        self._weights = prior.weights if weights is None else weights  # never changed in place

    @property
    def weights(self) -> Floats:
        """The probabilities [K] of the hypotheses."""
        return self._weights

    @property
    def effective_size(self) -> float:
        """The effective number of hypotheses left: 1 over the sum of squared weights."""
        return float(1 / (self.weights**2).sum())

    def begin(self, state: int) -> None:
        """Learn from a start state."""
        starts = self._prior.mdps.start
        if len(starts) > 1:
            self._learn(starts[:, state])

    def observe(self, state: int, action: int, next_state: int, reward: float | None) -> None:
        """Learn from a transition; a reward of None teaches nothing by itself."""
        mdps, entry = self._prior.mdps, self._prior.entry(state, action, next_state)
        if entry is None:
            return
        likelihood = mdps.probability[:, entry]
        if reward is not None and not mdps.share_rewards:
            logs = log_likelihoods(reward, mdps.reward[:, entry], mdps.variance[:, entry])
            logs = np.where(self.weights * likelihood > 0, logs, -np.inf)
            if logs.max() == -np.inf:
                return
            likelihood = likelihood * np.exp(logs - logs.max())
        self._learn(likelihood)

    def _learn(self, likelihood: Floats) -> None:
        weights = self.weights * likelihood
        total = weights.sum()
        if total > 0:
            self._weights = weights / total

    def sample(self, rng: np.random.Generator) -> MDP:
        """Draw an MDP."""
        return self._prior.mdps.mdp(_draw_indices(self.weights, [rng])[0])

    def mean(self) -> MDP:
        """The MDP of expected probabilities and rewards."""
        return _mean(self._prior.mdps, self.weights)

    def predictive(self, state: int, action: int) -> tuple[Floats, float]:
        """The probabilities [S] of the next state, and the expected reward."""
        probabilities, reward = np.zeros(self._prior.num_states), 0.0
        for outcome in self.outcomes(state, action):
            probabilities[outcome.next_state] += outcome.probability
            reward += outcome.probability * outcome.reward
        return probabilities, reward

    def outcomes(self, state: int, action: int) -> list[Outcome]:
        """All that can follow an action; constant rewards that differ are different outcomes."""
        mdps, pair = self._prior.mdps, state * self._prior.num_actions + action
        outcomes = []
        for entry in range(*mdps.places.row_start[pair : pair + 2]):
            chance = self.weights * mdps.probability[:, entry]
            rewards = np.broadcast_to(mdps.reward[:, entry], chance.shape)
            next_state = int(mdps.places.next_state[entry])
            if (mdps.variance[:, entry] > 0).any():
                reward = float(chance @ rewards / chance.sum()) if chance.any() else 0.0
                outcomes.append(Outcome(float(chance.sum()), next_state, reward))
            else:
                for reward in np.unique(rewards[chance > 0]):
                    share = float(chance[rewards == reward].sum())
                    outcomes.append(Outcome(share, next_state, float(reward)))
        return [outcome for outcome in outcomes if outcome.probability > 0]

    def mark(self) -> Floats:
        """The present weights, for `undo`."""
        return self._weights

    def undo(self, mark: Floats) -> None:
        """Forget all that was observed since a mark."""
        self._weights = mark


def _expected(weights: Floats, rows: Floats) -> Floats:
    """The expectation of numbers of the hypotheses, [K or 1, …]."""
    return np.asarray(rows[0] if len(rows) == 1 else weights @ rows)


def _mean(mdps: MDPs, weights: Floats) -> MDP:
    """The MDP of expected probabilities; rewards are those expected after the transition."""
    chance = _expected(weights, mdps.probability)
    likely = chance > 0

    def after(numbers: Floats) -> Floats:
        total = weights @ (mdps.probability * numbers)
        return np.divide(total, chance, out=np.zeros_like(total), where=likely)

    mean, variance = mdps.reward[0], mdps.variance[0]
    if not mdps.share_rewards:
        mean = mean if len(mdps.reward) == 1 else after(mdps.reward)
        variance = np.maximum(after(mdps.variance + (mdps.reward - mean) ** 2), 0.0)
    start = _expected(weights, mdps.start)
    return MDPs(mdps.places, chance[None], mean[None], variance[None], start[None]).mdp(0)


def _draw_indices(weights: Floats, rngs: Sequence[np.random.Generator]) -> list[int]:
    """The numbers of hypotheses, each drawn with a generator of its own."""
    bounds = np.cumsum(weights)
    last = int(np.flatnonzero(weights)[-1])  # despite rounding, a possible one
    chances = (rng.random() * bounds[-1] for rng in rngs)
    return [min(int(np.searchsorted(bounds, chance, "right")), last) for chance in chances]


def _checked_weights(weights: ArrayLike | None, number: int) -> Floats:
    array = as_array(np.ones(number) if weights is None else weights, "weights", np.float64)
    if array.shape != (number,):
        raise InvalidInput(f"weights has shape {list(array.shape)}: must be [{number}]")
    wrong = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if len(wrong):
        i = int(wrong[0])
        raise InvalidInput(f"weights[{i}] = {array[i]}: must be a finite number at least 0")
    with np.errstate(over="ignore"):
        total = float(array.sum())
    if not 0 < total < np.inf:
        raise InvalidInput(f"weights sum to {total}: must be positive and finite")
    # Weights that are read from a file stay as they are.
    scaled: Floats = array.copy() if abs(total - 1) <= PROBABILITY_TOLERANCE else array / total
    scaled.flags.writeable = False
    return scaled
