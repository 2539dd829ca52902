"""Check scores and their intervals, plain and adjusted: how often they hold the truth.

python -m reproduction.coverage     prints the tables of docs/statistics.md; takes some minutes

Each agent plays many MDPs, which then stand for all MDPs there are: simulated experiments draw from
them with replacement, and the mean of all returns is the true score.
"""

import sys
from typing import NamedTuple

import numpy as np

import brlbench as bb
from brlbench import streams
from brlbench.mdps.sparse import Floats
from brlbench.results.adjusted import Adjusted, StartValues, adjust
from brlbench.results.score import Score

NUM_MDPS, SEED = 50_000, 77
EXPERIMENTS = {20: 4000, 50: 4000, 100: 4000, 200: 2000, 500: 2000}  # by their number of MDPs
PROBLEMS = ("GC", "GDL", "Grid")
PRIORS = {prefix + problem: problem for prefix in ("", "uniform:") for problem in PROBLEMS}
"""The six experiments of the paper: the test distribution, by the prior."""

AGENTS: dict[str, dict[str, float]] = {
    "random": {},
    "epsilon-greedy": {"epsilon": 0.1},
    "beb": {"beta": 1.0},
}


class Population(NamedTuple):
    """All MDPs that simulated experiments draw from."""

    returns: Floats  # [N]
    noise: Floats  # [N, F]
    start_values: Floats  # [N, F]
    expected: StartValues

    @classmethod
    def of(cls, result: bb.Result) -> "Population":
        """The MDPs of a result; in the population, noise has mean zero."""
        noise, start = (result.by_mdp(each).mean(axis=1) for each in ("noise", "start_values"))
        covariance = np.zeros((start.shape[1],) * 2).tolist()
        exact = StartValues(start.mean(axis=0).tolist(), covariance, len(start))
        return cls(result.returns, noise - noise.mean(axis=0), start, exact)

    def draw(self, rng: np.random.Generator, number: int) -> tuple[Floats, Adjusted]:
        """The returns of a simulated experiment, and its adjusted score."""
        drawn = rng.integers(0, len(self.returns), size=number)
        returns = self.returns[drawn]
        luck = self.noise[drawn], self.start_values[drawn]
        return returns, adjust(returns, *luck, self.expected)


class Checked(NamedTuple):
    """What simulated experiments with one number of MDPs show."""

    coverage: float  # share of adjusted intervals that hold the true score
    plain_coverage: float  # the same for mean returns, two standard errors
    bias: float  # of adjusted scores, in standard deviations of their errors
    gain: float  # how much narrower adjusted intervals are, on average


def check(population: Population, number: int, experiments: int) -> Checked:
    """Simulate experiments."""
    rng = streams.generator("coverage", number)
    errors, widths, plain_errors, plain_widths = np.empty((4, experiments))
    truth = population.returns.mean()
    for i in range(experiments):
        returns, adjusted = population.draw(rng, number)
        plain = Score.of(returns)
        errors[i], widths[i] = adjusted.mean - truth, adjusted.ci95
        plain_errors[i], plain_widths[i] = plain.mean - truth, plain.ci95
    return Checked(
        coverage=float((np.abs(errors) <= widths).mean()),
        plain_coverage=float((np.abs(plain_errors) <= plain_widths).mean()),
        bias=float(errors.mean() / errors.std()),
        gain=float(plain_widths.mean() / widths.mean()),
    )


def main() -> None:
    """Print a table of coverage: a row per experiment, agent and kind of score."""
    print(f"| prior | agent | score | {' | '.join(map(str, EXPERIMENTS))} | narrower at 500 |")
    print("|---|---|---|" + "---:|" * (len(EXPERIMENTS) + 1))
    for prior, problem in PRIORS.items():
        experiment = bb.Experiment(prior, problem, num_mdps=NUM_MDPS, seed=SEED)
        for algorithm, parameters in AGENTS.items():
            population = Population.of(
                bb.evaluate(bb.make_agent(algorithm, **parameters), experiment)
            )
            found = [check(population, *each) for each in EXPERIMENTS.items()]
            for kind, shares, gain in (
                ("mean return", [each.plain_coverage for each in found], ""),
                ("adjusted", [each.coverage for each in found], f"{found[-1].gain:.1f}"),
            ):
                cells = " | ".join(f"{100 * share:.1f}" for share in shares)
                print(f"| {prior} | {algorithm} | {kind} | {cells} | {gain} |", flush=True)
            largest = max((each.bias for each in found), key=abs)
            print(f"bias of {algorithm}: {largest:+.3f} errors", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
