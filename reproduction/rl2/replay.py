"""Play the tables' rows again: the authors' MDPs and bandits, from their seeds, and their agents.

The authors' programs (in florensacc/rllab-curriculum, `sandbox/rocky/neural_learner`) seed NumPy
with 0 to 999, and draw an MDP or a bandit from each seed. The numbers that decide all else come
from the seed again, or follow in a bandit. A longer play begins with the shorter ones, so one play
gives the sums at all lengths.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars

from brlbench.kernels.types import Floats

from . import bandits, tabular
from .bandits import Strategy
from .legacy import Stream, stream
from .tabular import Rule

STATES, ACTIONS, EPISODE = 10, 5, 10
LENGTHS = {"mdps": (10, 25, 50, 75, 100), "bandits": (10, 100, 500)}
ARMS = (5, 10, 50)
SEEDS = 1000
BLOCK = 25  # seeds whose mean is stored
SCALINGS = tuple(float(x) for x in np.exp(np.linspace(np.log(1e-4), 0.0, 21)))
TENTHS = tuple(x * 0.1 for x in range(11))
SAMPLES = tuple(range(1, 21))
# How the agents of a variant differ from the published ones.
PUBLISHED, RIGHT, COPIED, COUNTED = "published", "right prior", "copied rows", "all counted"


@dataclass(frozen=True)
class Row:
    """One agent of a table, with one parameter."""

    table: str  # mdps or bandits
    variant: str
    agent: str
    parameter: float | None
    plays: Rule | Strategy
    arms: int | None = None  # of bandits


def published_rules() -> Iterator[tuple[str, float | None, Rule]]:
    """The agents for MDPs, with the parameters that the authors tried."""
    vague = Rule(tabular.GREEDY, weight=1e-4, precision=1e-4)
    yield "random", None, vague._replace(epsilon=1.0)
    yield "psrl", None, Rule(tabular.SAMPLED)
    for number in SAMPLES:
        yield "opsrl", number, Rule(tabular.SAMPLED, samples=number)
    for scaling in SCALINGS:
        yield (
            "ucrl2",
            scaling,
            Rule(tabular.OPTIMISTIC, weight=1e-5, precision=1e-4, scaling=scaling),
        )
    for scaling in SCALINGS:
        yield "beb", scaling, Rule(tabular.BONUS, scaling=scaling)
    for epsilon in TENTHS[1:]:
        yield "epsilon-greedy", epsilon, vague._replace(epsilon=epsilon)
    yield "greedy", None, vague


def mdp_rows() -> Iterator[Row]:
    """All agents for MDPs, in all variants."""
    for agent, parameter, rule in published_rules():
        variants = {PUBLISHED: rule}
        if agent in ("psrl", "beb", "epsilon-greedy", "greedy"):
            variants[RIGHT] = rule._replace(weight=1.0, mean=1.0, precision=1.0)
        if agent == "ucrl2":
            variants[COPIED] = rule._replace(in_place=False)
        if agent in ("psrl", "greedy"):
            variants[COUNTED] = rule._replace(counts_last=True)
        for variant, changed in variants.items():
            yield Row("mdps", variant, agent, parameter, changed)


def bandit_rows() -> Iterator[Row]:
    """All strategies for bandits."""
    grids: dict[str, tuple[int, tuple[float | None, ...]]] = {
        "random": (bandits.RANDOM, (None,)),
        "gittins": (bandits.INDEX, (None,)),
        "ts": (bandits.THOMPSON, (None,)),
        "ucb1": (bandits.UCB1, TENTHS),
        "epsilon-greedy": (bandits.EPSILON_GREEDY, TENTHS),
        "greedy": (bandits.GREEDY, (None,)),
    }
    for arms, (agent, (kind, grid)) in product(ARMS, grids.items()):
        for parameter in grid:
            strategy = Strategy(kind, 1.0 if parameter is None else float(parameter))
            yield Row("bandits", PUBLISHED, agent, parameter, strategy, arms)


def draw_mdp(seed: int) -> tuple[Floats, Floats]:
    """The mean rewards [S, A] and the rows [S, A, S] of a seed's MDP: the second that is drawn."""
    rng = np.random.RandomState(seed)
    for _ in range(2):
        rewards = 1 + rng.normal(size=(STATES, ACTIONS))
        rows = rng.dirichlet(np.ones(STATES), size=(STATES, ACTIONS))
    return rewards, rows


def draw_bandit(seed: int, arms: int) -> tuple[Floats, Stream]:
    """The probabilities of a seed's bandit, and the stream after them."""
    numbers = stream(seed)
    rng = np.random.RandomState(seed)
    probability = rng.uniform(size=arms)
    state: Any = rng.get_state()
    numbers.key[:], numbers.position[0] = state[1:3]
    return probability, numbers


def sums(row: Row, seeds: range) -> Floats:
    """The sums of rewards [seeds, lengths]."""
    lengths = LENGTHS[row.table]
    totals = np.zeros((len(seeds), lengths[-1]))
    plan = tabular.make_plan(STATES, ACTIONS, EPISODE)
    for total, seed in zip(totals, seeds, strict=True):
        if isinstance(row.plays, Rule):
            belief = tabular.make_belief(row.plays, STATES, ACTIONS)
            tabular.play(*draw_mdp(seed), row.plays, belief, plan, stream(seed), total)
        else:
            probability, numbers = draw_bandit(seed, row.arms or 0)
            bandits.play(bandits.make_bandit(probability), row.plays, numbers, total)
    return totals[:, np.array(lengths) - 1]


def best_sums(seeds: range) -> Floats:
    """The expected sums [seeds, lengths] of who knows the MDP."""
    values = []
    for seed in seeds:
        rewards, rows = draw_mdp(seed)
        value = np.zeros(STATES)
        for _ in range(EPISODE):
            value = (rewards + rows @ value).max(axis=1)
        values.append(value[0])
    return np.outer(values, LENGTHS["mdps"])


def frame(
    table: str,
    variant: str,
    agent: str,
    parameter: float | None,
    arms: int | None,
    totals: Floats,  # [seeds, lengths]
) -> polars.DataFrame:
    """The mean of each block of seeds, by length."""
    lengths = LENGTHS[table]
    means = totals.reshape(-1, BLOCK, len(lengths)).mean(axis=1)
    return polars.DataFrame(
        {
            "table": table,
            "variant": variant,
            "agent": agent,
            "parameter": parameter,
            "arms": arms,
            "n": np.tile(lengths, len(means)),
            "block": np.repeat(np.arange(len(means)), len(lengths)),
            "mean": means.ravel(),
        },
        schema={
            **dict.fromkeys(("table", "variant", "agent"), polars.String),
            "parameter": polars.Float64,
            "arms": polars.Int16,
            "n": polars.Int16,
            "block": polars.Int16,
            "mean": polars.Float32,
        },
    )


def replay(seeds: range = range(SEEDS)) -> Iterator[polars.DataFrame]:
    """All rows of both tables."""
    yield frame("mdps", PUBLISHED, "optimal", None, None, best_sums(seeds))
    for row in [*mdp_rows(), *bandit_rows()]:
        yield frame(row.table, row.variant, row.agent, row.parameter, row.arms, sums(row, seeds))
