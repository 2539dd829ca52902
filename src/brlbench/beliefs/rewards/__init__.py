"""Unknown rewards: what is believed about the mean reward of each pair of a state and an action.

The rewards of a pair have one mean, whatever state follows. Means are independent, of each other
and of transitions, and conjugate: the belief about a pair's mean is its prior, as if it were some
observations, and the rewards that were observed.

Notation: S states, A actions, P = S * A pairs, E possible transitions.
"""

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidInput
from ...mdps.mdp import LARGEST_REWARD, Rewards
from ...mdps.sparse import Floats, Integers, SparseTable, as_array


class RewardPrior:
    """The base of priors over mean rewards. Immutable."""

    is_binary: ClassVar[bool]
    """Whether rewards are 1 or 0."""
    words: ClassVar[tuple[str, ...]]
    """The names of the parameters, in files and in the constructor."""

    def parameters(self) -> dict[str, Floats]:
        """The parameters by name, arrays that broadcast to [S, A]."""
        return {name: getattr(self, name) for name in self.words}

    def __repr__(self) -> str:
        numbers = (f"{name}={_short(array)}" for name, array in self.parameters().items())
        return f"{type(self).__name__}({', '.join(numbers)})"

    @property
    def strength(self) -> Floats:
        """The number of observed rewards that the prior of each pair is worth."""
        raise NotImplementedError

    @property
    def expected(self) -> Floats:
        """The expected reward of each pair."""
        raise NotImplementedError

    @property
    def deviation(self) -> Floats:
        """The standard deviation of each pair's rewards about their mean; zero if binary."""
        raise NotImplementedError

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the largest mean reward; Normals end at three standard deviations."""
        raise NotImplementedError

    def draw(self, rngs: Sequence[np.random.Generator]) -> Floats:
        """Draw the mean rewards [n, P], each time with another generator."""
        raise NotImplementedError

    def learned(self, number: Floats, total: Floats) -> Self:
        """The posterior after a number of rewards of each pair, and their totals."""
        raise NotImplementedError

    def over(self, num_states: int, num_actions: int) -> Self:
        """The same for these numbers of states and actions: all parameters are [S, A]."""
        shape = (num_states, num_actions)
        changes = {}
        for name, array in self.parameters().items():
            try:
                changes[name] = np.broadcast_to(array, shape)
            except ValueError:
                raise InvalidInput(
                    f"{name} of the rewards has shape {list(array.shape)}: must broadcast to "
                    f"{list(shape)}, one number per state and action"
                ) from None
        return self._with(changes)

    def nearest(self, rewards: Any) -> Any:
        """Rewards as they count: where they are binary, impossible ones count as 0 or 1."""
        return np.clip(rewards, 0.0, 1.0) if self.is_binary else rewards

    def posterior(self, pairs: Integers, times: Integers, totals: Floats) -> Self:
        """The prior of [S, A] after some rewards of pairs [n]: their numbers, and their totals."""
        shape, size = self.strength.shape, self.strength.size
        number: Floats = np.bincount(pairs, times, size).astype(np.float64)
        total: Floats = np.bincount(pairs, totals, size).astype(np.float64)
        return self.learned(number.reshape(shape), total.reshape(shape))

    def renumbered(self, order: Integers) -> Self:
        """The same where state x has become state `order[x]`."""
        before = np.argsort(order)
        return self._with({name: array[before] for name, array in self.parameters().items()})

    def expected_rewards(self, places: SparseTable) -> Rewards:
        """The rewards of possible transitions as the prior expects them, with all their spread."""
        numbers = self.expected.ravel()[places.pair], self.spread.ravel()[places.pair]
        tables = (SparseTable.from_places(*places.shape[:2], places.place, n) for n in numbers)
        return Rewards(*tables, is_binary=self.is_binary)

    @property
    def spread(self) -> Floats:
        """The variance of each pair's next reward; zero if binary, where the mean says it."""
        raise NotImplementedError

    def content(self) -> bytes:
        """The prior as bytes, for digests."""
        arrays = (np.ascontiguousarray(array).tobytes() for array in self.parameters().values())
        return type(self).__name__.encode() + b"".join(arrays)

    def _with(self, parameters: dict[str, Floats]) -> Self:
        other = copy.copy(self)
        for name, array in parameters.items():
            setattr(other, name, _frozen(array))
        return other


class NormalRewards(RewardPrior):
    """Gaussian rewards: a pair's mean is unknown and Normal, the noise about it is known."""

    is_binary = False
    words = ("mean", "precision", "noise")

    def __init__(
        self, mean: ArrayLike = 0.0, precision: ArrayLike = 1.0, noise: ArrayLike = 1.0
    ) -> None:
        """Validate and keep. All are numbers, or arrays that broadcast to [S, A].

        Args:
            mean: the expectation of a pair's mean reward.
            precision: one over the variance of a pair's mean reward.
            noise: the standard deviation of rewards about their mean.
        """
        self.mean = _checked("mean", mean, -LARGEST_REWARD)
        self.precision = _checked("precision", precision, _LEAST)
        self.noise = _checked("noise", noise, _LEAST)

    @property
    def strength(self) -> Floats:
        """The number of observed rewards that the prior of each pair is worth."""
        return np.asarray(self.precision * self.noise**2)

    @property
    def expected(self) -> Floats:
        """The expected reward of each pair."""
        return self.mean

    @property
    def deviation(self) -> Floats:
        """The standard deviation of each pair's rewards about their mean."""
        return self.noise

    @property
    def spread(self) -> Floats:
        """The variance of each pair's next reward: of its mean, and of the noise."""
        return np.asarray(1 / self.precision + self.noise**2)

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the largest mean reward, up to three standard deviations."""
        reach = _REACH / np.sqrt(self.precision)
        return float((self.mean - reach).min()), float((self.mean + reach).max())

    def draw(self, rngs: Sequence[np.random.Generator]) -> Floats:
        """Draw the mean rewards [n, P], each time with another generator."""
        mean, deviation = self.mean.ravel(), 1 / np.sqrt(self.precision.ravel())
        rows = [rng.normal(mean, deviation) for rng in rngs]
        return np.array(rows).reshape(len(rngs), mean.size)

    def learned(self, number: Floats, total: Floats) -> Self:
        """The posterior after a number of rewards of each pair, and their totals."""
        precision = self.precision + number / self.noise**2
        mean = (self.precision * self.mean + total / self.noise**2) / precision
        return self._with({"mean": mean, "precision": precision})


class BernoulliRewards(RewardPrior):
    """Binary rewards: a pair's probability of 1 is unknown and has a Beta distribution."""

    is_binary = True
    words = ("alpha", "beta")

    def __init__(self, alpha: ArrayLike = 1.0, beta: ArrayLike = 1.0) -> None:
        """Validate and keep. Both are numbers, or arrays that broadcast to [S, A].

        Args:
            alpha: the first parameter of the Beta distribution, that of rewards of 1.
            beta: the second parameter, that of rewards of 0.
        """
        self.alpha = _checked("alpha", alpha, _LEAST)
        self.beta = _checked("beta", beta, _LEAST)

    @property
    def strength(self) -> Floats:
        """The number of observed rewards that the prior of each pair is worth."""
        return np.asarray(self.alpha + self.beta)

    @property
    def expected(self) -> Floats:
        """The expected reward of each pair."""
        return np.asarray(self.alpha / (self.alpha + self.beta))

    @property
    def deviation(self) -> Floats:
        """Zeros."""
        return np.zeros_like(self.alpha)

    @property
    def spread(self) -> Floats:
        """Zeros."""
        return np.zeros_like(self.alpha)

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the largest mean reward."""
        return 0.0, 1.0

    def draw(self, rngs: Sequence[np.random.Generator]) -> Floats:
        """Draw the mean rewards [n, P], each time with another generator."""
        alpha, beta = self.alpha.ravel(), self.beta.ravel()
        return np.array([rng.beta(alpha, beta) for rng in rngs]).reshape(len(rngs), alpha.size)

    def learned(self, number: Floats, total: Floats) -> Self:
        """The posterior after a number of rewards of each pair, and their totals."""
        return self._with({"alpha": self.alpha + total, "beta": self.beta + number - total})


_LEAST = 1e-100
_REACH = 3.0  # standard deviations


def _checked(name: str, numbers: ArrayLike, least: float) -> Floats:
    array = as_array(numbers, name, np.float64)
    wrong = ~((array >= least) & (array <= LARGEST_REWARD))  # written so that NaN is refused too
    if wrong.any() or array.ndim > 2:
        place = list(map(int, np.argwhere(wrong)[0])) if wrong.any() else ""
        must = "must be positive and" if least > 0 else "must be"
        what = f"{name}{place or ''} = {array[wrong][0]}" if wrong.any() else f"{name}"
        raise InvalidInput(
            f"{what}: {must} at most {LARGEST_REWARD:g}, a number or an array [states, actions]"
        )
    return _frozen(array)


def _frozen(array: Floats) -> Floats:
    own = np.array(array, np.float64)
    own.flags.writeable = False
    return own


def _short(array: Floats) -> str:
    first = array.ravel()[0]
    return f"{first:g}" if (array == first).all() else f"{list(array.shape)} numbers"


KINDS: dict[str, Any] = {"normal": NormalRewards, "Bernoulli": BernoulliRewards}
"""The kinds of unknown rewards by their names in files."""
