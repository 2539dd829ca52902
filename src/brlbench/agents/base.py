"""What an agent is, for users who write one and for the built-in ones."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from ..mdps.dirichlet import FlatDirichlet
from .parameters import Rule, Sweep, check_parameters, defaults, given, rules


@dataclasses.dataclass(frozen=True)
class Task:
    """What an agent is told besides the prior."""

    discount: float
    horizon: int  # decisions in a trajectory
    deadline: float | None = None  # seconds per decision


class Agent(Protocol):
    """What a user writes. Optional: `save() -> dict` and `load(dict)`, and a `name`.

    The prior and the task are the agent's own copies: changing them affects no other agent.
    """

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        """The offline phase: learn from the prior. Timed."""

    def start(self, state: int, rng: np.random.Generator) -> None:
        """A new, unknown MDP begins: forget the last one. Timed, with the first decision."""

    def act(self, state: int) -> int:
        """Choose an action. Timed."""

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Learn from what happened. Timed, with the same decision."""


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
    sweeps: ClassVar[tuple[Sweep, ...]] = ()  # what the figure of its page shows
    benchmark_mdps: ClassVar[int] = 200  # MDPs that the benchmarks play; fewer for slow agents
    arrays: Any = None

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    @classmethod
    def rules_with(cls, parameters: Mapping[str, Any]) -> dict[str, Rule]:
        """The rules of all parameters that an agent with these parameters may have, by name."""
        return rules(cls)

    @classmethod
    def defaults_with(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The defaults of all parameters that an agent with these parameters may have."""
        return defaults(cls)

    def described(self) -> dict[str, Any]:
        """The parameters that results show, and that make the same agent again."""
        return given(self)

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Train: return the arrays of the trained agent."""
        raise NotImplementedError

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        """The offline phase."""
        self.arrays = self.prepare(prior, task, rng)

    def start(self, state: int, rng: np.random.Generator) -> None:
        """A new, unknown MDP begins."""
        from ..kernels.loop import trajectory

        self._seed(rng)
        trajectory.reset_once(self.arrays, state)

    def act(self, state: int) -> int:
        """Choose an action."""
        from ..kernels.loop import trajectory

        return int(trajectory.act_once(self.arrays, state))

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Learn from what happened."""
        from ..kernels.loop import trajectory

        trajectory.observe_once(self.arrays, state, action, next_state, float(reward))

    def _seed(self, rng: np.random.Generator) -> None:
        self.arrays.rng[:] = rng.integers(0, 2**64, size=4, dtype=np.uint64)

    def code(self) -> object:
        """The key under which compiled code is shared: the class, unless overridden."""
        return type(self)

    def small(self) -> Self:
        """A quick agent that runs the same compiled code as this one."""
        return dataclasses.replace(self, **self.quick)  # type: ignore[type-var]


def new_rng() -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """A generator for compiled code, to be seeded at the start of a trajectory."""
    return np.zeros(4, np.uint64)
