"""Distributions, priors and beliefs: their protocols, and the base of the families of priors."""

import copy
import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from ..mdps.batch import MDPs
from ..mdps.mdp import MDP, Rewards
from ..mdps.sparse import Floats, Integers


class Distribution(Protocol):
    """Gives MDPs. A user's own needs no more than this."""

    num_states: int
    num_actions: int

    def sample(self, rng: np.random.Generator) -> MDP:
        """Draw one MDP."""


class Outcome(NamedTuple):
    """One of the things that can follow an action."""

    probability: float
    next_state: int
    reward: float  # its mean, where it is Gaussian


class Belief(Protocol):
    """An agent's knowledge at a moment: it learns from start states and transitions.

    Optional: `counts()`, the Dirichlet parameters [S, A, S] where there are such. A belief of your
    own without `begin` learns nothing from start states.
    """

    def begin(self, state: int) -> None:
        """Learn from a start state."""

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Learn from a transition."""

    def sample(self, rng: np.random.Generator) -> MDP:
        """Draw an MDP."""

    def mean(self) -> MDP:
        """The MDP of expected probabilities and rewards."""

    def predictive(self, state: int, action: int) -> tuple[Floats, float]:
        """The probabilities [S] of the next state, and the expected reward."""

    def mark(self) -> Any:
        """A mark of what is known now, for `undo`."""

    def undo(self, mark: Any) -> None:
        """Forget all that was observed since a mark; exact."""


class Prior(Distribution, Protocol):
    """A distribution that also says what is believed after transitions."""

    def belief(self) -> Belief:
        """The belief before the first transition; each call returns a new object."""


NEEDS = {
    "draws": "MDPs drawn from the prior",
    "sample": "MDPs drawn from what is known",
    "mean": "the mean MDP",
    "counts": "counts, or effective ones",
    "predictive": "all that can follow an action, and what it teaches",
    "outcomes": "outcomes that can be counted",
    "bandit": "one state with unknown binary rewards",
}
"""Kinds of needs that agents can have of a prior and its beliefs."""


class Family:
    """The base of the built-in families of priors. Immutable."""

    kind: ClassVar[str]
    """The family's name, in the plural."""
    num_states: int
    """The number of states."""
    num_actions: int
    """The number of actions."""
    start: Floats
    """The expected probabilities [S] of the start states."""
    name: str
    """A short name, for tables and files."""
    description: str
    """A longer name."""

    @property
    def answers(self) -> frozenset[str]:
        """The needs that it meets, among the keys of `NEEDS`."""
        return frozenset(NEEDS) - {"bandit"}

    @classmethod
    def tiny(cls) -> "Family":
        """A tiny prior of the family, for which code is compiled as for all of them."""
        raise NotImplementedError

    def tiny_alike(self) -> "Family":
        """A tiny prior of the family with rewards of the same kind."""
        return self.tiny()

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def content(self) -> bytes:
        """All that the law depends on, as bytes; names do not count."""
        raise NotImplementedError

    @cached_property
    def digest(self) -> str:
        """A SHA-256 digest of the content."""
        return hashlib.sha256(self.content()).hexdigest()

    @cached_property
    def frame(self) -> MDPs:
        """The parts that all drawn MDPs share: places, and rewards and start unless they differ."""
        return self.draw([])

    @property
    def examples(self) -> MDPs:
        """MDPs that show what rewards there are, or just what all MDPs share."""
        return self.frame

    @property
    def num_transitions(self) -> int:
        """The number of transitions that are possible in at least one MDP."""
        return len(self.frame.places.values)

    @property
    def known_rewards(self) -> Rewards | None:
        """The rewards if all MDPs have the same, which agents are told; else None."""
        return self.frame.rewards

    @property
    def max_reward(self) -> float:
        """The largest absolute mean reward of a possible transition."""
        raise NotImplementedError

    def mean(self) -> MDP:
        """The MDP of expected probabilities and rewards."""
        raise NotImplementedError

    def draw(self, rngs: Sequence[np.random.Generator]) -> MDPs:
        """Draw MDPs, each with a generator of its own."""
        raise NotImplementedError

    def sample(self, rng: np.random.Generator) -> MDP:
        """Draw one MDP."""
        return self.draw([rng]).mdp(0)

    def posterior(self, transitions: ArrayLike) -> "Family":
        """The distribution after observed transitions."""
        raise NotImplementedError

    def belief(self) -> Belief:
        """The belief before the first transition; each call returns a new object."""
        raise NotImplementedError

    def renumbered(self, order: Integers) -> "Family":
        """The same distribution where state x has become state `order[x]`."""
        raise NotImplementedError

    def as_prior(self) -> "Family":
        """The prior that agents are told: here, the distribution itself."""
        return self

    def for_kernels(self) -> "Family":
        """The prior that compiled agents are told: here, the distribution itself."""
        return self

    @property
    def told_seconds(self) -> tuple[float, float]:
        """Time and processor time that making the prior of compiled agents has taken."""
        return 0.0, 0.0

    def named(self, name: str) -> Self:
        """The same distribution under another name."""
        renamed = copy.copy(self)
        renamed.name = name
        return renamed
