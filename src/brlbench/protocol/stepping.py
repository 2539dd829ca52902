"""Agents in Python play step by step, and find nothing of the environment in the frames above.

While an agent runs, the environment's side of the trajectory is a generator that is suspended.
"""

import copy
import operator
from collections.abc import Callable, Generator
from functools import partial

# Bound before any agent's code is imported, which could put other clocks in their place.
from time import perf_counter_ns, process_time_ns, thread_time_ns
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import streams
from ..agents import describe, identity
from ..agents.base import Agent, Task, is_told
from ..beliefs.base import Prior
from ..beliefs.copying import private_copy
from ..errors import InvalidInput, reason, short
from ..hosting import Steps, hidden, hosted
from ..mdps.mdp import MDP
from ..mdps.sparse import Integers
from ..processes import others_nanoseconds
from ..streams import Words
from .experiment import Experiment
from .footprint import Meter, measuring
from .isolation import GlobalNumbers, Visit, isolated
from .tracing import empty_record

if TYPE_CHECKING:  # importing kernels takes long
    from ..kernels.loop.environment import Environment
    from ..kernels.loop.trajectory import Record

REPLAYED = 4  # trajectories of a batch, to measure the environment's time
_COPY_NANOSECONDS = 1_000_000  # of processor time, up to which copying an agent is free


class Others:
    """The processor time of all other threads and of child processes, also between trajectories."""

    def __init__(self) -> None:
        self._counted = others_nanoseconds()

    def nanoseconds(self) -> int:
        """The time since the last call."""
        now = others_nanoseconds()
        since, self._counted = now - self._counted, now
        return max(0, since)


class _Repeat:
    """Takes the actions of a trajectory again, to measure the time of all but its agent."""

    def __init__(self, actions: Integers) -> None:
        self._actions = iter(actions.tolist())

    def train(self, prior: Prior, task: Task, rng: np.random.Generator) -> None: ...

    def start(self, state: int, rng: np.random.Generator) -> None: ...

    def act(self, state: int) -> int:
        return int(next(self._actions))

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None: ...


def keys(agent: Agent, experiment: Experiment, trajectories: range) -> Words:
    """The key of the agent's stream in each trajectory."""
    names = ("play", identity(agent), experiment.seed, experiment.test.digest)
    return streams.keys(names, experiment.numbers_of(trajectories))


def python_steps(
    agent: Agent,
    experiment: Experiment,
    trajectories: range,
    meter: Meter | None,
    others: Others,
    numbers: GlobalNumbers,
) -> "Steps[tuple[Record, int]]":
    """The record, and nanoseconds that a trajectory takes without its agent."""
    from ..builders import model
    from ..kernels.loop import environment

    record = empty_record(experiment, len(trajectories))
    mdps, places = experiment.mdps_of(trajectories)
    env = model.build_environment(mdps, experiment.episode)
    tables = model.build_tables(mdps)
    without_agent: list[int] = []
    with isolated(agent) as visit:
        for i, key in enumerate(keys(agent, experiment, trajectories)):
            number = trajectories[i]
            noise = experiment.noise_words[number]
            environment.enter_once(env, tables, places[i])
            with measuring(meter):
                # A fresh copy, so that nothing passes from one MDP to the next.
                fresh, wall, processor = yield partial(_timed_copy, agent)
                numbers.seed(key)
                rng = np.random.Generator(np.random.Philox(key=key))
                yield from _play_one(visit, fresh, experiment, env, number, rng, noise, record, i)
                record.nanoseconds[i, 0] += wall
                record.cpu_nanoseconds[i] += processor + others.nanoseconds()
            numbers.look()
            del fresh  # before the next copy takes memory
            if i < REPLAYED:
                again, repeat = empty_record(experiment, 1), _Repeat(record.actions[i])
                yield from _play_one(visit, repeat, experiment, env, number, rng, noise, again, 0)
                without_agent.append(int(again.cpu_nanoseconds[0]))
    return record, int(np.median(without_agent))


def warm_up_steps(experiment: Experiment) -> None:
    """Compile all that plays an experiment besides an agent in Python."""
    record = empty_record(experiment, 1)
    repeat, meters = _Repeat(record.actions[0]), (None, Others(), GlobalNumbers())
    hosted(python_steps)(repeat, experiment, range(1), *meters)


def _play_one(
    visit: Visit,
    agent: Agent,
    experiment: Experiment,
    env: "Environment",
    number: int,
    rng: np.random.Generator,
    noise: np.uint64,
    record: "Record",
    i: int,
) -> Steps[None]:
    """The trajectory loop of `kernels.loop.trajectory`, for an agent in Python."""
    from ..kernels.loop import environment

    num_actions, horizon, step = experiment.test.num_actions, experiment.horizon, 0
    take_step, state_after = environment.step_once, environment.state_after_once

    def world() -> Generator[Any, Any, None]:
        nonlocal step
        nanoseconds, rewards = record.nanoseconds[i], record.rewards[i]
        states, actions = record.states[i], record.actions[i]
        states[0] = state = environment.first_state_once(env, noise)
        processor = thread_time_ns()
        before = perf_counter_ns()
        action = yield state
        while True:
            chosen = perf_counter_ns()
            if type(action) is not int or not 0 <= action < num_actions:
                action = _checked(action, num_actions)
            following, reward = take_step(env, noise, state, action)
            then = state_after(env, noise, following, step, horizon)
            stepped = perf_counter_ns()
            yield following, reward
            after = perf_counter_ns()
            nanoseconds[step] = (chosen - before) + (after - stepped)
            actions[step], rewards[step] = action, reward
            step += 1
            states[step] = state = then
            if step == horizon:
                break
            before = perf_counter_ns()
            action = yield state
        record.cpu_nanoseconds[i] = thread_time_ns() - processor
        yield None

    mdp = number // experiment.trajectories_per_mdp
    try:
        told = private_copy(experiment.mdp(mdp)) if is_told(agent) else None
        yield partial(_play_in, hidden(world().send), agent, told, rng, num_actions)
    except BaseException as error:  # also SystemExit: an agent that exits has failed
        visit.blame(error, f"on MDP {mdp} at step {step}")


def _play_in(
    world: Callable[[Any], Any],
    agent: Agent,
    told: MDP | None,
    rng: np.random.Generator,
    num_actions: int,
) -> None:
    """Let an agent play: it can look at this frame, and at that of the host."""
    state = world(None)
    if told is None:
        agent.start(state, rng)
    else:
        agent.start_known(told, state, rng)  # type: ignore[attr-defined]
    while state is not None:  # None: the trajectory ends
        action = agent.act(state)
        if type(action) is not int:
            action = _checked(action, num_actions)
        following, reward = world(action)
        agent.observe(state, action, following, reward)
        state = world(None)  # another one than the following if an episode has ended


def _timed_copy(agent: Agent) -> tuple[Agent, int, int]:
    """A copy, and nanoseconds of wall and processor time; 0 if short, as where no agent works."""
    processor, wall = process_time_ns(), perf_counter_ns()
    fresh = copy_agent(agent)
    wall, processor = perf_counter_ns() - wall, process_time_ns() - processor
    return (fresh, wall, processor) if processor > _COPY_NANOSECONDS else (fresh, 0, 0)


def copy_agent(agent: Agent) -> Agent:
    """A copy that shares nothing mutable."""
    try:
        return copy.deepcopy(agent)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InvalidInput(
            f"{describe(agent)[0]} can't be copied ({reason(error)}): every MDP is played by a "
            "copy, so give its class a method __deepcopy__"
        ) from error


def _checked(action: Any, num_actions: int) -> int:
    try:
        number = operator.index(action)
    except TypeError:
        number = None
    if number is None or isinstance(action, bool):
        raise InvalidInput(
            f"act returned {short(action)}: must be a whole number from 0 to {num_actions - 1}"
        )
    number = int.__index__(number)  # a subclass of int can compare as it likes
    if not 0 <= number < num_actions:
        raise InvalidInput(f"act returned {short(action)}: must be from 0 to {num_actions - 1}")
    return number
