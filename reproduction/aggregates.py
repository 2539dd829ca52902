"""Check the intervals of aggregates: how often they hold the truth.

python -m reproduction.aggregates     prints the table of docs/statistics.md; takes some minutes

Agents play many MDPs of three problems, which then stand for all MDPs there are: simulated
experiments draw from them, with replacement, and the aggregates of all returns are the truth.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

import brlbench as bb
from brlbench import streams
from brlbench.analysis import aggregates
from brlbench.analysis.scores import normalised_returns
from brlbench.mdps.sparse import Floats
from brlbench.report.data import ExperimentData

from .coverage import AGENTS, PROBLEMS, SEED

NUM_MDPS, SIMULATIONS, RESAMPLES = 20_000, 2000, 199
SIZES = {  # numbers of MDPs in simulated experiments
    "50": [50, 50, 50],
    "200": [200, 200, 200],
    "100, 200, 500": [100, 200, 500],
}

Aggregate = Callable[[Sequence[Floats], int, int], aggregates.Estimate]
"""An aggregate of returns [n, 2] per experiment, of an agent and a rival; a seed, resamples."""


def _share_above_half(returns: Sequence[Floats], seed: int, resamples: int) -> aggregates.Estimate:
    found = aggregates.performance_profile([x[:, 0] for x in returns], [0.5], seed, resamples)
    return aggregates.Estimate(*(float(line[0]) for line in found))


AGGREGATES: dict[str, Aggregate] = {
    "interquartile mean": lambda x, *how: aggregates.interquartile_mean(
        [each[:, 0] for each in x], *how
    ),
    "mean": lambda x, *how: aggregates.mean_score([each[:, 0] for each in x], *how),
    "optimality gap": lambda x, *how: aggregates.optimality_gap(
        [each[:, 0] for each in x], 1.0, *how
    ),
    "share above 0.5": _share_above_half,
    "probability of improvement": lambda x, *how: aggregates.probability_of_improvement(
        [each[:, 0] for each in x], [each[:, 1] for each in x], *how
    ),
}


def coverage(
    population: Sequence[Floats],
    sizes: Sequence[int],
    simulations: int = SIMULATIONS,
    resamples: int = RESAMPLES,
    aggregates: Mapping[str, Aggregate] = AGGREGATES,
) -> dict[str, float]:
    """How often the interval of each aggregate holds the aggregate of the population.

    Args:
        population: one array [N, 2] per experiment: normalised returns of an agent and a rival.
        sizes: how many MDPs are drawn in each experiment.
        simulations: how often that is done.
        resamples: of the bootstrap.
        aggregates: which aggregates, by name.
    """
    truths = {name: aggregate(population, 0, 1).value for name, aggregate in aggregates.items()}
    rng = streams.generator("coverage of aggregates", *sizes)
    held = dict.fromkeys(aggregates, 0)
    for number in range(simulations):
        drawn = [
            x[rng.integers(0, len(x), size=size)] for x, size in zip(population, sizes, strict=True)
        ]
        for name, aggregate in aggregates.items():
            found = aggregate(drawn, number, resamples)
            held[name] += found.low <= truths[name] <= found.high
    return {name: times / simulations for name, times in held.items()}


def played() -> dict[str, list[Floats]]:
    """The normalised returns [N] of each agent in each problem."""
    returns: dict[str, list[Floats]] = {name: [] for name in AGENTS}
    for problem in PROBLEMS:
        experiment = bb.Experiment(problem, num_mdps=NUM_MDPS, seed=SEED)
        scale = ExperimentData(problem, experiment.hash, experiment.settings(), []).scale
        assert scale is not None  # both of its ends are shipped
        for name, parameters in AGENTS.items():
            agent = bb.make_agent(name, **parameters)
            result = bb.evaluate(agent, experiment, workers=None)
            returns[name].append(normalised_returns(result, *scale))
    return returns


def main() -> None:
    """Print a row per agent, rival and numbers of MDPs."""
    returns = played()
    print("| agent, rival | MDPs |", " | ".join(AGGREGATES), "|")
    print("|---|---|" + "---:|" * len(AGGREGATES))
    for agent, rival in (("random", "beb"), ("epsilon-greedy", "beb")):
        pairs = zip(returns[agent], returns[rival], strict=True)
        population = [np.stack(pair, axis=1) for pair in pairs]
        for title, sizes in SIZES.items():
            shares = coverage(population, sizes).values()
            cells = " | ".join(f"{100 * share:.1f}" for share in shares)
            print(f"| {agent}, {rival} | {title} | {cells} |")


if __name__ == "__main__":
    main()
