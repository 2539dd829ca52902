"""The trajectory loop, written once and compiled for each agent.

A compiled agent is a NamedTuple of arrays with a generator `rng`, and three functions on it.
`register` tells them to the loop; Numba then picks them by the NamedTuple's type and compiles a
copy of the loop for it. Machine code made this way is kept on disk, which would not be so if the
functions were passed as arguments.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from numba.extending import overload

from ..arrays import copy_vector
from ..jit import kernel
from ..types import Floats, Integers, Words
from . import environment
from .clock import cpu_time, wall_time
from .environment import Environment


class _Hooks(NamedTuple):
    start: Callable[..., None] | None
    start_known: Callable[..., None] | None
    act: Callable[..., int]
    observe: Callable[..., None]


_HOOKS: dict[type, _Hooks] = {}

# A call would write the descriptions of all arrays to the stack: up to half of a short decision.
_INLINED = {"forceinline": True}


def register(
    agent: type,
    *,
    act: Callable[[Any, int], int],
    observe: Callable[[Any, int, int, int, float], None],
    start: Callable[[Any, int], None] | None = None,
    start_known: Callable[[Any, Environment, int], None] | None = None,
) -> None:
    """Make a NamedTuple an agent that the loop can play.

    The arguments' names must be those of the functions below. An agent has either `start`, or, if
    it is one that is told the MDP, `start_known`.
    """
    _HOOKS[agent] = _Hooks(start, start_known, act, observe)


def start(agent: Any, x: int) -> None:
    """A new, unknown MDP begins in x."""
    _call(agent, "start", x)


def start_known(agent: Any, env: Environment, x: int) -> None:
    """A new MDP begins in x; only agents that ask for it are shown the MDP."""
    if _HOOKS[type(agent)].start_known is None:
        start(agent, x)
    else:
        _call(agent, "start_known", env, x)


def act(agent: Any, x: int) -> int:
    """Choose an action in x."""
    return cast(int, _call(agent, "act", x))


def observe(agent: Any, x: int, u: int, y: int, r: float) -> None:
    """Learn from a transition."""
    _call(agent, "observe", x, u, y, r)


def _call(agent: Any, hook: str, *arguments: Any) -> Any:
    return getattr(_HOOKS[type(agent)], hook)(agent, *arguments)


def _hooks(agent: Any) -> _Hooks | None:
    return _HOOKS.get(getattr(agent, "instance_class", type(None)))


@overload(start, strict=False, jit_options=_INLINED)
def _compiled_start(agent: Any, x: Any) -> Any:
    hooks = _hooks(agent)
    return hooks and hooks.start


@overload(start_known, strict=False, jit_options=_INLINED)
def _compiled_start_known(agent: Any, env: Any, x: Any) -> Any:
    hooks = _hooks(agent)
    return hooks and (hooks.start_known or (lambda agent, env, x: start(agent, x)))


@overload(act, strict=False, jit_options=_INLINED)
def _compiled_act(agent: Any, x: Any) -> Any:
    hooks = _hooks(agent)
    return hooks and hooks.act


@overload(observe, strict=False, jit_options=_INLINED)
def _compiled_observe(agent: Any, x: Any, u: Any, y: Any, r: Any) -> Any:
    hooks = _hooks(agent)
    return hooks and hooks.observe


class Record(NamedTuple):
    """What happened in n trajectories of T decisions."""

    states: Integers  # [n, T + 1]
    actions: Integers  # [n, T]
    rewards: Floats  # [n, T]
    nanoseconds: Integers  # [n, T]; of each decision: act and observe, the first with start
    cpu_nanoseconds: Integers  # [n]; of the whole trajectory, environment included

    @classmethod
    def empty(cls, trajectories: int, horizon: int) -> "Record":
        """A record to be filled."""
        return cls(
            np.zeros((trajectories, horizon + 1), np.int64),
            np.zeros((trajectories, horizon), np.int64),
            np.zeros((trajectories, horizon)),
            np.zeros((trajectories, horizon), np.int64),
            np.zeros(trajectories, np.int64),
        )


@kernel
def play(
    agent: Any,
    env: Environment,
    probabilities: Floats,  # [M, E]
    mdps: Integers,  # [n]; which of the M to play
    seeds: Words,  # [n, 4]; for the agent
    noise: Words,  # [n]; keys of the environment's noise
    record: Record,
) -> None:
    """Play whole trajectories; the time of the environment's own step is left out."""
    for i in range(len(mdps)):
        copy_vector(env.probability, probabilities[mdps[i]])
        copy_vector(agent.rng, seeds[i])
        x = environment.reset(env, noise[i])
        record.states[i, 0] = x
        processor = cpu_time()
        before = wall_time()
        start_known(agent, env, x)
        for t in range(record.actions.shape[1]):
            u = act(agent, x)
            chosen = wall_time()
            y, r = environment.step(env, noise[i], x, u)
            record.actions[i, t] = u
            record.rewards[i, t] = r
            record.states[i, t + 1] = y
            stepped = wall_time()
            observe(agent, x, u, y, r)
            after = wall_time()
            record.nanoseconds[i, t] = (chosen - before) + (after - stepped)
            before = after
            x = y
        record.cpu_nanoseconds[i] = cpu_time() - processor


@kernel
def start_once(agent: Any, x: int) -> None:
    """`start`, for callers in Python."""
    start(agent, x)


@kernel
def start_known_once(agent: Any, env: Environment, x: int) -> None:
    """`start_known`, for callers in Python."""
    start_known(agent, env, x)


@kernel
def act_once(agent: Any, x: int) -> int:
    """`act`, for callers in Python."""
    return act(agent, x)


@kernel
def observe_once(agent: Any, x: int, u: int, y: int, r: float) -> None:
    """`observe`, for callers in Python."""
    observe(agent, x, u, y, r)
