"""How many decisions end after their deadline, in wall time and in processor time.

    python -m benchmarks.deadlines [--mdps 4] [--loops 0,8] [--deadlines 50us,500us]

Agents that stop early play GC under deadlines, alone and beside processes that do nothing but keep
the cores busy. A deadline is kept by the wall clock, so a decision that waits for a core ends late
whatever the agent does. Its processor time, measured here decision by decision, leaves waiting out:
only decisions late in both computed for too long. Reading the processor's clock takes as long as
many a decision, so experiments don't; the time of two readings is subtracted here.

"Waited" is the share of the time that the agent was ready and waited for a core. Where other
programs run, `chrt --fifo 10 python -m benchmarks.deadlines --loops 0` has a core of its own.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

import brlbench as bb
from brlbench import streams
from brlbench.agents.base import CompiledAgent
from brlbench.arguments import format_seconds, parse_seconds
from brlbench.builders.model import build_environment, build_tables, copy
from brlbench.kernels.arrays import copy_vector
from brlbench.kernels.jit import kernel
from brlbench.kernels.loop.clock import cpu_time, wall_time
from brlbench.kernels.loop.environment import Environment, Tables, enter, first_state, step
from brlbench.kernels.loop.trajectory import act, observe, reset
from brlbench.kernels.types import Integers, Words
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.machine import Waiting

AGENTS = ("bamcp", "bfs3")
"""The agents that stop early."""
_SIMULATIONS = 1_000_000  # more than the deadlines allow
_MUCH = 1.1  # a decision is much too late beyond this multiple of its deadline
_READINGS = 10_000


class Times(NamedTuple):
    """Nanoseconds of decisions, and the share of the time that they waited for a core."""

    wall: Integers  # [n, T]
    processor: Integers  # [n, T]
    waited: float


class Late(NamedTuple):
    """Shares of decisions past a deadline."""

    wall: float
    processor: float  # among them, those that computed for too long
    much: float  # those that computed for more than 1.1 times the deadline


@kernel
def _play(
    agent: Any,
    env: Environment,
    tables: Tables,
    mdp: int,  # in the tables
    seed: Words,  # [4]
    noise: np.uint64,
    wall: Integers,  # [T]
    processor: Integers,  # [T]
) -> None:
    """Play one MDP as `trajectory.play` does, and read both clocks around each decision."""
    enter(env, tables, mdp)
    copy_vector(agent.rng, seed)
    x = first_state(env, noise)
    for t in range(len(wall)):
        ran = cpu_time()
        before = wall_time()
        if t == 0:
            reset(agent, x)
        u = act(agent, x)
        wall[t] = wall_time() - before
        processor[t] = cpu_time() - ran
        y, r = step(env, noise, x, u)
        ran = cpu_time()
        before = wall_time()
        observe(agent, x, u, y, r)
        wall[t] += wall_time() - before
        processor[t] += cpu_time() - ran
        x = y


@kernel
def _read_clocks(processor: Integers) -> None:
    """Processor time that `_play` measures for a decision that takes none."""
    for i in range(len(processor)):
        processor[i] = 0
        for _ in range(2):
            ran = cpu_time()
            before = wall_time()
            if wall_time() >= before:
                processor[i] += cpu_time() - ran


def measure(agent: CompiledAgent, experiment: Experiment) -> Times:
    """The times of all decisions of a trained agent."""
    shape = (experiment.num_mdps, experiment.horizon)
    wall, processor = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    env, tables = build_environment(experiment.mdps), build_tables(experiment.mdps)
    arrays = copy(agent.arrays)
    keys = streams.keys(("deadlines",), experiment.numbers_of(range(experiment.num_mdps)))
    seeds = streams.first_words(keys)
    readings = np.zeros(_READINGS, np.int64)
    _read_clocks(readings)
    waiting = Waiting()
    for i, noise in enumerate(experiment.noise_words):
        _play(arrays, env, tables, i, seeds[i], noise, wall[i], processor[i])
    return Times(wall, processor - int(np.median(readings)), waiting.share())


def late(times: Times, deadline: float) -> Late:
    """The shares of decisions past a deadline in seconds."""
    limit = deadline * 1e9
    is_late = times.wall > limit
    return Late(
        wall=float(is_late.mean()),
        processor=float((is_late & (times.processor > limit)).mean()),
        much=float((is_late & (times.processor > _MUCH * limit)).mean()),
    )


@contextmanager
def busy_loops(number: int) -> Iterator[None]:
    """Processes that keep cores busy."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def row(name: str, deadline: float, loops: int, num_mdps: int) -> str:
    """A row of the table."""
    experiment = bb.Experiment("GC", num_mdps=num_mdps, deadline=deadline)
    agent = bb.make_agent(name, simulations=_SIMULATIONS)
    assert isinstance(agent, CompiledAgent)
    agent.train(experiment.prior, experiment.task, np.random.default_rng(0))
    measure(agent, experiment.replace(horizon=2))  # compiles
    with busy_loops(loops):
        times = measure(agent, experiment)
    shares = late(times, deadline)
    cells = (name, format_seconds(deadline), str(loops), f"{times.waited:.0%}")
    return f"| {' | '.join((*cells, *(f'{share:.2%}' for share in shares)))} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print a table in Markdown."""
    options = _options(arguments)
    print("| agent | deadline | busy loops | waited | late | of these by computing | by over 10% |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in AGENTS:
        for deadline in options.deadlines:
            for loops in options.loops:
                print(row(name, deadline, loops, options.mdps), flush=True)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.deadlines", description=__doc__)
    parser.add_argument("--mdps", type=int, default=4)
    parser.add_argument(
        "--loops", type=lambda text: [int(word) for word in text.split(",")], default=[0, 8]
    )
    parser.add_argument(
        "--deadlines",
        type=lambda text: [parse_seconds(word) for word in text.split(",")],
        default=[50e-6, 500e-6],
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
