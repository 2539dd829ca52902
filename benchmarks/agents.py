"""Microseconds a decision of every agent, at the paper's best parameters, in its six experiments.

`original.csv` has what the original C++ library takes for the agents that were timed. Its soft-max
was not; as it solves what its epsilon-greedy solves, it is compared with that. Other parameters are
those of the paper's tables, or else the defaults.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brlbench as bb
from brlbench.agents.base import CompiledAgent
from brlbench.arguments import parse_parameters
from brlbench.protocol.training import train

from .bounds import bound_of
from .measure import Case, decision_microseconds
from .plain import plain_of

_ORIGINAL = Path(__file__).parent / "original.csv"
_PUBLISHED = Path(__file__).parents[1] / "reproduction/published.csv"
HORIZON = 250
PRIORS = ("GC", "GDL", "Grid", "uniform:GC", "uniform:GDL", "uniform:Grid")

# The least ratios to the original that are aimed at, in the order of PRIORS.
_MODEL_TARGETS = (30, 20, 100, 60, 60, 300)
_TARGETS: dict[str, tuple[int | None, ...]] = {
    "epsilon-greedy": _MODEL_TARGETS,
    "formula": _MODEL_TARGETS,
    "soft-max": _MODEL_TARGETS,
    "beb": (30, 40, 500, 30, 40, 300),
    "bamcp": (15, 20, 200, 5, 6, 70),
    "bfs3": (20, 20, 20, 20, 20, 20),
    "sboss": (None, None, None, None, 20, 20),
}
_SAME_WORK = {"soft-max": "epsilon-greedy"}
# The same MDPs in every round and in every run, as their times differ.
_MDPS = {"bamcp": 2, "bfs3": 1, "boss": 10, "sboss": 2, "psrl": 50}
_MOST_MDPS = 200


def cases(agents: list[str] | None, priors: list[str] | None, quick: bool) -> Iterator[Case]:
    """All agents in all experiments, or some of them."""
    original, published = _table(_ORIGINAL), _table(_PUBLISHED)
    for name in agents or bb.AGENTS:
        if name.startswith("opps"):  # these play as `formula`
            continue
        for prior in priors or PRIORS:
            key = (name, prior)
            row = original.get(key) or published.get(key) or {"parameters": ""}
            timed = original.get((_SAME_WORK.get(name, name), prior))
            yield agent_case(
                "agents",
                f"{name} {prior}",
                name,
                parse_parameters(filter(None, row["parameters"].split(";"))),
                bb.Experiment(
                    prior,
                    prior.removeprefix("uniform:"),
                    num_mdps=1 if quick else _MDPS.get(name, _MOST_MDPS),
                    horizon=10 if quick else HORIZON,
                ),
                original=float(timed["microseconds"]) if timed else None,
                least_ratio=_TARGETS[name][PRIORS.index(prior)] if name in _TARGETS else None,
            )


def agent_case(
    topic: str,
    title: str,
    name: str,
    parameters: dict[str, Any],
    experiment: bb.Experiment,
    with_plain: bool = True,
    **settings: Any,
) -> Case:
    """An agent in an experiment: it is trained here and plays when it is measured."""
    agent = bb.make_agent(name, **parameters)
    assert isinstance(agent, CompiledAgent)
    train(agent, experiment.prior, experiment.task, seed=0)
    return Case(
        topic,
        title,
        "µs",
        sample=lambda: decision_microseconds(agent, experiment),
        bound=bound_of(agent, experiment),
        plain=plain_of(agent, experiment) if with_plain else None,
        **settings,
    )


def _table(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """The rows of a file by agent and prior."""
    with path.open() as file:
        return {(row["agent"], row["prior"]): row for row in csv.DictReader(file)}
