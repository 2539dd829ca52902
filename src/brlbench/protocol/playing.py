"""Play parts of an experiment: compiled agents in one call, agents written in Python step by step.

Evaluations and studies both play through `play_part`. The returns of a trajectory do not depend on
which trajectories are played together.
"""

import copy
import json
import math
import operator
from collections.abc import Callable, Generator, Iterator

# Bound before any agent's code is imported, which could put other clocks in their place.
from time import perf_counter, perf_counter_ns, process_time_ns, thread_time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import streams
from ..agents import describe
from ..agents.base import Agent, CompiledAgent, FlatDirichlet, Task, is_told
from ..arguments import format_seconds
from ..errors import AgentError, InvalidInput, reason, short
from ..mdps.copying import private_copy
from ..mdps.mdp import MDP
from ..mdps.sparse import Integers
from ..streams import Words
from .experiment import Experiment
from .footprint import Meter, measuring
from .isolation import Visit, is_users, isolated, seed_globals
from .luck import measure_luck, num_baselines
from .machine import Waiting
from .recording import Rows, rows_of

if TYPE_CHECKING:  # importing kernels takes long
    from ..kernels.loop.trajectory import Record


_warm: set[tuple[bool, int]] = set()  # kinds of play that are compiled
_REPLAYED = 4  # trajectories of a batch, to measure the environment's time
_COPY_NANOSECONDS = 1_000_000  # of processor time, up to which copying an agent is free


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


class PlayedPart(NamedTuple):
    """The rows of a part, in one batch or several."""

    part: Part
    rows: list[Rows]
    seconds: float
    peak_bytes: int | None  # None: unknown
    waiting_share: float = 0.0  # of the thread's time, spent waiting for a core


def play_part(
    agent: Agent,
    experiment: Experiment,
    part: Part,
    keep_decisions: bool,
    keep_paths: bool,
    *,
    on_batch: Callable[[Part], bool | None] = lambda batch: None,
    batch_seconds: float = 0.2,
    seconds: float = math.inf,
    decision_seconds: float | None = None,
    one_by_one: bool = False,
    measures_memory: bool = True,
) -> PlayedPart:
    """Play a part in growing batches, until its end or until its time is over.

    Args:
        agent: a trained agent; a compiled one must be warm.
        experiment: what to play.
        part: the trajectories to play, at most.
        keep_decisions: keep each decision's reward and time.
        keep_paths: keep states and actions.
        on_batch: called after each batch; True ends the part there.
        batch_seconds: batches grow until they take this long.
        seconds: after this time, the rest of the part is left.
        decision_seconds: a decision that takes longer is a failure.
        one_by_one: every batch is one trajectory.
        measures_memory: False where other threads play, too.
    """
    warm_up_environment(experiment, isinstance(agent, CompiledAgent))
    at, size, total = part.first, 1, 0.0
    rows: list[Rows] = []
    meter, waiting = Meter() if measures_memory else None, Waiting()
    while at < part.end:
        batch = Part(at, min(at + size, part.end))
        started = perf_counter()
        record = play(agent, experiment, batch, meter)
        took = perf_counter() - started
        _check_decision_times(record, batch, decision_seconds, experiment)
        rows.append(rows_of(record, experiment, at, decisions=keep_decisions, paths=keep_paths))
        at, total = batch.end, total + took
        if on_batch(batch) or total > seconds:
            break
        if not one_by_one and took < batch_seconds:
            size = min(4 * size, experiment.trajectories_at_once)
    peak_bytes = None if meter is None else meter.peak_bytes
    return PlayedPart(Part(part.first, at), rows, total, peak_bytes, waiting.share())


def _check_decision_times(
    record: "Record", part: Part, limit: float | None, experiment: Experiment
) -> None:
    """Raise if a decision took longer than the limit."""
    longest = record.nanoseconds.max()
    if limit is not None and longest > limit * 1e9:
        i, step = np.unravel_index(record.nanoseconds.argmax(), record.nanoseconds.shape)
        mdp = (part.first + int(i)) // experiment.trajectories_per_mdp
        took = f"{longest / 1e9:.3g} s, more than limits.decision = {format_seconds(limit)}"
        raise AgentError(f"its decision {step} in MDP {mdp} took {took}")


def play(agent: Agent, experiment: Experiment, part: Part, meter: Meter | None = None) -> "Record":
    """Play a part of an experiment, and measure how lucky its trajectories were.

    A meter measures the memory of the copy that plays; a compiled agent must be warm.
    """
    if isinstance(agent, CompiledAgent):
        record = play_compiled(agent, experiment, part, meter)
        if is_users(agent):
            _check_played(agent, experiment, part, record)
        without_agent = _replay(experiment, part, record)
    else:
        record, without_agent = _play_python(agent, experiment, part, meter)
    least = experiment.horizon  # 1 ns per decision: logarithmic scales show no 0
    record.cpu_nanoseconds[:] = np.maximum(record.cpu_nanoseconds - without_agent, least)
    measure_luck(record, experiment, range(*part))
    return record


def _empty_record(experiment: Experiment, part: Part) -> "Record":
    from ..kernels.loop.trajectory import Record

    record = Record.empty(part.size, experiment.horizon, num_baselines(experiment))
    for array in record:  # takes its memory now, not while an agent is measured
        array.fill(0)
    return record


def _keys(agent: Agent, experiment: Experiment, part: Part) -> Words:
    """The key of the agent's stream in each trajectory."""
    names = ("play", identity(agent), experiment.seed, experiment.test.digest)
    return streams.keys(names, experiment.numbers_of(range(*part)))


def play_compiled(
    agent: CompiledAgent, experiment: Experiment, part: Part, meter: Meter | None = None
) -> "Record":
    """Play a part in one call; actions are not checked."""
    from ..builders import model
    from ..kernels.loop import trajectory

    record = _empty_record(experiment, part)
    arguments = (
        model.build_environment(experiment.test),
        *experiment.mdps_of(range(*part)),
        streams.first_words(_keys(agent, experiment, part)),
        experiment.noise_words[part.first : part.end],
        trajectory.ALL,
        record,
    )
    try:
        with measuring(meter):
            trajectory.play(model.copy(agent.arrays), *arguments)
    except Exception as error:
        first, last = (i // experiment.trajectories_per_mdp for i in (part.first, part.end - 1))
        raise AgentError(
            f"{describe(agent)[0]} failed in MDPs {first} to {last}: {reason(error)}"
        ) from error
    return record


def _replay(experiment: Experiment, part: Part, record: "Record") -> int:
    """Nanoseconds that a trajectory takes without its agent: the median of some trajectories."""
    from ..builders import model
    from ..kernels.loop import environment

    some = np.linspace(0, part.size - 1, min(part.size, _REPLAYED)).astype(np.int64)
    probabilities, mdps = experiment.mdps_of(range(*part))
    nanoseconds = np.zeros(len(some), np.int64)
    environment.replay(
        model.build_environment(experiment.test),
        probabilities,
        mdps[some],
        experiment.noise_words[part.first + some],
        record.actions[some],
        nanoseconds,
    )
    return int(np.median(nanoseconds))


def _check_played(agent: Agent, experiment: Experiment, part: Part, record: "Record") -> None:
    """Raise if a compiled agent took actions that don't exist; its loop does not check them."""
    num_actions = experiment.test.num_actions
    wrong = np.argwhere((record.actions < 0) | (record.actions >= num_actions))
    if len(wrong):
        i, step = map(int, wrong[0])
        mdp = (part.first + i) // experiment.trajectories_per_mdp
        raise AgentError(
            f"{describe(agent)[0]} failed on MDP {mdp} at step {step}: act returned "
            f"{record.actions[i, step]}: must be from 0 to {num_actions - 1}"
        )


def warm_up_environment(experiment: Experiment, for_compiled: bool) -> None:
    """Compile all that plays an experiment besides the agent, once per process.

    Else it would use up time and memory of the first trajectory.
    """
    kind = for_compiled, num_baselines(experiment)
    if kind in _warm:
        return
    _warm.add(kind)
    part = Part(0, 1)
    record = _empty_record(experiment, part)
    if for_compiled:
        _replay(experiment, part, record)
    else:
        _play_python(_Repeat(record.actions[0]), experiment, part, None)
    measure_luck(record, experiment, range(1))


class _Repeat:
    """Takes the actions of a trajectory again, to measure the time of all but its agent."""

    def __init__(self, actions: Integers) -> None:
        self._actions = iter(actions.tolist())

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None: ...

    def start(self, state: int, rng: np.random.Generator) -> None: ...

    def act(self, state: int) -> int:
        return int(next(self._actions))

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None: ...


def _play_python(
    agent: Agent, experiment: Experiment, part: Part, meter: Meter | None
) -> "tuple[Record, int]":
    """The record, and nanoseconds that a trajectory takes without its agent."""
    from ..builders import model
    from ..kernels.loop import environment

    record = _empty_record(experiment, part)
    env = model.build_environment(experiment.test)
    probabilities, places = experiment.mdps_of(range(*part))
    noise_words = experiment.noise_words[part.first : part.end]
    without_agent: list[int] = []
    with isolated(agent) as visit:
        for i, key in enumerate(_keys(agent, experiment, part)):
            mdp = (part.first + i) // experiment.trajectories_per_mdp
            env.probability[:] = probabilities[places[i]]
            with measuring(meter):
                # A fresh copy, so that nothing passes from one MDP to the next.
                fresh, wall, processor = _timed_copy(agent)
                seed_globals(key)
                rng = np.random.Generator(np.random.Philox(key=key))
                _play_one(visit, fresh, experiment, env, mdp, rng, noise_words[i], record, i)
                record.nanoseconds[i, 0] += wall
                record.cpu_nanoseconds[i] += processor
            del fresh  # before the next copy takes memory
            if i < _REPLAYED:
                again, repeat = _empty_record(experiment, Part(0, 1)), _Repeat(record.actions[i])
                _play_one(visit, repeat, experiment, env, mdp, rng, noise_words[i], again, 0)
                without_agent.append(int(again.cpu_nanoseconds[0]))
    differs = environment.retrace(
        model.build_environment(experiment.test),
        probabilities,
        places,
        noise_words,
        record.states,
        record.actions,
        record.rewards,
    )
    if differs >= 0:
        mdp = (part.first + differs) // experiment.trajectories_per_mdp
        raise AgentError(
            f"{visit.name} failed on MDP {mdp}: its actions don't lead to the states and rewards "
            "on record, so code of the agent has changed the record or the environment"
        )
    return record, int(np.median(without_agent))


def _decisions(
    agent: Agent, told: MDP | None, state: int, rng: np.random.Generator, num_actions: int
) -> Generator[int | None, tuple[int, float], None]:
    """Let an agent play: yield an action, and None once it has observed what followed.

    Agents can look at the frame that calls them, so nothing of the environment is in this one.
    """
    if told is None:
        agent.start(state, rng)
    else:
        agent.start_known(told, state, rng)  # type: ignore[attr-defined]
    while True:
        action = agent.act(state)
        if type(action) is not int:
            action = _checked(action, num_actions)
        following, reward = yield action
        agent.observe(state, action, following, reward)
        state = following
        yield None


def _play_one(
    visit: Visit,
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

    num_actions, step = experiment.test.num_actions, 0
    state = environment.first_state_once(env, noise)
    record.states[i, 0] = state
    try:
        told = private_copy(experiment.mdp(mdp)) if is_told(agent) else None
        decisions = _decisions(agent, told, state, rng, num_actions)
        processor = thread_time_ns()
        before = perf_counter_ns()
        for step in range(experiment.horizon):
            action = next(decisions)
            chosen = perf_counter_ns()
            if action is None or not 0 <= action < num_actions:
                action = _checked(action, num_actions)
            following = environment.step_once(env, noise, state, action)
            stepped = perf_counter_ns()
            decisions.send(following)
            after = perf_counter_ns()
            record.nanoseconds[i, step] = (chosen - before) + (after - stepped)
            record.actions[i, step] = action
            state, record.rewards[i, step] = following
            record.states[i, step + 1] = state
            before = perf_counter_ns()
    except BaseException as error:  # also SystemExit: an agent that exits has failed
        cause = error.__cause__  # a generator can't raise StopIteration itself
        error = cause if isinstance(cause, StopIteration) else error
        visit.blame(error, f"on MDP {mdp} at step {step}")
    record.cpu_nanoseconds[i] = thread_time_ns() - processor


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
