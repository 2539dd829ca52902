"""Any agent, mixed with random actions.

With probability epsilon the action is drawn uniformly. Otherwise the base, another built-in agent,
chooses it. The base learns from every transition, also from those of random actions.

The base's parameters are given beside its name: `base = "bamcp"`, `simulations = 100`. One with the
name of a parameter of `random-mix` itself has `base_` before it: the base epsilon-greedy has
`base_epsilon`.

The base's random stream is the one that it would have alone. Random actions come from another, so
that with epsilon = 0 the base's decisions are unchanged.
"""

from collections.abc import Mapping
from copy import copy as shallow_copy
from dataclasses import dataclass
from typing import Any, Self

from ...errors import InvalidInput, did_you_mean, short
from ...values import PROBABILITY, text
from ..base import Arrays, CompiledAgent, Family, Generator, OnProgress, Task
from ..parameters import Declaration, declarations, described, parameter

_OWN = ("base", "epsilon")
_BASE = "base_"  # before parameters of the base that have one of these names


def _bases() -> dict[str, type[CompiledAgent]]:
    """The agents that can be mixed, by name."""
    from ..registry import AGENTS  # which lists this agent, too

    return {name: agent for name, agent in AGENTS.items() if agent is not RandomMix}


def _check_base(name: str) -> None:
    known = _bases()
    if name == RandomMix.name:
        raise InvalidInput(f"random-mix: base = {name!r}: must be another agent than random-mix")
    if name not in known:
        raise InvalidInput(
            f"random-mix: base = {short(name)}{did_you_mean(name, known)}: must be one of "
            f"{', '.join(known)}"
        )


def _outer(name: str) -> str:
    """The name of a parameter of the base here."""
    return f"{_BASE}{name}" if name in _OWN else name


@dataclass(init=False, repr=False, eq=False)
class RandomMix(CompiledAgent):
    """Plays as another agent, or with probability epsilon takes a random action."""

    name = "random-mix"
    episodes = "As its base, if that can play them."
    base: str = parameter(
        "psrl",
        "the agent that plays otherwise; its parameters are given beside this one",
        text("the name of a built-in agent", _check_base),
    )
    epsilon: float = parameter(0.1, "probability of a random action", PROBABILITY)

    def __init__(self, base: str = "psrl", epsilon: float = 0.1, **parameters: Any) -> None:
        self.base, self.epsilon = base, epsilon
        self.__post_init__()
        kind = _bases()[self.base]
        names = {_outer(name): name for name in declarations(kind)}
        inner = {names.get(outer, outer): value for outer, value in parameters.items()}
        try:
            self.inner: Any = kind(**inner)
        except InvalidInput as error:
            raise type(error)(f"random-mix: {error}") from None

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in self.described().items())
        return f"RandomMix({listed})"

    @classmethod
    def declarations_with(cls, parameters: Mapping[str, Any]) -> dict[str, Declaration]:
        """Its own parameters and those of the base; InvalidInput if there is no such base."""
        base = parameters.get("base", cls.base)
        if not isinstance(base, str):
            return declarations(cls)
        _check_base(base)
        inner = declarations(_bases()[base])
        return declarations(cls) | {_outer(name): each for name, each in inner.items()}

    def described(self) -> dict[str, Any]:
        """Its own parameters and those of the base."""
        inner = self.inner.described()
        return described(self) | {_outer(name): value for name, value in inner.items()}

    def needed(self) -> frozenset[str]:
        """The needs of the base."""
        needed: frozenset[str] = self.inner.needed()
        return needed

    def check_task(self, task: Task) -> None:
        """Raise if the base can't play in episodes."""
        self.inner.check_task(task)

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Train the base."""
        self.inner.train(prior, task, rng)
        return self._mixed(prior.num_actions)

    def _mixed(self, num_actions: int) -> Any:
        from . import kernel as kernels

        return self.make_arrays(kernels.RandomMix, base=self.inner.arrays, num_actions=num_actions)

    def start(self, state: int, rng: Generator) -> None:
        """A new, unknown MDP begins; a base that must be told the MDP refuses."""
        if hasattr(self.inner, "start_known"):
            self.inner.start(state, rng)
        super().start(state, rng)

    @property
    def start_known(self) -> Any:
        """For a base that is told the MDP: a new one begins, and here it is."""
        _ = self.inner.start_known  # AttributeError if the base is not told
        return self._start_known

    @property
    def save(self) -> Any:
        """For a base that can save itself: return what it saves."""
        save = self.inner.save
        return lambda: {"base": save(), "num_actions": self.arrays.num_actions}

    @property
    def load(self) -> Any:
        """For a base that can save itself: take over what an agent like this one saved."""
        load_inner = self.inner.load

        def load(saved: dict[str, Any]) -> None:
            load_inner(saved["base"])
            self.arrays = self._mixed(saved["num_actions"])

        return load

    def with_progress(self, on_progress: OnProgress | None) -> Self:
        """A copy that reports how far the base's training is, if the base can tell."""
        if not hasattr(self.inner, "with_progress"):
            return self
        other = shallow_copy(self)
        other.inner = self.inner.with_progress(on_progress)
        return other

    def trained_for(self) -> tuple[Family, Task] | None:
        """The prior and the task of the base's search."""
        prior_and_task: tuple[Family, Task] | None = self.inner.trained_for()
        return prior_and_task

    def code(self) -> object:
        """This class and the base's code."""
        return type(self), self.inner.code()

    def tiny(self, prior: Family, task: Task) -> Family:
        """The base's tiny problem."""
        tiny: Family = self.inner.tiny(prior, task)
        return tiny

    def small(self) -> Self:
        """The same with a quick base."""
        other = shallow_copy(self)
        other.inner = self.inner.small()
        return other
