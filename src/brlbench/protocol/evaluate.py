"""Train an agent and let it play an experiment, in one thread, several threads or processes.

Compiled agents play in threads, without the GIL; agents written in Python in processes. Returns do
not depend on how the trajectories are divided.
"""

import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any

from ..agents import check_agent, default_parameters, describe
from ..agents.base import Agent, CompiledAgent
from ..arguments import num_workers
from ..errors import AgentError, InvalidInput, reason, short
from . import machine, needs
from .bar import Bar
from .experiment import Experiment
from .footprint import Meter, largest, settle
from .futures import completed
from .labels import label_of
from .playing import Part, copy_agent, play
from .result import Result, join_records
from .totals import PartTotals, keeps_decisions, totals_of
from .training import TrainedAgent, Training, load_into, save, train, warm_up

if TYPE_CHECKING:  # importing kernels takes long
    from ..kernels.loop.trajectory import Record

    PlayPart = Callable[[Agent, Experiment, Part, Meter | None], Record | PartTotals]
    Played = tuple[Record | PartTotals, int | None]  # with the peak of its memory

OnPlayed = Callable[[int], None]
"""Called with the number of trajectories played since the last call."""

_PARTS_PER_WORKER = 8  # so that no worker waits long for the last part
_PARTS_OF_BAR = 100  # at least, where a bar shows how far the play is


def evaluate(
    agent: Agent,
    experiment: Experiment,
    workers: int | None = 1,
    training: Training | None = None,
    on_played: OnPlayed | None = None,
    keep_paths: bool = False,
    progress: bool | None = None,
) -> Result:
    """Train an agent, unless its `training` is given, and play the experiment.

    Every decision is kept of experiments with at most 10 million decisions, else only totals.

    Args:
        agent: any object with the methods of `Agent`.
        experiment: what to play.
        workers: how many cores to use; None means all.
        training: how long the offline phase took, if the agent is trained already.
        on_played: called with the number of trajectories played since the last call.
        keep_paths: keep every decision's state, action, reward and time, however many there are.
        progress: show a bar with the time left; by default in notebooks and terminals, once it
            takes more than three seconds, unless `on_played` is given.
    """
    check_agent(agent)
    if not isinstance(experiment, Experiment):
        raise InvalidInput(
            f'experiment = {short(experiment)}: must be an Experiment, such as Experiment("GC")'
        )
    workers = num_workers(workers)
    needs.check(experiment, keep_paths, workers)
    name = f"{label_of(*describe(agent), defaults=default_parameters(agent))} on {experiment.name}"
    wanted = False if progress is None and on_played is not None else progress
    with Bar(name, experiment.num_trajectories, "trajectories", wanted) as bar:
        bar.begin("training")
        return _evaluate(agent, experiment, workers, training, on_played, keep_paths, bar)


def _evaluate(
    agent: Agent,
    experiment: Experiment,
    workers: int,
    training: Training | None,
    on_played: OnPlayed | None,
    keep_paths: bool,
    bar: Bar,
) -> Result:
    # Other processes get a trained agent as it is: retraining could give a different agent.
    untrained = copy_agent(agent) if workers > 1 and training is None else None
    task = (experiment.prior, experiment.task, experiment.seed)
    if training is None:
        trained = train(agent, *task)
    else:
        trained = TrainedAgent(agent, *task, training)
        if isinstance(agent, CompiledAgent):
            warm_up(agent)
    needs.check_copies(getattr(agent, "arrays", None), workers)
    num_parts = max(workers * _PARTS_PER_WORKER, _PARTS_OF_BAR if bar.is_used else 0)
    size = min(-(-experiment.num_trajectories // num_parts), experiment.trajectories_at_once)
    parts = list(Part(0, experiment.num_trajectories).divide(size))
    play_part = play if keeps_decisions(experiment, keep_paths) else _play_for_totals
    played: dict[Part, Played] = {}
    bar.begin("playing")
    for part, found in _play_parts(trained, untrained, experiment, parts, workers, play_part):
        played[part] = found
        bar.advance(part.size)
        if on_played is not None:
            on_played(part.size)
    records, peaks = zip(*(played[part] for part in parts), strict=True)
    made_on, peak_bytes = machine.describe(), largest(peaks)
    return join_records(agent, experiment, trained.training, records, made_on, peak_bytes)


def _play_for_totals(
    agent: Agent, experiment: Experiment, part: Part, meter: Meter | None
) -> PartTotals:
    return totals_of(play(agent, experiment, part, meter), experiment)


def _play_parts(
    trained: TrainedAgent,
    untrained: Agent | None,
    experiment: Experiment,
    parts: list[Part],
    workers: int,
    play_part: "PlayPart",
) -> "Iterator[tuple[Part, Played]]":
    """Play the parts, and yield each with its record as soon as it is played."""
    agent = trained.agent
    if workers == 1:
        settle()
        for part in parts:
            yield part, _play_measured(agent, experiment, part, play_part)
        return
    executor: Executor
    submit: Callable[[Part], Future[Played]]
    if isinstance(agent, CompiledAgent):
        executor = ThreadPoolExecutor(workers)
        submit = lambda part: executor.submit(  # noqa: E731
            _play_in_thread, agent, experiment, part, play_part
        )
    else:
        executor = ProcessPoolExecutor(
            workers,
            multiprocessing.get_context("spawn"),
            _start_process,
            (_packed(trained, untrained), experiment),
        )
        submit = lambda part: executor.submit(_play_in_process, part, play_part)  # noqa: E731
    with executor:
        futures = {submit(part): part for part in parts}
        try:
            for future in completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool as error:
            raise AgentError(
                f"{describe(agent)[0]}: a process that played it ended early: use workers=1 to see "
                'why; a script must start its work under if __name__ == "__main__"'
            ) from error
        finally:
            executor.shutdown(cancel_futures=True)


def _play_measured(
    agent: Agent, experiment: Experiment, part: Part, play_part: "PlayPart"
) -> "Played":
    meter = Meter()
    return play_part(agent, experiment, part, meter), meter.peak_bytes


def _play_in_thread(
    agent: Agent, experiment: Experiment, part: Part, play_part: "PlayPart"
) -> "Played":
    """Play a part beside others, so that its own memory can't be told."""
    return play_part(agent, experiment, part, None), None


def _packed(trained: TrainedAgent, untrained: Agent | None) -> bytes:
    """An agent for another process: as it is, or untrained with what the trained one saved."""
    if untrained is None:
        content: tuple[Any, ...] = (trained.agent, None, True)
    else:
        content = (untrained, save(trained).saved, False)
    try:
        return pickle.dumps(content)
    except Exception as error:
        raise InvalidInput(
            f"{describe(trained.agent)[0]} can't be sent to other processes ({error}): "
            "define its class in a module of its own, or use workers=1"
        ) from error


_in_process: tuple[Agent, Experiment] | AgentError


def _start_process(packed: bytes, experiment: Experiment) -> None:
    global _in_process
    try:
        agent, saved, is_trained = pickle.loads(packed)
        if saved is not None:
            load_into(agent, saved)
        elif not is_trained:
            train(agent, experiment.prior, experiment.task, experiment.seed)
        settle()
        _in_process = agent, experiment
    except AgentError as error:  # raised later, where it reaches the caller
        _in_process = error
    except Exception as error:
        _in_process = AgentError(f"the agent can't be made in another process: {reason(error)}")


def _play_in_process(part: Part, play_part: "PlayPart") -> "Played":
    if isinstance(_in_process, AgentError):
        raise _in_process
    return _play_measured(*_in_process, part, play_part)
