"""Train an agent and let it play an experiment: here, in threads or in processes.

Compiled agents play in threads, without the GIL; agents written in Python in processes. Returns do
not depend on how the trajectories are divided.
"""

import json
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import spawn
from typing import Any

from numpy.typing import NDArray

from ..agents import check_agent, default_parameters, describe
from ..agents.base import Agent, CompiledAgent
from ..agents.labels import label_of
from ..arguments import num_workers
from ..errors import AgentError, InvalidInput, reason, short
from ..executors.base import Call, Done, Failed, Notify, completed
from ..executors.local import Local
from ..hosting import Steps, hosted
from ..progress import Bar
from ..results.result import Result, join
from . import machine, needs
from .experiment import Experiment
from .footprint import return_free_memory
from .playing import Part, PlayedPart, part_steps, play_part
from .recording import join_rows, keeps_decisions, make_part
from .scripts import check_main_is_guarded
from .stepping import copy_agent
from .training import TrainedAgent, Training, load_into, save, train, warm_up

OnPlayed = Callable[[int], None]
"""Called with the number of trajectories played since the last call."""

_PARTS_PER_WORKER = 8  # so that no worker waits long for the last part
_importing_main = threading.Event()  # set while a worker imports the user's script


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

    Results of at most 10 million decisions keep every decision, larger ones only totals.

    Args:
        agent: any object with the methods of `Agent`.
        experiment: what to play.
        workers: the number of cores to use; None means all.
        training: the measured offline phase, if the agent is trained already.
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
    with Bar(name, experiment.num_trajectories, "trajectory", wanted) as bar:

        def advance(part: Part) -> None:
            bar.advance(part.size)
            if on_played is not None:
                on_played(part.size)

        bar.begin("training")
        player = Player.ready(agent, experiment, workers, training, keep_paths)
        bar.begin("playing")
        return join(player.play(Part(0, experiment.num_trajectories), advance))


@dataclass(frozen=True, eq=False)
class Player:
    """A trained agent, ready to play any part of an experiment."""

    trained: TrainedAgent
    untrained: Agent | None  # which workers train again; None: they are sent the trained one
    experiment: Experiment
    workers: int
    keeps_decisions: bool

    @classmethod
    def ready(
        cls,
        agent: Agent,
        experiment: Experiment,
        workers: int,
        training: Training | None = None,
        keep_paths: bool = False,
    ) -> "Player":
        """Train an agent, unless its `training` is given."""
        is_sent = workers > 1 and not isinstance(agent, CompiledAgent)
        if is_sent:
            check_main_is_guarded()
        # A trained agent is sent as it is: retraining could give a different agent.
        untrained = copy_agent(agent) if is_sent and training is None else None
        trained = _trained(agent, experiment, training)
        needs.check_copies(getattr(agent, "arrays", None), workers)
        return cls(trained, untrained, experiment, workers, keeps_decisions(experiment, keep_paths))

    def play(self, whole: Part, on_played: Callable[[Part], None]) -> list[Result]:
        """Play a part of the trajectories, in parts if there are several workers."""
        (agent, _, _, _, training), here = self.trained, machine.describe()
        played = self._play(whole, on_played)
        return [make_part(agent, self.experiment, training, each, here) for each in played]

    def _play(self, whole: Part, on_played: Callable[[Part], None]) -> list[PlayedPart]:
        agent, experiment, keep = self.trained.agent, self.experiment, self.keeps_decisions
        if self.workers == 1:
            return_free_memory()
            return [play_part(agent, experiment, whole, keep, keep, on_batch=on_played)]
        parts = list(whole.divide(-(-whole.size // (self.workers * _PARTS_PER_WORKER))))
        if isinstance(agent, CompiledAgent):
            play_all = _play_in_threads(agent, experiment, parts, keep, self.workers)
        else:
            if self.untrained is None:
                packed = _pack(agent, experiment, None, is_trained=True)
            else:
                saved = save(self.trained).saved
                packed = _pack(self.untrained, experiment, saved, is_trained=False)
            play_all = _play_in_processes(describe(agent)[0], packed, parts, keep, self.workers)
        played = []
        for each in play_all:
            on_played(each.part)
            played.append(each)
        return sorted(played, key=lambda each: each.part)


def _trained(agent: Agent, experiment: Experiment, training: Training | None) -> TrainedAgent:
    task = (experiment.prior, experiment.task, experiment.seed)
    if training is None:
        return train(agent, *task)
    if isinstance(agent, CompiledAgent):
        warm_up(agent, experiment.prior, experiment.task)
    return TrainedAgent(agent, *task, training)


def _play_in_threads(
    agent: CompiledAgent, experiment: Experiment, parts: list[Part], keep: bool, workers: int
) -> Iterator[PlayedPart]:
    executor = ThreadPoolExecutor(workers)
    try:
        futures = [
            executor.submit(play_part, agent, experiment, part, keep, keep, measures_memory=False)
            for part in parts
        ]
        for future in completed(futures):
            yield future.result()
    finally:
        executor.shutdown(cancel_futures=True)


def _play_in_processes(
    name: str, packed: bytes, parts: list[Part], keep: bool, workers: int
) -> Iterator[PlayedPart]:
    main = _main_module()
    with Local(workers) as executor:
        function = "brlbench.protocol.evaluate:play_in_worker"
        futures = [executor.submit(Call(function, [main, packed, part, keep])) for part in parts]
        for future in completed(futures):
            outcome = future.result()
            if isinstance(outcome, Done):
                yield pickle.loads(outcome.value)
            elif isinstance(outcome, Failed) and outcome.traceback:  # names the agent
                raise AgentError(outcome.reason)
            else:
                raise AgentError(f"{name}: {outcome.reason}")


def play_afresh(agent: Agent, experiment: Experiment) -> dict[str, NDArray[Any]]:
    """The columns of what an agent plays that is trained in a new process."""
    check_main_is_guarded()
    packed = _pack(agent, experiment, None, is_trained=False)
    whole = Part(0, experiment.num_trajectories)
    [played] = _play_in_processes(describe(agent)[0], packed, [whole], True, workers=1)
    return join_rows(played)


def _pack(
    agent: Agent, experiment: Experiment, saved: dict[str, Any] | None, is_trained: bool
) -> bytes:
    """An agent for other processes: trained, or untrained with the saved state, if any."""
    try:
        return pickle.dumps((agent, saved, is_trained, experiment))
    except Exception as error:
        raise InvalidInput(
            f"{describe(agent)[0]} can't be sent to other processes ({error}): "
            "define its class in a module of its own, or use workers=1"
        ) from error


def _main_module() -> str:
    """The user's script and the import path, as JSON: workers need them to unpickle classes."""
    if _importing_main.is_set():
        raise InvalidInput('a script must start its work under if __name__ == "__main__"')
    data = spawn.get_preparation_data("worker")
    wanted = ("init_main_from_name", "init_main_from_path", "sys_path")
    return json.dumps({key: data[key] for key in wanted if key in data})


def _import_main(data: dict[str, Any]) -> None:
    """Import the user's script; names of its classes, which key random streams, stay the same."""
    spawn.prepare(data)
    for value in vars(sys.modules["__main__"]).values():
        if isinstance(value, type) and value.__module__ == "__mp_main__":
            value.__module__ = "__main__"


@hosted
def play_in_worker(argument: list[Any], notify: Notify) -> Steps[bytes]:
    """Play a part in a worker process."""
    main, packed, part, keep = argument
    agent, experiment = _unpack(packed, main)
    return_free_memory()
    return pickle.dumps((yield from part_steps(agent, experiment, Part(*part), keep, keep)))


@lru_cache(maxsize=1)
def _unpack(packed: bytes, main: str) -> tuple[Agent, Experiment]:
    """The trained agent and the experiment, made once per process."""
    _importing_main.set()
    try:
        _import_main(json.loads(main))
        agent, saved, is_trained, experiment = pickle.loads(packed)
    except Exception as error:
        raise AgentError(
            f"the agent can't be made in another process ({reason(error)}): define its class in a "
            "module of its own, or use workers=1"
        ) from error
    finally:
        _importing_main.clear()
    if saved is not None:
        load_into(agent, saved)
    elif not is_trained:
        train(agent, experiment.prior, experiment.task, experiment.seed)
    return agent, experiment
