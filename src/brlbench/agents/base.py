"""The protocol of agents, and the base class of the built-in ones."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, Self, TypeGuard

import numpy as np
from numpy.random import Generator as Generator

from ..beliefs.base import NEEDS
from ..beliefs.base import Family as Family
from ..beliefs.flat import FlatDirichlet as FlatDirichlet
from ..errors import Pointless
from ..mdps.mdp import MDP
from ..mdps.task import EPISODE, STEP
from ..mdps.task import Task as Task
from .parameters import Declaration, check_parameters, declarations, described
from .parameters import parameter as parameter
from .parameters import replan_parameter as replan_parameter

Arrays = Any
"""The state of a compiled agent: a NamedTuple registered with `kernels.loop.trajectory`."""


PLANS = "Plans exactly to the end of the episode: at each step, or once per episode (`replan`)."
"""The sentence on episodes of agents that act by a solved model."""


def has_known_rows(prior: Family) -> TypeGuard[FlatDirichlet]:
    """Whether a prior is flat, and its rewards are known."""
    return isinstance(prior, FlatDirichlet) and prior.reward_prior is None


class TrainingStopped(Exception):
    """Raised by a progress callback to end a training; the agent is not to blame."""


OnProgress = Callable[[int, int], None]
"""Called with the number of trajectories played so far, and the number there will be."""


class Agent(Protocol):
    """The methods that a user writes.

    Optional: `save() -> dict` and `load(dict)`, a `name`, a dict `parameters` that results show,
    `start_known(mdp, state, rng)` instead of `start` for agents that are told the MDP, and
    `with_progress(on_progress)`, which returns an agent whose training reports its progress.

    The prior and the task are the agent's own copies: changing them affects no other agent.
    """

    def train(self, prior: Any, task: Task, rng: Generator) -> None:
        """The offline phase: learn from the prior, of whatever family. Timed."""

    def start(self, state: int, rng: Generator) -> None:
        """A new, unknown MDP begins: forget the last one. Timed, with the first decision."""

    def act(self, state: int) -> int:
        """Choose an action. Timed."""

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Learn from a transition. Timed, with the same decision."""


def is_told(agent: Agent) -> bool:
    """True if an agent is told the MDP: it is a reference to compare with, never a competitor."""
    return hasattr(agent, "start_known")


def learns_offline(agent: Agent) -> bool:
    """True if training is more than preparation: its outcome is worth saving."""
    return hasattr(agent, "save")


class CompiledAgent:
    """The base of the built-in agents: dataclasses whose fields are the parameters.

    A subclass says in `prepare` which arrays it works on: a NamedTuple that is registered with
    `kernels.loop.trajectory`, with the parameters among its fields. The step-by-step form below
    and the compiled loop run the same functions on them.

    The first line of a subclass's docstring says what the agent does, in tables of agents.
    """

    name: ClassVar[str]
    reference: ClassVar[str] = ""  # authors and year, as "Strens, 2000"
    anytime: ClassVar[bool] = False  # whether it stops early to keep a deadline
    quick: ClassVar[Mapping[str, Any]] = {}  # parameters with which it trains and plays at once
    example: ClassVar[str] = "GC"  # a problem that it can play
    needs: ClassVar[tuple[str, ...]] = ()  # of the prior, among the keys of `beliefs.base.NEEDS`
    episodes: ClassVar[str] = ""  # a sentence on what it does in them; empty: it can't play them
    arrays: Arrays = None

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    @classmethod
    def declarations_with(cls, parameters: Mapping[str, Any]) -> dict[str, Declaration]:
        """All parameters that an agent with these parameters may have, by name."""
        return declarations(cls)

    def described(self) -> dict[str, Any]:
        """The parameters that results show, and that make the same agent again."""
        return described(self)

    def needed(self) -> frozenset[str]:
        """This agent's needs of the prior, with its parameters."""
        return frozenset(self.needs)

    def check_prior(self, prior: Family) -> None:
        """Raise if the agent can't play under a prior; the message names those that can."""
        missing = self.needed() - prior.answers
        if missing:
            from .registry import AGENTS

            able = [
                name if name != self.name else f"{name} with its default parameters"
                for name, kind in AGENTS.items()
                if kind().needed() <= prior.answers
            ]
            raise Pointless(
                f"{self.name} needs {NEEDS[min(missing)]}, which {prior.kind} like this one do "
                f"not have: use one of {', '.join(able)}"
            )

    def check_task(self, task: Task) -> None:
        """Raise if the agent can't play in episodes; the message names those that can."""
        if task.episode is not None and not self.episodes:
            from .registry import AGENTS

            able = ", ".join(name for name, kind in AGENTS.items() if kind.episodes)
            raise Pointless(f"{self.name} has no form for episodes: use one of {able}")
        if task.episode is None and getattr(self, "replan", STEP) != STEP:
            raise Pointless(f'{self.name}: replan = "{EPISODE}": the experiment has no episodes')

    def prepare(self, prior: Any, task: Task, rng: Generator) -> Arrays:
        """Train: return the arrays of the trained agent, under a prior that has what it needs."""
        raise NotImplementedError

    def make_arrays(self, kind: Any, **fields: Any) -> Arrays:
        """A NamedTuple of these fields, a generator `rng`, and the parameters that it has."""
        own = {name: getattr(self, name) for name in declarations(self) if name in kind._fields}
        return kind(**{"rng": new_rng(), **own, **fields})

    def train(self, prior: Family, task: Task, rng: Generator) -> None:
        """The offline phase."""
        self.check_prior(prior)
        self.check_task(task)
        self.arrays = self.prepare(prior, task, rng)

    def start(self, state: int, rng: Generator) -> None:
        """A new, unknown MDP begins."""
        from ..kernels.loop import trajectory

        self._seed(rng)
        trajectory.reset_once(self.arrays, state)

    def act(self, state: int) -> int:
        """Choose an action."""
        from ..kernels.loop import trajectory

        return trajectory.act_once(self.arrays, state)

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Learn from a transition."""
        from ..kernels.loop import trajectory

        trajectory.observe_once(self.arrays, state, action, next_state, reward)

    def _start_known(self, mdp: MDP, state: int, rng: Generator) -> None:
        """A new MDP begins, which the agent is told: the method `start_known` of such agents."""
        from ..builders.model import build_environment
        from ..kernels.loop import trajectory

        self._seed(rng)
        trajectory.reset_once(self.arrays, state, build_environment(mdp))

    def _seed(self, rng: Generator) -> None:
        self.arrays.rng[:] = rng.integers(0, 2**64, size=4, dtype=np.uint64)

    def trained_for(self) -> tuple[Family, Task] | None:
        """The prior and the task that a loaded agent was trained for; None if it does not know."""
        return None

    def code(self) -> object:
        """The key under which compiled code is shared: the class, unless overridden."""
        return type(self)

    def tiny(self, prior: Family, task: Task) -> Family:
        """A tiny prior on which the same compiled code runs as on a prior."""
        return prior.tiny_alike()

    def small(self) -> Self:
        """A quick agent that runs the same compiled code as this one."""
        return dataclasses.replace(self, **self.quick)  # type: ignore[type-var]


def new_rng() -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """A generator for compiled code, to be seeded at the start of a trajectory."""
    return np.zeros(4, np.uint64)
