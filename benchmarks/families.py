"""Agents under priors of other families, beside a flat one: times by the number of hypotheses.

The hypotheses are draws of GC's distribution. The tied prior is GC's, with a group per pair. So all
priors have one size. Times are processor time, which hardly depends on what else the machine does.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

import brlbench as bb
from brlbench.agents.base import CompiledAgent
from brlbench.beliefs.base import Family
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.beliefs.hypotheses import Hypotheses
from brlbench.beliefs.tied import TiedDirichlet
from brlbench.protocol.training import train
from brlbench.streams import generator

from .measure import Case, processor_microseconds

_HYPOTHESES = (10, 1_000, 100_000)
_AGENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("psrl", {"resample": 0.0}),  # nearly all that is left is observing
    ("psrl", {}),
    ("epsilon-greedy", {}),
    ("bamcp", {"simulations": 500}),
)


def cases(quick: bool) -> Iterator[Case]:
    """Each agent under each prior."""
    flat = bb.distribution("GC")
    priors: dict[str, Family] = {"flat": flat, "tied": as_tied(flat)}
    for number in _HYPOTHESES[: 1 if quick else None]:
        rngs = [generator("benchmark hypotheses", i) for i in range(number)]
        priors[f"{number:,} hypotheses"] = Hypotheses(flat.draw(rngs))
    for name, parameters in _AGENTS:
        for title, prior in priors.items():
            experiment = bb.Experiment(prior, "GC", num_mdps=4, horizon=5 if quick else 250)
            yield _case(f"{name}{parameters or ''}, {title}", name, parameters, experiment)


def _case(title: str, name: str, parameters: dict[str, Any], experiment: bb.Experiment) -> Case:
    agent = bb.make_agent(name, **parameters)
    assert isinstance(agent, CompiledAgent)
    train(agent, experiment.prior, experiment.task, seed=0)
    return Case("families", title, "µs", sample=lambda: processor_microseconds(agent, experiment))


def as_tied(flat: FlatDirichlet) -> TiedDirichlet:
    """A flat prior as a tied one, with a group per pair."""
    table, pairs = flat.counts, flat.counts.num_pairs
    lengths = np.diff(table.row_start)
    outcome = np.arange(len(table.values)) - table.row_start[table.pair]
    counts, next_state = np.zeros((2, pairs, lengths.max()))
    counts[table.pair, outcome], next_state[table.pair, outcome] = table.values, table.next_state
    shape = table.shape[:2]
    return TiedDirichlet(
        counts,
        np.arange(pairs).reshape(shape),
        next_state.astype(np.int64).reshape(*shape, -1),
        flat.rewards,
        flat.start,
    )
