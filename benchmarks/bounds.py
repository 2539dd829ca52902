"""Lower bounds: tiny compiled loops that do only what can't be avoided.

| agent | what its bound counts per decision |
|---|---|
| all | two intervals between readings of the clock, which every recorded time contains |
| random | one random word |
| epsilon-greedy, soft-max, vdbe, beb, bolt, vbrb, mbie-eb, bonus, eubrl, spread, sparse-prior,
  formula, ann | for each model, S^2 products and sums: the rank-one update of the inverse; above
  `MAX_INVERSE_STATES`, one look at every count instead |
| lookahead | the same for the real transition, and nothing for those that it looks at |
| bamcp | simulations * depth steps, each with one random word and the scan of one row of counts |
| bfs3 | the same for the steps of the roll-outs that were made in one trajectory |
| psrl, opsrl, hindsight, ids,
  vpi | a random word for each possible transition, as often as it draws an MDP |
| others | nothing but the clock |

An exploring decision needs no rank-one update, and zeros are left out of it: agents that explore
much, or models with many zeros, can come below this bound. So can bamcp, which picks a ball or uses
a table instead of scanning.
"""

import numpy as np
from numpy.typing import NDArray

from brlbench.agents import describe
from brlbench.agents.base import CompiledAgent, new_rng
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.builders.model import MAX_INVERSE_STATES, build_counts, build_environment
from brlbench.kernels.counts import Counts
from brlbench.kernels.jit import kernel
from brlbench.kernels.loop.clock import wall_time
from brlbench.kernels.loop.environment import first_state_once, step_once
from brlbench.kernels.practice import draw_next
from brlbench.kernels.random.rng import next_word
from brlbench.kernels.types import Words
from brlbench.protocol.experiment import Experiment

from .measure import Measurement, own_microseconds

Floats = NDArray[np.float64]

_STEPS = 1000
_MODEL_AGENTS = (
    "epsilon-greedy",
    "soft-max",
    "vdbe",
    "beb",
    "bolt",
    "vbrb",
    "mbie-eb",
    "bonus",
    "eubrl",
    "spread",
    "sparse-prior",
    "formula",
    "lookahead",
    "ann",
)


def bound_of(agent: CompiledAgent, experiment: Experiment) -> Measurement:
    """The lower bound of a trained agent's decision in an experiment, in microseconds."""
    prior, (name, parameters) = experiment.prior, describe(agent)
    if name == "random":
        work = random_words(1)
    elif name in _MODEL_AGENTS:
        models = len(agent.arrays.models.q) if name in ("formula", "ann") else 1
        work = solving(prior, models)
    elif name == "bamcp":
        work = steps(prior, parameters["simulations"] * parameters["depth"])
    elif name == "bfs3":
        work = steps(prior, rollouts_made(agent, experiment) * parameters["depth"])
    elif name in ("hindsight", "ids", "vpi"):
        work = random_words(parameters["samples"] * len(prior.counts.values))
    elif name in ("psrl", "opsrl"):
        often = parameters["resample"] or 1 / (parameters["every"] or 1 / (1 - experiment.discount))
        work = random_words(often * parameters.get("samples", 1) * len(prior.counts.values))
    else:
        return two_intervals
    return lambda: two_intervals() + work()


def two_intervals() -> float:
    """Two intervals between readings of the clock with nothing between."""
    return 2 * own_microseconds(read_clock)


def random_words(number: float) -> Measurement:
    """Random words, one after the other."""
    rng = seeded()
    return lambda: number * own_microseconds(lambda repeats: draw_words(rng, repeats))


def solving(prior: FlatDirichlet, models: int) -> Measurement:
    """The work to keep models solved."""
    states = prior.num_states
    if states > MAX_INVERSE_STATES:
        counts, value = build_counts(prior, 1), np.ones(states)
        return lambda: models * own_microseconds(lambda repeats: look(counts, value, repeats))
    matrix, vector = np.eye(states), np.full(states, 1e-9)
    return lambda: models * own_microseconds(lambda repeats: rank_one(matrix, vector, repeats))


def steps(prior: FlatDirichlet, number: float) -> Measurement:
    """Steps in MDPs of a prior, without learning."""
    counts, rng = build_counts(prior, 1), seeded()

    def measured() -> float:
        return own_microseconds(lambda repeats: walk(counts, rng, repeats * _STEPS)) / _STEPS

    return lambda: number * measured()


def rollouts_made(agent: CompiledAgent, experiment: Experiment) -> float:
    """Roll-outs that bfs3 makes per decision, on average over one trajectory."""
    env, noise = build_environment(experiment.mdp(0)), experiment.noise_words[0]
    x = first_state_once(env, noise)
    agent.start(x, np.random.default_rng(0))
    made = 0
    for _ in range(experiment.horizon):
        u = agent.act(x)
        made += int(agent.arrays.made[0])
        y, reward = step_once(env, noise, x, u)
        agent.observe(x, u, y, reward)
        x = y
    return made / experiment.horizon


def seeded() -> Words:
    """A generator that has been seeded."""
    rng = new_rng()
    rng[:] = [1, 2, 3, 4]
    return rng


@kernel
def read_clock(repeats: int) -> int:
    """Read the clock again and again."""
    last = 0
    for _ in range(repeats):
        last = max(last, wall_time())
    return last


@kernel
def draw_words(rng: Words, repeats: int) -> np.uint64:
    """Draw random words."""
    total = np.uint64(0)
    for _ in range(repeats):
        total ^= next_word(rng)
    return total


@kernel
def rank_one(matrix: Floats, vector: Floats, repeats: int) -> None:
    """Add an outer product to a matrix [S, S]."""
    for _ in range(repeats):
        for i in range(len(vector)):
            weight = vector[i]
            for j in range(len(vector)):
                matrix[i, j] += weight * vector[j]


@kernel
def look(counts: Counts, value: Floats, repeats: int) -> float:
    """The sum of all counts times values."""
    total = 0.0
    for _ in range(repeats):
        for entry in range(counts.pool_end[0]):
            total += counts.entry_count[entry] * value[counts.entry_next[entry]]
    return total


@kernel
def walk(counts: Counts, rng: Words, repeats: int) -> int:
    """Go from state to state, taking the actions in turn."""
    x, u = 0, 0
    for _ in range(repeats):
        x = draw_next(counts, x * counts.num_actions + u, rng)
        u = u + 1 if u + 1 < counts.num_actions else 0
    return x
