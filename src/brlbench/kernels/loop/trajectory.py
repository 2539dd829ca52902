"""The trajectory loop, written once and compiled for each agent.

A compiled agent is a NamedTuple of arrays with a generator `rng`, and three functions on it.
`register` names them; Numba picks them by the NamedTuple's type and compiles a copy of the loop for
it (see `kernels.dispatch`).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..arrays import copy_vector
from ..dispatch import by_type, provide
from ..jit import kernel
from ..types import Floats, Integers, Words
from . import environment
from .clock import cpu_time, wall_time
from .environment import NO_EPISODE, Environment, Tables


@by_type
def reset(agent: Any, x: int) -> None:
    """Back to the prior: a new, unknown MDP begins in x."""


@by_type
def reset_known(agent: Any, env: Environment, x: int) -> None:
    """Back to the prior: a new MDP begins in x. Agents that ask for it are shown the MDP."""


def _reset_unknown(agent: Any, env: Environment, x: int) -> None:
    reset(agent, x)


@by_type
def act(agent: Any, x: int) -> int:  # type: ignore[empty-body]
    """Choose an action in x."""


@by_type
def observe(agent: Any, x: int, u: int, y: int, r: float) -> None:
    """Learn from a transition."""


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "reset": reset,
    "reset_known": reset_known,
    "act": act,
    "observe": observe,
}


def register(
    agent: type,
    *,
    act: Callable[[Any, int], int],
    observe: Callable[[Any, int, int, int, float], None],
    reset: Callable[[Any, int], None] | None = None,
    reset_known: Callable[[Any, Environment, int], None] | None = None,
) -> None:
    """Make a NamedTuple an agent that the loop can play.

    The functions' arguments must have the same names as those above. An agent that is told the MDP
    has `reset_known` instead of `reset`.
    """
    reset_known = reset_known or _reset_unknown
    forms = {"reset": reset, "reset_known": reset_known, "act": act, "observe": observe}
    provide(agent, {_FUNCTIONS[name]: form for name, form in forms.items() if form})


class Record(NamedTuple):
    """States, actions, rewards and times of n trajectories of T decisions."""

    states: Integers  # [n, T + 1]; after the last decision of an episode: the next start state
    actions: Integers  # [n, T]
    rewards: Floats  # [n, T]
    nanoseconds: Integers  # [n, T]; per decision: act and observe; the first includes reset
    cpu_nanoseconds: Integers  # [n]; per trajectory; `play` includes the environment's
    noise: Floats  # [n, F]; luck of the steps, by baseline: see `kernels.luck`
    start_values: Floats  # [n, F]; luck of the MDP and the start; F = 0: not measured

    @classmethod
    def empty(cls, trajectories: int, horizon: int, baselines: int) -> "Record":
        """A record to be filled."""
        return cls(
            states=np.zeros((trajectories, horizon + 1), np.int64),
            actions=np.zeros((trajectories, horizon), np.int64),
            rewards=np.zeros((trajectories, horizon)),
            nanoseconds=np.zeros((trajectories, horizon), np.int64),
            cpu_nanoseconds=np.zeros(trajectories, np.int64),
            noise=np.zeros((trajectories, baselines)),
            start_values=np.zeros((trajectories, baselines)),
        )


# Phases that `play` can play, as bits. LLVM optimises the loop better for bits than for a number
# that is ALL or one phase: it does not see that all conditions hold at once, and copies nothing.
RESET, ACT, STEP, OBSERVE = 1, 2, 4, 8
ALL = RESET | ACT | STEP | OBSERVE


@kernel
def play(
    agent: Any,
    env: Environment,
    tables: Tables,
    mdps: Integers,  # [n]; which of the tables' MDPs to play
    seeds: Words,  # [n, 4]; for the agent
    noise: Words,  # [n]; keys of the environment's noise
    phases: int,  # ALL or one
    record: Record,
) -> None:
    """Play trajectories. The environment's own step is not timed, nor are start states.

    For callers that play step by step, a single phase of the record's only decision is played; its
    state, action, next state and reward are read from the record. One loop for both is compiled
    once.
    """
    for i in range(len(mdps)):
        if phases & STEP:
            environment.enter(env, tables, mdps[i])
            copy_vector(agent.rng, seeds[i])
            record.states[i, 0] = environment.first_state(env, noise[i])
        x = record.states[i, 0]
        left = env.episode
        processor = cpu_time()
        before = wall_time()
        if phases & RESET:
            reset_known(agent, env, x)
        for t in range(record.actions.shape[1]):
            u = act(agent, x) if phases & ACT else record.actions[i, t]
            chosen = wall_time()
            if phases & STEP:
                y, r = environment.step(env, noise[i], x, u)
            else:
                y, r = record.states[i, t + 1], record.rewards[i, t]
            record.actions[i, t] = u
            record.rewards[i, t] = r
            record.states[i, t + 1] = y
            stepped = wall_time()
            if phases & OBSERVE:
                observe(agent, x, u, y, r)
            after = wall_time()
            record.nanoseconds[i, t] = (chosen - before) + (after - stepped)
            before = after
            x = y
            left -= 1
            if left == 0 and t + 1 < record.actions.shape[1]:
                x = environment.start_state(env, noise[i], (t + 1) // env.episode)
                record.states[i, t + 1] = x
                left = env.episode
                before = wall_time()
        record.cpu_nanoseconds[i] = cpu_time() - processor


_NO_MDP = Environment(
    num_actions=0,
    row_start=np.zeros(0, np.int64),
    next_state=np.zeros(0, np.int64),
    probability=np.zeros(0),
    reward=np.zeros(0),
    deviation=np.zeros(0),
    start=np.zeros(0),
    visits=np.zeros(0, np.int64),
    is_binary=False,
    episode=NO_EPISODE,
)
_NO_ROWS = np.zeros((0, 0))
_NO_ROWS.setflags(write=False)  # as those of experiments: another type is compiled anew
_NO_TABLES = Tables(probability=_NO_ROWS, reward=_NO_ROWS, deviation=_NO_ROWS, start=_NO_ROWS)
_ONE_MDP = np.zeros(1, np.int64)
_NO_SEED = np.zeros((1, 4), np.uint64)
_NO_NOISE = np.zeros(1, np.uint64)


def _play_phase(
    phase: int, agent: Any, x: int, u: int, y: int, r: float, env: Environment = _NO_MDP
) -> Record:
    """Play one phase of a decision; return its record."""
    record = Record.empty(1, 1, 0)
    record.states[0] = x, y
    record.actions[0], record.rewards[0] = u, r
    play(agent, env, _NO_TABLES, _ONE_MDP, _NO_SEED, _NO_NOISE, phase, record)
    return record


def reset_once(agent: Any, x: int, env: Environment = _NO_MDP) -> None:
    """`reset_known`, for callers in Python; agents that are not shown the MDP need no `env`."""
    _play_phase(RESET, agent, x, 0, 0, 0.0, env)


def act_once(agent: Any, x: int) -> int:
    """`act`, for callers in Python."""
    return int(_play_phase(ACT, agent, x, 0, 0, 0.0).actions[0, 0])


def observe_once(agent: Any, x: int, u: int, y: int, r: float) -> None:
    """`observe`, for callers in Python."""
    _play_phase(OBSERVE, agent, x, u, y, r)
