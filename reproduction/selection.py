"""How much choosing the best of many agents flatters its score and its tests on the same MDPs.

python -m reproduction.selection     prints tables of docs/statistics.md; takes some minutes

Every published row is the best of its algorithm's parameter values on one set of MDPs. Resampling
our own MDPs imitates that: `optimism` chooses the best agent on each resample, and measures how
much its score there exceeds its score on all MDPs. The result errs on the small side, because the
best agent of our own set wins more often than it should.

`simulate` repeats whole comparisons in which the MDPs that choose agents also test them, or not.
`false_alarms` repeats tests of equal agents on few MDPs.
"""

import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from brlbench import streams
from brlbench.analysis.bounds import LEVEL, num_choosing
from brlbench.analysis.scores import skewness
from brlbench.analysis.significance import cautious_p_value, holm, student_p_values, z_against
from brlbench.mdps.sparse import Floats, Integers
from brlbench.report.data import ExperimentData
from brlbench.report.loading import load
from brlbench.results.score import Score
from brlbench.results.summary import Summary

RESAMPLES = 2000
PAIRS = 100  # of agents per experiment
NUMBERS = (10, 20, 50, 100, 200)
SKEWS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.5, 1.0)


def optimism(returns: Floats, rng: np.random.Generator) -> float:
    """The expected excess of the best row of returns [agents, MDPs] over its true score."""
    agents, mdps = returns.shape
    means = returns.mean(axis=1)
    total = 0.0
    for _ in range(RESAMPLES):
        times = np.bincount(rng.integers(0, mdps, size=mdps), minlength=mdps)
        resampled = returns @ times / mdps
        best = int(resampled.argmax())
        total += float(resampled[best] - means[best])
    return total / RESAMPLES if agents > 1 else 0.0


class Shares(NamedTuple):
    """What happens in simulated comparisons, as shares of them."""

    single_least: float  # of algorithms of one agent, the one that is excluded least often
    single: float  # … and most often
    grid: float  # of algorithms of several agents, the one that is excluded most often
    any_alarm: float  # any algorithm excluded, after Holm's correction
    covered: float  # the interval of the best agent's score holds its true score
    power: float  # worse algorithms excluded, on average
    regret: float  # true score of the best agent minus that of the one called best; no share


class Once(NamedTuple):
    """One simulated comparison."""

    best: Integers  # [A]; the agent that represents each algorithm
    lead: int  # the algorithm called best
    p_values: Floats  # [A]; of "it is worse than the best"
    covered: bool


def compare(returns: Floats, groups: Sequence[Integers], choosing: int, truth: Floats) -> Once:
    """Compare algorithms; the first MDPs choose, or all choose and test if `choosing` is 0."""
    means = returns[:, : choosing or None].mean(axis=1)
    best = np.array([group[means[group].argmax()] for group in groups])
    lead = int(means[best].argmax())
    tested = returns[best, choosing:]
    p_values = student_p_values(z_against(tested[lead], tested), tested.shape[1])
    score = Score.of(tested[lead])
    covered = abs(score.mean - truth[best[lead]]) <= score.ci95
    return Once(best, lead, p_values, bool(covered))


def simulate(
    returns: Floats,  # [agents, N]
    algorithms: Sequence[str],
    choosing: int,
    rng: np.random.Generator,
    resamples: int = 4000,
) -> Shares:
    """Simulate comparisons of agents on resampled MDPs: all equally good, and as they are."""
    names = list(dict.fromkeys(algorithms))
    groups = [np.flatnonzero([each == name for each in algorithms]) for name in names]
    truth = returns.mean(axis=1)
    equal, nothing = returns - truth[:, None], np.zeros(len(returns))
    worse = np.array([truth[group].max() for group in groups]) < truth.max()
    excluded, powers = np.zeros(len(groups)), np.zeros(len(groups))
    alarms, covered, regret = 0, 0, 0.0
    for _ in range(resamples):
        drawn = rng.integers(0, returns.shape[1], returns.shape[1])
        once = compare(equal[:, drawn], groups, choosing, nothing)
        excluded += once.p_values < 1 - LEVEL
        alarms += bool((holm(np.delete(once.p_values, once.lead)) < 1 - LEVEL).any())
        covered += once.covered
        real = compare(returns[:, drawn], groups, choosing, truth)
        powers += real.p_values < 1 - LEVEL
        regret += truth.max() - truth[real.best[real.lead]]
    single = np.array([len(group) == 1 for group in groups])
    return Shares(
        float(excluded[single].min(initial=resamples)) / resamples,
        float(excluded[single].max(initial=0)) / resamples,
        float(excluded[~single].max(initial=0)) / resamples,
        alarms / resamples,
        covered / resamples,
        float(powers[worse].mean()) / resamples if worse.any() else 1.0,
        regret / resamples,
    )


class Alarms(NamedTuple):
    """How often a test at 5% calls the second of two equal agents worse, with N MDPs."""

    skew: float  # of their differences, divided by √N
    student: float
    cautious: float


def false_alarms(
    differences: Floats, number: int, rng: np.random.Generator, resamples: int = 200
) -> Alarms:
    """Test resampled differences that are 0 on average."""
    equal = differences - differences.mean()
    drawn = equal[rng.integers(0, len(equal), (resamples, number))]
    students = student_p_values(z_against(np.zeros(number), -drawn), number) < 1 - LEVEL
    cautious = np.array([cautious_p_value(row) for row in drawn]) < 1 - LEVEL
    return Alarms(
        skewness(equal) / math.sqrt(number), float(students.mean()), float(cautious.mean())
    )


def pairs_of(experiment: ExperimentData, rng: np.random.Generator) -> list[Floats]:
    """Differences [N] of some pairs of agents, each the best of its algorithm, in both orders."""
    best: dict[str, Summary] = {}
    for agent in sorted(experiment.competitors, key=lambda agent: agent.score.mean):
        best[agent.algorithm] = agent
    returns = [agent.scored_returns for agent in best.values()]
    pairs = [one - other for one, other in combinations(returns, 2) if (one != other).any()]
    chosen = rng.permutation(len(pairs))[:PAIRS].tolist()
    return [sign * pairs[i] for i in chosen for sign in (1, -1)]


def print_false_alarms(experiments: Sequence[ExperimentData]) -> None:
    """Print false alarms by number of MDPs, and by skewness."""
    found = []
    print(f"| prior | test | {' | '.join(map(str, NUMBERS))} |")
    print("|---|---|" + "---:|" * len(NUMBERS))
    for experiment in experiments:
        rng = streams.generator("false alarms", experiment.hash)
        pairs = pairs_of(experiment, rng)
        alarms = [[false_alarms(each, number, rng) for each in pairs] for number in NUMBERS]
        found += [each for row in alarms for each in row]
        for test in ("student", "cautious"):
            shares = [100 * np.mean([getattr(each, test) for each in row]) for row in alarms]
            cells = " | ".join(f"{share:.1f}" for share in shares)
            print(f"| {experiment.settings['prior']} | {test} | {cells} |", flush=True)
    print("| skewness / √N | pairs | student |")
    print("|---|---:|---:|")
    for low, high in pairwise(SKEWS):  # the side on which Student's test errs more
        some = [each.student for each in found if -high < each.skew <= -low]
        print(f"| {low} to {high} | {len(some)} | {100 * np.mean(some):.1f} |")


def main() -> None:
    """Print a row per experiment and way to choose, then tables of false alarms."""
    experiments = load(Path(__file__).parent / "results.parquet").experiments
    print_false_alarms(experiments)
    print("| prior | chosen on | single | grid | any, Holm | covered | power | regret |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for experiment in experiments:
        agents = experiment.competitors
        returns = np.array([each.scored_returns for each in agents])
        algorithms = [each.algorithm for each in agents]
        number = returns.shape[1]
        ways = {"all": 0, "a half": number // 2, "a quarter": num_choosing(number)}
        for name, choosing in ways.items():
            rng = streams.generator("selection", experiment.hash, choosing)
            least, *shares, regret = simulate(returns, algorithms, choosing, rng)
            cells = f"{100 * least:.1f} to " + " | ".join(f"{100 * each:.1f}" for each in shares)
            prior = experiment.settings["prior"]
            print(f"| {prior} | {name} | {cells} | {regret:.3f} |", flush=True)


if __name__ == "__main__":
    main()
