"""Distributions of users: any object with `num_states`, `num_actions` and `sample(rng)`.

Draws of the object are all that is known of it. Its digest is of fixed draws, so it is the same in
every process. An object that also has `belief()` is a prior for agents in Python. For compiled
agents, and where it has no belief of its own, the prior is a set of hypotheses: `particles` draws,
all equally likely.
"""

import copy
from collections.abc import Sequence
from functools import cached_property
from time import perf_counter, process_time
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import counted
from ..errors import InvalidInput, reason, short
from ..mdps.batch import MDPs
from ..mdps.mdp import MDP
from ..mdps.sparse import Integers
from ..memory import check_memory
from ..streams import generator
from ..values import COUNT, check
from .base import Belief, Distribution, Family
from .hypotheses import Hypotheses

PARTICLES = 1000
"""Draws that stand for a prior of a user, by default."""
_BYTES_PER_NUMBER = 50  # of a particle, about, while they are gathered
PROBES = 32
"""Draws that the digest is of."""


class OwnDistribution(Family):
    """A user's distribution. Immutable."""

    kind = "priors of your own"

    source: Any
    """The user's object."""
    particles: int
    """Draws that stand for the prior where an exact belief is missing."""
    path: str
    """Where the object comes from, as `"module:name"`; empty if it was given as an object."""

    def __init__(
        self,
        source: Distribution,
        particles: int = PARTICLES,
        name: str = "",
        path: str = "",
    ) -> None:
        """Check the object and some draws of it.

        Args:
            source: an object with `num_states`, `num_actions` and `sample(rng) -> brlbench.MDP`.
            particles: the draws that stand for it as the prior of compiled agents.
            name: a short name for tables and files; by default the object's own `name`, or that of
                its class.
            path: where the object comes from, as `"module:name"`.
        """
        self.particles = check(particles, "particles", COUNT)
        self._kind = type(source).__name__
        for missing in (each for each in _NEEDED if not hasattr(source, each)):
            raise InvalidInput(
                f"{self._kind} has no {missing}: a distribution has num_states, num_actions and "
                "sample(rng), which returns a brlbench.MDP"
            )
        self.num_states, self.num_actions = (
            check(getattr(source, size), f"{self._kind}.{size}", COUNT) for size in _NEEDED[:2]
        )
        self.source, self.path = source, path
        self.name = name or str(getattr(source, "name", "") or self._kind)
        self.description = str(getattr(source, "description", ""))
        self.start = self.probes.start.mean(axis=0)
        if list(self.probes.contents()) != list(self._draw_probes().contents()):
            raise InvalidInput(
                f"{self._kind}.sample draws other MDPs from an equal generator: draw from the "
                "generator that it is given, and from nothing else"
            )

    def __repr__(self) -> str:
        sizes = f"{counted(self.num_states, 'state')}, {counted(self.num_actions, 'action')}"
        return f"OwnDistribution({self.name}: {sizes})"

    @property
    def answers(self) -> frozenset[str]:
        """The answers of fixed draws, as hypotheses."""
        return Hypotheses(self.probes).answers

    @classmethod
    def tiny(cls) -> Hypotheses:
        """Hypotheses, which the prior of compiled agents is."""
        return Hypotheses.tiny()

    @property
    def has_belief(self) -> bool:
        """Whether the object has a belief of its own."""
        return hasattr(self.source, "belief")

    def settings(self) -> dict[str, Any]:
        """The settings of it as a prior in results, besides its name and digest."""
        return {"particles": self.particles, "own_belief": self.has_belief}

    def _draw_probes(self) -> MDPs:
        return self.draw([generator("own distribution", i) for i in range(PROBES)])

    @cached_property
    def probes(self) -> MDPs:
        """Fixed draws."""
        return self._draw_probes()

    def content(self) -> bytes:
        """Fixed draws, and the number of particles, as bytes."""
        sizes = np.array([self.num_states, self.num_actions, self.particles], np.int64)
        return b"own" + sizes.tobytes() + b"".join(self.probes.contents())

    @cached_property
    def frame(self) -> MDPs:
        """The places of fixed draws. Others may have more; nothing else need be shared."""
        nothing = np.zeros((0, len(self.probes.places.values)))
        return MDPs(self.probes.places, nothing, nothing, nothing, np.zeros((0, self.num_states)))

    @property
    def examples(self) -> MDPs:
        """Fixed draws."""
        return self.probes

    @property
    def max_reward(self) -> float:
        """The largest absolute mean reward in fixed draws."""
        return float(np.abs(np.where(self.probes.probability > 0, self.probes.reward, 0.0)).max())

    def mean(self) -> MDP:
        """The mean of the particles."""
        return self.hypotheses.mean()

    def draw(self, rngs: Sequence[np.random.Generator]) -> MDPs:
        """Draw MDPs, each with a generator of its own."""
        return MDPs.gather([self.sample(rng) for rng in rngs])

    def sample(self, rng: np.random.Generator) -> MDP:
        """Draw one MDP."""
        try:
            mdp = self.source.sample(rng)
        except Exception as error:  # a user's code can raise anything
            raise InvalidInput(f"{self._kind}.sample failed: {reason(error)}") from error
        check_mdp(mdp, self, f"{self._kind}.sample")
        return mdp  # type: ignore[no-any-return]

    @property
    def hypotheses(self) -> Hypotheses:
        """The particles: fixed draws, all equally likely."""
        return self._particles[0]

    @property
    def told_seconds(self) -> tuple[float, float]:
        """How long drawing the particles took."""
        return self._particles[1]

    @cached_property
    def _particles(self) -> tuple[Hypotheses, tuple[float, float]]:
        wall, processor = perf_counter(), process_time()
        needed = self.particles * len(self.frame.places.values) * _BYTES_PER_NUMBER
        check_memory(needed, f"particles = {self.particles} of {self.name}", "use fewer")
        rngs = [generator("particle", self.digest, i) for i in range(self.particles)]
        drawn = Hypotheses(self.draw(rngs), name=self.name, description=self.description)
        return drawn, (perf_counter() - wall, process_time() - processor)

    def for_kernels(self) -> Hypotheses:
        """The prior that compiled agents are told: the particles."""
        return self.hypotheses

    def belief(self) -> Belief:
        """The belief of the object, or else of the particles."""
        if not self.has_belief:
            return self.hypotheses.belief()
        try:
            belief: Belief = self.source.belief()
        except Exception as error:  # a user's code can raise anything
            raise InvalidInput(f"{self._kind}.belief failed: {reason(error)}") from error
        for missing in (each for each in _BELIEF if not hasattr(belief, each)):
            raise InvalidInput(
                f"{self._kind}.belief() returns {type(belief).__name__}, which has no {missing}: a "
                f"belief has {', '.join(_BELIEF)}"
            )
        return belief if hasattr(belief, "begin") else _WithoutStarts(belief)

    def posterior(self, transitions: ArrayLike, start: int | None = None) -> Family:
        """The particles after observed transitions, and after the start state if it is given."""
        return self.hypotheses.posterior(transitions, start)

    def renumbered(self, order: Integers) -> Family:
        """Refused: only the object itself knows its states."""
        raise InvalidInput(f"renumbered: {self.name} is your own distribution: renumber it there")

    def with_particles(self, particles: int) -> Self:
        """The same distribution with another number of particles."""
        other = copy.copy(self)
        other.particles = check(particles, "particles", COUNT)
        for name in ("digest", "_particles"):
            vars(other).pop(name, None)
        return other


class _WithoutStarts:
    """A user's belief, to which start states tell nothing."""

    def __init__(self, belief: Any) -> None:
        self._belief = belief

    def begin(self, state: int) -> None:
        """Learn nothing from a start state."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copies look for such before there is a belief
            raise AttributeError(name)
        return getattr(vars(self)["_belief"], name)


_NEEDED = ("num_states", "num_actions", "sample")
_BELIEF = ("observe", "sample", "mean", "predictive", "mark", "undo")


def check_mdp(mdp: Any, sizes: Distribution, what: str) -> None:
    """Raise unless a user's method has returned an MDP of the right size."""
    if not isinstance(mdp, MDP):
        raise InvalidInput(f"{what} returned {short(mdp)}: must return a brlbench.MDP")
    if (mdp.num_states, mdp.num_actions) != (sizes.num_states, sizes.num_actions):
        raise InvalidInput(
            f"{what} returned an MDP of {counted(mdp.num_states, 'state')} and "
            f"{counted(mdp.num_actions, 'action')}: "
            f"must have {sizes.num_states} and {sizes.num_actions}, as the distribution says"
        )


def has_own_law(distribution: Family) -> bool:
    """Whether the class of a distribution changes the law of the built-in family it is made from.

    Then it is a user's: the arrays of the family do not describe it.
    """
    kind = type(distribution)
    family = next(each for each in kind.__mro__ if each.__module__.startswith(__package__ or ""))
    return any(
        callable(value) and not name.startswith("__") and getattr(kind, name) is not value
        for base in family.__mro__[:-1]
        for name, value in vars(base).items()
        if getattr(family, name) is value
    )
