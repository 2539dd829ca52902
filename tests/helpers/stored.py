"""Files of each kind that is stored, for tests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from brlbench import storage
from brlbench.agents import make_agent
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.training import TrainedAgent, save, train
from brlbench.results import sealed

Write = Callable[[Path], object]


def experiment(**changes: Any) -> Experiment:
    settings: dict[str, Any] = {"prior": "uniform:GC", "test": "GC", "num_mdps": 5, "horizon": 20}
    return Experiment(**{**settings, **changes})


def trained(agent: Any = None, **changes: Any) -> TrainedAgent:
    made = experiment(**changes)
    agent = agent or make_agent("beb", beta=2.5)
    return train(agent, made.prior, made.task, 3)


WRITERS: dict[str, Write] = {
    "result": lambda path: storage.write_result(
        path, evaluate(make_agent("beb"), experiment()), keep_paths=True
    ),
    "experiment": lambda path: storage.write_experiment(path, experiment()),
    "agent": lambda path: storage.write_agent(path, save(trained())),
}
KINDS = list(WRITERS)


def resealed(data: bytes) -> bytes:
    """The same file with a digest that is right again."""
    place = data.rindex(sealed._SEAL.encode())
    end = place + len(sealed.OPEN_SEAL)
    return sealed.sealed(data[:place] + sealed.OPEN_SEAL.encode() + data[end:])
