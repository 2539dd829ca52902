"""Helpers of tests of PSRL, BOSS and SBOSS: priors, times of draws, comparisons of returns."""

from typing import Any

import numpy as np
from benchmarks.plain_sampling import PlainSampling

from brlbench.agents import describe
from brlbench.agents.base import Agent, Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment


def small_priors() -> list[FlatDirichlet]:
    """One with at most two outcomes per pair, one with more of them and unequal counts."""
    rng = np.random.default_rng(8)
    counts = rng.uniform(0.2, 2, (3, 2, 3))
    counts[1, 0, 2] = 0
    return [distribution("GC"), FlatDirichlet(counts, rng.uniform(-1, 2, counts.shape))]


def draws(agent: Any, prior: FlatDirichlet, transitions: list[tuple[int, int, int]]) -> list[int]:
    """The decisions at which an agent draws rows, if it observes these transitions."""
    agent.train(prior, Task(0.95, len(transitions)), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(1))
    arrays = agent.arrays
    mdp = arrays.merged.mdp if hasattr(arrays, "merged") else arrays.mdp
    rows, times = mdp.rows.probability, []
    for time, (x, u, y) in enumerate(transitions):
        before = rows.copy()
        agent.act(x)
        if (rows != before).any():
            times.append(time)
        agent.observe(x, u, y, 0.0)
    return times


def assert_same_law(agent: Agent, plain: PlainSampling, num_mdps: int) -> None:
    """Two agents have the same mean return, by the differences on the same MDPs."""
    for prior in small_priors():
        experiment = Experiment(prior, prior, num_mdps, discount=0.7, horizon=16)
        difference = evaluate(agent, experiment).returns - evaluate(plain, experiment).returns
        z = difference.mean() / (difference.std(ddof=1) / np.sqrt(len(difference)))
        print(f"{describe(agent)} against a plain one: z = {z:.2f}")
        assert abs(z) < 4
