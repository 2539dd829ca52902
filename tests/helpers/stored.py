"""Files of each kind that is stored, for tests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from brlbench.agents import make_agent
from brlbench.protocol.evaluate import TrainedAgent, evaluate, train
from brlbench.protocol.experiment import Experiment
from brlbench import storage

Write = Callable[[Path], object]


def experiment(**changes: Any) -> Experiment:
    settings: dict[str, Any] = {"prior": "uniform:GC", "test": "GC", "num_mdps": 5, "horizon": 20}
    return Experiment(**{**settings, **changes})


def trained(agent: Any = None, **changes: Any) -> TrainedAgent:
    made = experiment(**changes)
    agent = agent or make_agent("beb", beta=2.5)
    return TrainedAgent(agent, made.prior, made.task, 3, train(agent, made.prior, made.task, 3))


WRITERS: dict[str, Write] = {
    "result": lambda path: storage.write_result(
        path, evaluate(make_agent("beb"), experiment()), trajectories=True
    ),
    "experiment": lambda path: storage.write_experiment(path, experiment()),
    "agent": lambda path: storage.write_agent(path, trained()),
}
KINDS = list(WRITERS)


def resealed(data: bytes) -> bytes:
    """The same file with a digest that is right again."""
    place = data.rindex(store._SEAL.encode())
    end = place + len(store._OPEN_SEAL)
    return store._sealed(data[:place] + store._OPEN_SEAL.encode() + data[end:])
