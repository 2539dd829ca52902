"""How much choosing the best of many agents flatters its score and its tests on the same MDPs.

python -m reproduction.selection     prints a table of docs/statistics.md; takes some minutes

Every published row is the best of its algorithm's parameter values on one set of MDPs. Resampling
our own MDPs imitates that: `optimism` chooses the best agent on each resample, and measures how
much its score there exceeds its score on all MDPs. The result errs on the small side, because the
best agent of our own set wins more often than it should.

`simulate` repeats whole comparisons in which the MDPs that choose agents also test them, or not.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from brlbench import streams
from brlbench.analysis.bounds import LEVEL, num_choosing
from brlbench.analysis.significance import holm, student_p_values, z_against
from brlbench.mdps.sparse import Floats, Integers
from brlbench.report.loading import load
from brlbench.results.score import Score

RESAMPLES = 2000


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


def main() -> None:
    """Print a row per experiment and way to choose."""
    print("| prior | chosen on | single | grid | any, Holm | covered | power | regret |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for experiment in load(Path(__file__).parent / "results.parquet").experiments:
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
