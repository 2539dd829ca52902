"""Play parts of an experiment: compiled agents in one call, agents written in Python step by step.

Evaluations and studies both play through `play_part`. The returns of a trajectory do not depend on
which trajectories are played together.
"""

import math
from collections.abc import Callable, Iterator

# Bound before any agent's code is imported, which could put other clocks in their place.
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import streams
from ..agents import describe
from ..agents.base import Agent, CompiledAgent
from ..arguments import format_seconds
from ..errors import AgentError, reason
from ..hosting import Steps, hosted
from .experiment import Experiment
from .footprint import Meter, measuring
from .isolation import GlobalNumbers, is_users
from .luck import measure_luck
from .machine import Waiting
from .recording import Rows, rows_of
from .stepping import REPLAYED, Others, keys, python_steps, warm_up_steps
from .tracing import check_record, empty_record, small_actions, warm_up

if TYPE_CHECKING:  # importing kernels takes long
    from ..kernels.loop.trajectory import Record


_warm: set[bool] = set()  # kinds of play that are compiled


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
    actions: bytes = b""  # of an agent of a user's, so that the rows can be made again
    uses_global_numbers: bool = False  # whether the agent draws from `random` or `numpy.random`


def part_steps(
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
) -> Steps[PlayedPart]:
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
    warm_up_environment(experiment, agent)
    at, size, total = part.first, 1, 0.0
    rows: list[Rows] = []
    actions: list[bytes] = []
    meter, numbers = Meter() if measures_memory else None, GlobalNumbers()
    waiting, others = Waiting(), Others()
    while at < part.end:
        batch = Part(at, min(at + size, part.end))
        started = perf_counter()
        record = yield from _play_steps(agent, experiment, batch, meter, others, numbers)
        took = perf_counter() - started
        _check_decision_times(record, batch, decision_seconds, experiment)
        rows.append(rows_of(record, experiment, at, decisions=keep_decisions, paths=keep_paths))
        if is_users(agent):
            actions.append(small_actions(experiment, record.actions).tobytes())
        at, total = batch.end, total + took
        if on_batch(batch) or total > seconds:
            break
        if not one_by_one and took < batch_seconds:
            size = min(4 * size, experiment.trajectories_at_once)
    peak_bytes = None if meter is None else meter.peak_bytes
    told = waiting.share(), b"".join(actions), numbers.are_used
    return PlayedPart(Part(part.first, at), rows, total, peak_bytes, *told)


play_part = hosted(part_steps)


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


def _play_steps(
    agent: Agent,
    experiment: Experiment,
    part: Part,
    meter: Meter | None,
    others: Others,
    numbers: GlobalNumbers,
) -> "Steps[Record]":
    if isinstance(agent, CompiledAgent):
        record = play_compiled(agent, experiment, part, meter)
    else:
        played = yield from python_steps(agent, experiment, range(*part), meter, others, numbers)
        record, without_agent = played
    if is_users(agent):
        check_record(describe(agent)[0], experiment, range(*part), record)
    if isinstance(agent, CompiledAgent):
        without_agent = _replay(experiment, part, record)
    least = experiment.horizon  # 1 ns per decision: logarithmic scales show no 0
    record.cpu_nanoseconds[:] = np.maximum(record.cpu_nanoseconds - without_agent, least)
    measure_luck(record, experiment, range(*part))
    return record


@hosted
def play(
    agent: Agent, experiment: Experiment, part: Part, meter: Meter | None = None
) -> "Steps[Record]":
    """Play a part of an experiment, and measure how lucky its trajectories were.

    A meter measures the memory of the copy that plays; a compiled agent must be warm.
    """
    return (yield from _play_steps(agent, experiment, part, meter, Others(), GlobalNumbers()))


def play_compiled(
    agent: CompiledAgent, experiment: Experiment, part: Part, meter: Meter | None = None
) -> "Record":
    """Play a part in one call; actions are not checked."""
    from ..builders import model
    from ..kernels.loop import trajectory

    record = empty_record(experiment, part.size)
    mdps, places = experiment.mdps_of(range(*part))
    arguments = (
        model.build_environment(mdps, experiment.episode),
        model.build_tables(mdps),
        places,
        streams.first_words(keys(agent, experiment, range(*part))),
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

    some = np.linspace(0, part.size - 1, min(part.size, REPLAYED)).astype(np.int64)
    mdps, places = experiment.mdps_of(range(*part))
    nanoseconds = np.zeros(len(some), np.int64)
    environment.replay(
        model.build_environment(mdps, experiment.episode),
        model.build_tables(mdps),
        places[some],
        experiment.noise_words[part.first + some],
        record.actions[some],
        nanoseconds,
    )
    return int(np.median(nanoseconds))


def warm_up_environment(experiment: Experiment, agent: Agent) -> None:
    """Compile all that plays an experiment besides the agent, once per process.

    Else it would use up time and memory of the first trajectory.
    """
    is_compiled = isinstance(agent, CompiledAgent)
    warm_up(experiment)
    if is_compiled in _warm:
        return
    _warm.add(is_compiled)
    if is_compiled:
        _replay(experiment, Part(0, 1), empty_record(experiment, 1))
    else:
        warm_up_steps(experiment)
