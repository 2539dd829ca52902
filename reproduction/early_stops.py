"""Check the rules that stop agents early: the interval of `until`, and the power of races.

python -m reproduction.early_stops     prints the tables of docs/racing.md; takes some minutes

Returns are drawn from laws whose means are known.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from brlbench.analysis.racing import ERROR, looks_before, run_race
from brlbench.analysis.scores import guarded_ci95
from brlbench.mdps.sparse import Floats
from brlbench.results.score import ci95

STUDIES = 2000
LEAST_MDPS, MOST_MDPS = 50, 2000  # between which `until` looks
TARGETS = (100, 300)  # MDPs whose plain interval is as wide as `until`
TESTS = {1: "one class", 30: "ten classes, three experiments"}
Generator = np.random.Generator


class Law(NamedTuple):
    """A law of returns."""

    name: str
    mean: float
    deviation: float
    draw: Callable[[Generator, int], Floats]


def lognormal(sigma: float, chance: float = 1.0) -> Law:
    """A lognormal law; a share of 1 - `chance` of the MDPs pays nothing."""
    mean, square = chance * math.exp(sigma**2 / 2), chance * math.exp(2 * sigma**2)
    zeros = "" if chance == 1 else f", nothing in {100 * (1 - chance):g}%"
    return Law(
        f"lognormal, sigma = {sigma:g}{zeros}",
        mean,
        math.sqrt(square - mean**2),
        lambda rng, number: rng.lognormal(0, sigma, number) * (rng.random(number) < chance),
    )


LAWS = (
    Law("normal", 0.0, 1.0, lambda rng, number: rng.standard_normal(number)),
    Law("exponential", 1.0, 1.0, lambda rng, number: rng.exponential(size=number)),
    lognormal(0.7),
    lognormal(1.0),
    lognormal(1.0, chance=0.3),
)


class Until(NamedTuple):
    """The outcome of simulated agents that stop by `until`."""

    coverage: float  # share of score ± until that holds the true mean
    mdps: float  # mean number of MDPs


def check_until(law: Law, target: int, rule: Callable[[Floats], float], studies: int) -> Until:
    """Let agents play until their interval is as narrow as that of `target` MDPs should be."""
    rng = np.random.default_rng(target)
    until = 2 * law.deviation / math.sqrt(target)
    covered, mdps = 0, 0
    for _ in range(studies):
        returns = law.draw(rng, MOST_MDPS)
        looks = [at for at in looks_before(MOST_MDPS) if at >= LEAST_MDPS]
        widths = ((at, rule(returns[:at])) for at in looks)
        at = next((at for at, width in widths if width <= until), MOST_MDPS)
        width = until if at < MOST_MDPS else rule(returns)
        covered += abs(returns[:at].mean() - law.mean) <= width
        mdps += at
    return Until(covered / studies, mdps / studies)


def mdps_until_dropped(difference: float, tests: int, studies: int) -> float:
    """The mean number of MDPs that an agent plays which is worse by so many deviations."""
    rng = np.random.default_rng(0)
    most = int(150 / difference**2)
    return float(np.mean([_raced(rng.normal(difference, 1, most), tests) for _ in range(studies)]))


def wrong_drops(share: float, tests: int, studies: int, num_mdps: int = 500) -> float:
    """How often an agent is dropped that is as good as its rival, thanks to few MDPs.

    It gains in a share of the MDPs what it loses in all, by 1 ± 1 each.
    """
    rng = np.random.default_rng(0)
    dropped = 0
    for _ in range(studies):
        gains = (rng.random(num_mdps) < share) / share
        dropped += _raced(rng.normal(1, 1, num_mdps) - gains, tests) < num_mdps
    return dropped / studies


def _raced(differences: Floats, tests: int) -> int:
    """The number of MDPs that an agent plays whose rival is better by these differences."""
    returns = np.vstack([np.zeros(len(differences)), differences])
    return int(run_race(returns, np.zeros((2, 2), np.int64), ERROR / tests)[0])


def main() -> None:
    """Print the tables."""
    rules = {"two standard errors": ci95, "guarded": lambda x: max(ci95(x), guarded_ci95(x))}
    print(f"| returns | {' | '.join(f'{rule}: covered | MDPs' for rule in rules)} |")
    print(f"|---|{'---:|---:|' * len(rules)}")
    for law in LAWS:
        for target in TARGETS:
            found = [check_until(law, target, rule, STUDIES) for rule in rules.values()]
            cells = [f"{100 * each.coverage:.1f}% | {each.mdps:.0f}" for each in found]
            width = f"{2 / math.sqrt(target):.2f} deviations"
            print(f"| {law.name}, ±{width} | {' | '.join(cells)} |", flush=True)
    for tests, named in TESTS.items():
        for difference in (1.0, 0.5, 0.2):
            mdps = mdps_until_dropped(difference, tests, STUDIES // 4)
            print(f"{named}: worse by {difference:g} deviations, dropped after {mdps:.0f} MDPs")
        for share in (0.05, 0.02):
            dropped = wrong_drops(share, tests, STUDIES)
            print(f"{named}: gains in {100 * share:g}% of MDPs, dropped in {100 * dropped:.0f}%")


if __name__ == "__main__":
    main()
