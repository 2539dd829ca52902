"""How times grow: with states, actions, simulations, MDPs and workers.

Each series gets an exponent: the slope of its points in logarithms. A time that grows with the
square of the number of states has the exponent 2; one that halves with twice the workers has -1.

Sparse problems have up to 4 next states per state and action. Dense ones have all, and all their
counts differ. In both, arriving in the first state pays 1.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

import brlbench as bb
from brlbench.agents.base import CompiledAgent
from brlbench.arguments import num_cores
from brlbench.mdps.sparse import SparseTable
from brlbench.protocol.training import train

from .agents import agent_case
from .bounds import bound_of
from .measure import Case, own_seconds, wall_seconds

_SUCCESSORS = 4
_DENSE_MOST = 500  # states
_PLAIN_MOST = 200  # states that plain NumPy is tried with
_MODEL: dict[str, Any] = {"epsilon": 0.1}
_SEARCH: dict[str, Any] = {"simulations": 100, "depth": 15}
_FORWARD: dict[str, Any] = {"simulations": 100, "branching": 5, "depth": 10}
_AGENTS = (("epsilon-greedy", _MODEL), ("bamcp", _SEARCH), ("bfs3", _FORWARD))
_SAMPLERS = ("psrl", "boss", "sboss", "vpi")  # they solve sampled MDPs
_FEW = 20  # decisions of these


def cases(quick: bool) -> Iterator[Case]:
    """All series; the quick ones have their two smallest sizes."""
    points = 2 if quick else None
    horizon = 5 if quick else 100
    states = (5, 20, 100, 500, 1000, 2000)
    for name, parameters in _AGENTS:
        for problem in (sparse, dense):
            sizes = [size for size in states if problem is sparse or size <= _DENSE_MOST]
            for size in sizes[:points]:
                series = f"{name}, states, {problem.__name__}"
                experiment = _experiment(problem(size, 4), horizon)
                yield _point(series, size, name, parameters, experiment)
        for size in (2, 4, 8, 16, 32)[:points]:
            experiment = _experiment(sparse(50, size), horizon)
            yield _point(f"{name}, actions", size, name, parameters, experiment)
    for name in _SAMPLERS:
        for size in (20, 100, _DENSE_MOST)[:points]:
            experiment = _experiment(dense(size, 4), min(horizon, _FEW))
            yield _point(f"{name}, states, dense", size, name, {}, experiment)
    grid = bb.Experiment("Grid", "Grid", num_mdps=1, horizon=horizon)
    yield from _parameter("bamcp", _SEARCH, "simulations", (10, 100, 1000, 10000)[:points], grid)
    yield from _parameter("bfs3", _FORWARD, "simulations", (5, 50, 500, 5000)[:points], grid)
    yield from _parameter("bfs3", _FORWARD, "branching", (1, 2, 5, 10, 20)[:points], grid)
    yield from _mdps((10, 100, 1000, 10000)[:points], horizon)
    yield from _workers(2 if quick else 40, horizon)


def sparse(states: int, actions: int) -> bb.FlatDirichlet:
    """Few next states, drawn at random."""
    rng = np.random.default_rng(0)
    shape = (states, actions, _SUCCESSORS)
    state, action, _ = (axis.ravel() for axis in np.indices(shape))
    following = rng.integers(states, size=shape).ravel()
    following[state == 0] = rng.integers(states)  # the first state can always be left
    ones, first = np.ones(len(state)), following == 0
    places = (states, actions, state, action, following)
    rewarded = (states, actions, state[first], action[first], following[first], ones[first])
    return bb.FlatDirichlet(
        SparseTable.from_entries(*places, ones, what="counts"),
        SparseTable.from_entries(*rewarded, what="rewards"),
    )


def dense(states: int, actions: int) -> bb.FlatDirichlet:
    """Every next state is possible."""
    counts = np.random.default_rng(0).uniform(0.5, 1.5, (states, actions, states))
    return bb.FlatDirichlet(counts, np.eye(1, states)[0])


def _experiment(prior: bb.FlatDirichlet, horizon: int) -> bb.Experiment:
    return bb.Experiment(prior, prior, num_mdps=1, horizon=horizon)


def _point(
    series: str, size: int, name: str, parameters: dict[str, Any], experiment: bb.Experiment
) -> Case:
    """A decision of an agent, as a point of a series."""
    return agent_case(
        "scaling",
        f"{series} {size}",
        name,
        parameters,
        experiment,
        with_plain=experiment.prior.num_states <= _PLAIN_MOST,
        series=series,
        size=size,
    )


def _parameter(
    name: str,
    parameters: dict[str, Any],
    varied: str,
    sizes: Iterable[int],
    experiment: bb.Experiment,
) -> Iterator[Case]:
    for size in sizes:
        given = parameters | {varied: size}
        yield _point(f"{name}, {varied}", size, name, given, experiment)


def _mdps(sizes: Iterable[int], horizon: int) -> Iterator[Case]:
    for size in sizes:
        experiment = bb.Experiment("GC", "GC", num_mdps=size, horizon=horizon)
        yield _evaluation("MDPs", size, "epsilon-greedy", _MODEL, experiment, workers=1)


def _workers(num_mdps: int, horizon: int) -> Iterator[Case]:
    experiment = bb.Experiment("Grid", "Grid", num_mdps=num_mdps, horizon=horizon)
    for size in range(1, num_cores() + 1):
        yield _evaluation("workers", size, "bamcp", _SEARCH, experiment, workers=size)


def _evaluation(
    varied: str,
    size: int,
    name: str,
    parameters: dict[str, Any],
    experiment: bb.Experiment,
    workers: int,
) -> Case:
    """A whole evaluation; its bound is that of its decisions, shared by the workers."""
    agent = bb.make_agent(name, **parameters)
    assert isinstance(agent, CompiledAgent)
    training = train(agent, experiment.prior, experiment.task, seed=0).training
    bb.evaluate(agent, experiment, workers, training)  # draws the MDPs
    decision, decisions = bound_of(agent, experiment), experiment.num_mdps * experiment.horizon
    clock = own_seconds if workers == 1 else wall_seconds
    return Case(
        "scaling",
        f"{name}, {varied} {size}",
        "s",
        lambda: clock(lambda: bb.evaluate(agent, experiment, workers, training)),
        bound=lambda: decision() * 1e-6 * decisions / workers,
        series=f"{name}, {varied}",
        size=size,
    )
