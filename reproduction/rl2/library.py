"""brlbench's own agents on `RandomMDP` and `Bandit`, with its own loop and random numbers.

They check the replay by other code, and play what the published agents did not: with the right
prior, with a plan for every decision, with exact Gittins indices.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars

import brlbench as bb

from .replay import ACTIONS, ARMS, EPISODE, LENGTHS, STATES, frame

NUM_MDPS = 4000
LIBRARY = "brlbench"
TRUE, WRONG = "RandomMDP", "RandomMDP:mean=0"
OPSRL_SAMPLES, FEW_SAMPLES = 14, 5
DISCOUNT = 0.99  # of Gittins indices; sums are not discounted


def vague() -> bb.FlatDirichlet:
    """The prior of the published greedy agents: counts and precision of 10⁻⁴."""
    counts = np.full((STATES, ACTIONS, STATES), 1e-4)
    return bb.FlatDirichlet(counts, bb.NormalRewards(0.0, 1e-4, 1.0), start=0)


BETAS = (8.0, 16.0, 32.0)  # of BEB


def agents() -> Iterator[tuple[str, float | None, Any, bb.Agent]]:
    """Names, parameters if there are several, priors and agents for MDPs.

    Parameters of published agents are those that were best in the replay.
    """
    ucrl2 = {"scale": 0.3981, "replan": "episode"}
    yield "optimal", None, TRUE, bb.make_agent("optimal")
    yield "random", None, TRUE, bb.make_agent("random")
    yield "psrl", None, WRONG, bb.make_agent("psrl")
    yield "opsrl", None, WRONG, bb.make_agent("opsrl", samples=OPSRL_SAMPLES)
    yield "ucrl2", None, vague(), bb.make_agent("ucrl2", rows="carried", **ucrl2)
    yield "ucrl2, copied rows", None, vague(), bb.make_agent("ucrl2", rows="fresh", **ucrl2)
    yield (
        "epsilon-greedy",
        None,
        vague(),
        bb.make_agent("epsilon-greedy", epsilon=0.1, replan="episode"),
    )
    yield "greedy", None, vague(), bb.make_agent("epsilon-greedy", epsilon=0, replan="episode")
    yield "psrl, right prior", None, TRUE, bb.make_agent("psrl")
    yield "opsrl, right prior", None, TRUE, bb.make_agent("opsrl", samples=FEW_SAMPLES)
    by_episode = bb.make_agent("epsilon-greedy", epsilon=0, replan="episode")
    yield "greedy, right prior", None, TRUE, by_episode
    yield "greedy, right prior, by step", None, TRUE, bb.make_agent("epsilon-greedy", epsilon=0)
    for beta in BETAS:
        yield "beb, right prior, by step", beta, TRUE, bb.make_agent("beb", beta=beta)


def bandit_agents() -> Iterator[tuple[str, dict[str, Any], bb.Agent]]:
    """Names, arguments of experiments and agents for bandits."""
    undiscounted = {"discount": 1.0, "episode": 1}
    yield "random", undiscounted, bb.make_agent("random")
    yield "ts", undiscounted, bb.make_agent("psrl")
    yield "greedy", undiscounted, bb.make_agent("epsilon-greedy", epsilon=0)
    yield "gittins", {"discount": DISCOUNT}, bb.make_agent("gittins", accuracy=1e-3)


def play(num_mdps: int = NUM_MDPS) -> Iterator[polars.DataFrame]:
    """All agents; the sums of rewards at the tables' lengths."""
    horizon = LENGTHS["mdps"][-1] * EPISODE
    for name, parameter, prior, agent in agents():
        experiment = bb.Experiment(
            prior, TRUE, num_mdps=num_mdps, discount=1.0, horizon=horizon, episode=EPISODE, seed=0
        )
        yield _frame("mdps", name, parameter, None, agent, experiment, EPISODE)
    for arms in ARMS:
        for name, arguments, agent in bandit_agents():
            experiment = bb.Experiment(
                f"Bandit:arms={arms}",
                num_mdps=num_mdps,
                horizon=LENGTHS["bandits"][-1],
                seed=0,
                **arguments,
            )
            yield _frame("bandits", name, None, arms, agent, experiment, 1)


def _frame(
    table: str,
    name: str,
    parameter: float | None,
    arms: int | None,
    agent: bb.Agent,
    experiment: bb.Experiment,
    steps: int,
) -> polars.DataFrame:
    result = bb.evaluate(agent, experiment, progress=False)
    ends = np.array(LENGTHS[table]) * steps - 1
    sums = result.rewards[:, 0].cumsum(axis=1)[:, ends]
    return frame(table, LIBRARY, name, parameter, arms, sums)
