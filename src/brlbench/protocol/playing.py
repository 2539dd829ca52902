"""Play parts of an experiment: compiled agents in one call, agents written in Python step by step.

All playing goes through `play`, in evaluations as in studies. The returns of a trajectory do not
depend on which trajectories are played together.
"""

import copy
import json
import operator
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import streams
from ..agents import describe
from ..agents.base import Agent, CompiledAgent
from ..errors import AgentError, InvalidInput, reason
from ..streams import Words
from .experiment import Experiment

if TYPE_CHECKING:  # importing kernels takes long
    from ..kernels.loop.trajectory import Record


def identity(agent: Agent) -> str:
    """A text that differs between agents with different parameters."""
    algorithm, parameters = describe(agent)
    return f"{algorithm} {json.dumps(parameters, sort_keys=True, default=str)}"


class Part(NamedTuple):
    """Trajectories first, …, end - 1 of an experiment, counted MDP by MDP."""

    first: int
    end: int

    @property
    def size(self) -> int:
        """The number of trajectories."""
        return self.end - self.first

    def divide(self, size: int) -> "Iterator[Part]":
        """Consecutive parts of at most `size` trajectories."""
        for first in range(self.first, self.end, size):
            yield Part(first, min(first + size, self.end))


def play(agent: Agent, experiment: Experiment, part: Part) -> "Record":
    """Play a part of an experiment."""
    if isinstance(agent, CompiledAgent):
        return _play_compiled(agent, experiment, part)
    return _play_python(agent, experiment, part)


def _keys(agent: Agent, experiment: Experiment, part: Part) -> Words:
    """The key of the agent's stream in each trajectory."""
    names = ("play", identity(agent), experiment.seed, experiment.test.digest)
    return streams.keys(names, experiment.numbers_of(range(*part)))


def _play_compiled(agent: CompiledAgent, experiment: Experiment, part: Part) -> "Record":
    from ..agents.arrays import model
    from ..kernels.loop import trajectory

    record = trajectory.Record.empty(part.size, experiment.horizon)
    trajectory.play(
        model.copy(agent.arrays),
        model.build_environment(experiment.test),
        experiment.probabilities,
        np.arange(*part) // experiment.trajectories_per_mdp,
        streams.first_words(_keys(agent, experiment, part)),
        experiment.noise_words[part.first : part.end],
        record,
    )
    return record


def _play_python(agent: Agent, experiment: Experiment, part: Part) -> "Record":
    from ..agents.arrays import model
    from ..kernels.loop import trajectory

    record = trajectory.Record.empty(part.size, experiment.horizon)
    env = model.build_environment(experiment.test)
    for i, key in enumerate(_keys(agent, experiment, part)):
        mdp = (part.first + i) // experiment.trajectories_per_mdp
        env.probability[:] = experiment.probabilities[mdp]
        # A fresh copy, so that nothing passes from one MDP to the next.
        fresh = copy_agent(agent)
        rng = np.random.Generator(np.random.Philox(key=key))
        noise = experiment.noise_words[part.first + i]
        _play_one(fresh, experiment, env, mdp, rng, noise, record, i)
    return record


def _play_one(
    agent: Agent,
    experiment: Experiment,
    env: Any,
    mdp: int,
    rng: np.random.Generator,
    noise: np.uint64,
    record: Any,
    i: int,
) -> None:
    """The trajectory loop of `kernels.loop.trajectory`, for an agent in Python."""
    from ..kernels.loop import environment

    state = environment.first_state_once(env, noise)
    record.states[i, 0] = state
    step, processor, clock = 0, time.thread_time_ns(), time.perf_counter_ns
    known = getattr(agent, "start_known", None)
    shown = experiment.mdp(mdp) if known else None
    try:
        before = clock()
        if known:
            known(shown, state, rng)
        else:
            agent.start(state, rng)
        for step in range(experiment.horizon):
            action = agent.act(state)
            chosen = clock()
            action = _checked(action, experiment.test.num_actions)
            following, reward = environment.step_once(env, noise, state, action)
            stepped = clock()
            agent.observe(state, action, following, reward)
            after = clock()
            record.nanoseconds[i, step] = (chosen - before) + (after - stepped)
            record.actions[i, step] = action
            record.rewards[i, step] = reward
            record.states[i, step + 1] = following
            state, before = following, clock()
    except Exception as error:
        name = describe(agent)[0]
        raise AgentError(f"{name} failed on MDP {mdp} at step {step}: {reason(error)}") from error
    record.cpu_nanoseconds[i] = time.thread_time_ns() - processor


def copy_agent(agent: Agent) -> Agent:
    """A copy that shares nothing mutable."""
    try:
        return copy.deepcopy(agent)
    except Exception as error:
        raise InvalidInput(
            f"{describe(agent)[0]} can't be copied ({error}): every MDP is played by a copy, "
            "so give its class a method __deepcopy__"
        ) from error


def _checked(action: Any, num_actions: int) -> int:
    try:
        number = operator.index(action)
    except TypeError:
        number = None
    if number is None or isinstance(action, bool):
        raise InvalidInput(
            f"act returned {action!r}: must be a whole number from 0 to {num_actions - 1}"
        )
    if not 0 <= number < num_actions:
        raise InvalidInput(f"act returned {action!r}: must be from 0 to {num_actions - 1}")
    return number
