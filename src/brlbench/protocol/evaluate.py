"""Train agents and let them play: in this thread, in several threads, or in processes.

Compiled agents play in threads, without the GIL; agents written in Python in processes.
What an agent gets does not depend on how the work is divided.
"""

import multiprocessing
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple

import numpy as np

from .. import streams
from ..agents import describe, make_agent
from ..agents.base import Agent, CompiledAgent, Task
from ..agents.policy_search import PolicySearch
from ..arguments import num_workers
from ..errors import AgentError, InvalidInput
from ..mdps.dirichlet import FlatDirichlet
from . import machine
from .experiment import Experiment
from .playing import copy_agent, identity, play, told
from .result import Result
from .waiting import completed

Progress = Callable[[int], None]
"""Called with the number of trajectories that have been finished since the last call."""

# Work is divided into this many pieces a worker, so that no worker waits long for the last one.
_PIECES_A_WORKER = 8


class Training(NamedTuple):
    """What the offline phase of an agent took."""

    seconds: float
    cpu_seconds: float


class TrainedAgent(NamedTuple):
    """An agent that has been trained, with what it was trained for."""

    agent: Agent
    prior: FlatDirichlet
    task: Task
    seed: int
    training: Training


def check_trained_for(trained: TrainedAgent, experiment: Experiment) -> None:
    """Refuse to let an agent play what it was not trained for."""
    if trained.prior.digest != experiment.prior.digest:
        raise InvalidInput(
            f"the agent was trained on another prior ({trained.prior.name or 'unnamed'}) than the "
            f"experiment's ({experiment.prior.name or 'unnamed'}): train it on that one"
        )
    if trained.task != experiment.task:
        raise InvalidInput(
            f"the agent was trained for {trained.task}, the experiment has {experiment.task}: "
            "train it with the same discount, horizon and deadline"
        )


def train(agent: Agent, prior: FlatDirichlet, task: Task, seed: int) -> Training:
    """The offline phase, timed; compilation is not."""
    if isinstance(agent, CompiledAgent):
        warm_up(agent)
    names = ("train", prior.digest, task.discount, task.horizon, seed, identity(agent))
    wall, processor = time.perf_counter(), time.process_time()
    try:
        agent.train(prior, task, streams.generator(*names))
    except Exception as error:
        raise AgentError(f"{describe(agent)[0]} failed while training: {told(error)}") from error
    return Training(time.perf_counter() - wall, time.process_time() - processor)


def evaluate(
    agent: Agent,
    experiment: Experiment,
    workers: int | None = 1,
    training: Training | None = None,
    progress: Progress | None = None,
) -> Result:
    """Train an agent, unless its `training` is given, and play the experiment.

    Args:
        agent: any object with the methods of `Agent`.
        experiment: what to play.
        workers: how many cores to use; None means all.
        training: what the offline phase took, if the agent has been trained already.
        progress: called with the number of trajectories done since the last call.
    """
    workers = num_workers(workers)
    # Other processes get an agent that comes trained as it is: training it again may not be alike.
    untrained = copy_agent(agent) if workers > 1 and training is None else None
    if training is None:
        training = train(agent, experiment.prior, experiment.task, experiment.seed)
    pieces = list(_pieces(experiment.num_trajectories, workers))
    records: dict[int, Any] = {}
    for first, record in _play_pieces(agent, untrained, experiment, pieces, workers):
        records[first] = record
        if progress is not None:
            progress(len(record.actions))
    played = [records[first] for first, _ in pieces]
    return joined(agent, experiment, training, played, machine.describe())


def train_new(
    algorithm: str,
    parameters: dict[str, Any],
    prior: str | FlatDirichlet,
    discount: float,
    horizon: int | None,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
    deadline: float | None = None,
) -> TrainedAgent:
    """Make an agent and train it; one that tells how far it is tells `progress`."""
    agent = make_agent(algorithm, **parameters)
    if isinstance(agent, PolicySearch):
        agent = agent.with_progress(progress)
    # An experiment checks what it is given; the MDP in it is never drawn.
    checked = Experiment(prior, prior, 1, discount, horizon, seed, deadline=deadline)
    training = train(agent, checked.prior, checked.task, seed)
    return TrainedAgent(agent, checked.prior, checked.task, seed, training)


def play_trained(
    trained: TrainedAgent, experiment: Experiment, workers: int | None, progress: Progress
) -> Result:
    """Let a trained agent play the experiment it was trained for."""
    check_trained_for(trained, experiment)
    return evaluate(trained.agent, experiment, workers, trained.training, progress)


def _pieces(total: int, workers: int) -> Iterator[tuple[int, int]]:
    size = -(-total // (workers * _PIECES_A_WORKER))
    for first in range(0, total, size):
        yield first, min(first + size, total)


def _play_pieces(
    agent: Agent,
    untrained: Agent | None,
    experiment: Experiment,
    pieces: list[tuple[int, int]],
    workers: int,
) -> Iterator[tuple[int, Any]]:
    if workers == 1:
        for first, end in pieces:
            yield first, play(agent, experiment, first, end)
        return
    executor: Executor
    if isinstance(agent, CompiledAgent):
        executor = ThreadPoolExecutor(workers)
        submit: Callable[[int, int], Any] = lambda first, end: executor.submit(  # noqa: E731
            play, agent, experiment, first, end
        )
    else:
        executor = ProcessPoolExecutor(
            workers,
            multiprocessing.get_context("spawn"),
            _start_process,
            (_packed(agent, untrained), experiment),
        )
        submit = lambda first, end: executor.submit(_play_in_process, first, end)  # noqa: E731
    with executor:
        futures = {submit(first, end): first for first, end in pieces}
        try:
            for future in completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool as error:
            raise AgentError(
                f"{describe(agent)[0]}: a process that played it ended early: use workers=1 to see "
                'why, and begin the work of a script with if __name__ == "__main__"'
            ) from error
        finally:
            executor.shutdown(cancel_futures=True)


_warm: set[object] = set()


def warm_up(agent: CompiledAgent) -> None:
    """Compile all that an agent needs, by training and playing it on a tiny problem."""
    if agent.code() in _warm:
        return
    prior = FlatDirichlet(np.ones((2, 2, 2)), np.eye(2)[:, None, :])
    tiny = Experiment(prior, prior, num_mdps=1, discount=0.5, horizon=2)
    small = agent.small()
    small.train(tiny.prior, tiny.task, streams.generator("warm-up"))
    play(small, tiny, 0, 1)
    _warm.add(agent.code())


def joined(
    agent: Agent,
    experiment: Experiment,
    training: Training,
    records: Sequence[Any],
    made_on: dict[str, Any],
) -> Result:
    """The result that the records of all trajectories make, in their order."""
    algorithm, parameters = describe(agent)
    shape = (experiment.num_mdps, experiment.trajectories)

    def joined_array(name: str) -> Any:
        arrays = [getattr(record, name) for record in records]
        if arrays[0] is None:  # not kept
            return None
        parts = np.concatenate(arrays)
        return parts.reshape(*shape, *parts.shape[1:])

    names = ("rewards", "nanoseconds", "cpu_nanoseconds", "states", "actions")
    return Result(
        algorithm=algorithm,
        parameters=parameters,
        settings=experiment.settings(),
        experiment_hash=experiment.hash,
        offline_seconds=training.seconds,
        offline_cpu_seconds=training.cpu_seconds,
        machine=made_on,
        **{name: joined_array(name) for name in names},
    )


def save(agent: Agent) -> dict[str, Any] | None:
    """What an agent saves of its training, or None if it can't."""
    method = getattr(agent, "save", None)
    try:
        return method() if method else None
    except Exception as error:
        raise AgentError(f"{describe(agent)[0]} failed while saving: {told(error)}") from error


def load(agent: Any, saved: dict[str, Any]) -> None:
    """Give an agent what it saved."""
    try:
        agent.load(saved)
    except Exception as error:
        raise AgentError(f"{describe(agent)[0]} failed while loading: {told(error)}") from error


def _packed(agent: Agent, untrained: Agent | None) -> bytes:
    """An agent on its way to another process: untrained and what it saved, or else as it is."""
    content = (agent, None, True) if untrained is None else (untrained, save(agent), False)
    try:
        return pickle.dumps(content)
    except Exception as error:
        raise InvalidInput(
            f"{describe(agent)[0]} can't be sent to other processes ({error}): "
            "define its class in a module of its own, or use workers=1"
        ) from error


_in_process: tuple[Agent, Experiment] | AgentError


def _start_process(packed: bytes, experiment: Experiment) -> None:
    global _in_process
    try:
        agent, saved, trained = pickle.loads(packed)
        if saved is not None:
            load(agent, saved)
        elif not trained:
            train(agent, experiment.prior, experiment.task, experiment.seed)
        _in_process = agent, experiment
    except AgentError as error:  # to be raised where it reaches the caller
        _in_process = error
    except Exception as error:
        _in_process = AgentError(f"the agent can't be made in another process: {told(error)}")


def _play_in_process(first: int, end: int) -> Any:
    if isinstance(_in_process, AgentError):
        raise _in_process
    return play(*_in_process, first, end)
