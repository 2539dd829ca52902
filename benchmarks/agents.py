"""Microseconds per decision of every agent, in the paper's six experiments.

Parameters are those that were measured beside the original C++ library (`original.csv`), or the
best of the paper's tables, or else the defaults.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brlbench as bb
from brlbench.agents.base import CompiledAgent
from brlbench.agents.opps_cs import OppsCs
from brlbench.agents.opps_ds import OppsDs
from brlbench.arguments import parse_parameters
from brlbench.protocol.training import train

from .bounds import bound_of
from .measure import Case, decision_microseconds
from .plain import plain_of

ORIGINAL = Path(__file__).parent / "original.csv"
"""Microseconds of processor time per decision of another program and of brlbench.

The other is the original library's, or Guez's own for `bamcp (Guez)`. Both played the same MDPs on
the same core in turn, in some rounds; `ratio` is the median, from `low` to `high`.
"""
_PUBLISHED = Path(__file__).parents[1] / "reproduction/published.csv"
HORIZON = 250
_NUM_MDPS = {
    **{"bfs3": 1, "bamcp": 2, "lookahead": 2, "sboss": 2},
    **{"boss": 10, "hindsight": 10, "ids": 3, "opsrl": 10, "vpi": 10, "psrl": 50},
}
"""MDPs that slow agents play; others play 200."""
PRIORS = ("GC", "GDL", "Grid", "uniform:GC", "uniform:GDL", "uniform:Grid")


def cases(agents: list[str] | None, priors: list[str] | None, quick: bool) -> Iterator[Case]:
    """All agents in all experiments, or some of them."""
    original, published = table(ORIGINAL), table(_PUBLISHED)
    for name in agents or bb.AGENTS:
        if issubclass(bb.AGENTS[name], OppsDs | OppsCs):  # these play as others
            continue
        if bb.AGENTS[name].example not in PRIORS:  # it plays nothing else
            continue
        for prior in priors or PRIORS:
            key = (name, prior)
            row = original.get(key) or published.get(key) or {"parameters": ""}
            yield agent_case(
                "agents",
                f"{name} {prior}",
                name,
                parse_parameters(filter(None, row["parameters"].split(";"))),
                bb.Experiment(
                    prior,
                    prior.removeprefix("uniform:"),
                    num_mdps=1 if quick else _NUM_MDPS.get(name, 200),
                    horizon=10 if quick else HORIZON,
                ),
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
    """An agent in an experiment; it is trained now and plays when it is measured."""
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


def table(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """The rows of a file by agent and prior."""
    with path.open() as file:
        return {(row["agent"], row["prior"]): row for row in csv.DictReader(file)}
