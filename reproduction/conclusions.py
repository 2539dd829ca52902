"""Which algorithms are best, and which of the paper's conclusions hold."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from brlbench.analysis.bounds import Comparison
from brlbench.analysis.significance import holm, paired_z_test
from brlbench.report.data import ExperimentData
from brlbench.results.summary import Summary

LEVEL = 0.95
IN_PAPER = (
    "random",
    "epsilon-greedy",
    "soft-max",
    "opps-ds",
    "bamcp",
    "bfs3",
    "sboss",
    "beb",
)
"""`formula` plays the paper's formulas without the cost of their training, so it is left out."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """The algorithms of one experiment, each represented by its best agent on some MDPs.

    The other MDPs test them. The top within bounds are the best algorithm and those that are not
    significantly worse after Holm's correction.
    """

    experiment: ExperimentData
    algorithms: tuple[str, ...] | None = None  # only these; None: all

    @cached_property
    def summaries(self) -> list[Summary]:
        """The agents that compete; not those that left by halving, as others went on."""
        return [
            summary
            for summary in self.experiment.competitors
            if summary.is_candidate
            and summary.algorithm != "formula"
            and (self.algorithms is None or summary.algorithm in self.algorithms)
        ]

    @cached_property
    def _comparison(self) -> Comparison:
        return Comparison(self.summaries, LEVEL)

    def _best(self, offline: float, online: float) -> list[int]:
        found = self._comparison.within(offline, online)
        return [] if found is None else found.best_of_algorithm

    def best(self, offline: float = math.inf, online: float = math.inf) -> list[Summary]:
        """The best agent of each algorithm within bounds, best first."""
        return [self.summaries[i] for i in self._best(offline, online)]

    def top(self, offline: float = math.inf, online: float = math.inf) -> list[Summary]:
        """The best agent within bounds, and those not significantly worse."""
        best, pair = self._best(offline, online), self._comparison.pair
        adjusted = holm([paired_z_test(*pair(best[0], i)).p_value for i in best[1:]])
        others = [i for i, p in zip(best[1:], adjusted, strict=True) if p >= 1 - LEVEL]
        return [self.summaries[i] for i in [*best[:1], *others]]

    def names(self, offline: float = math.inf, online: float = math.inf) -> list[str]:
        """The algorithms of `top`."""
        return [summary.algorithm for summary in self.top(offline, online)]


class Claim(NamedTuple):
    """A conclusion of the paper, in our words, and whether it holds in our results."""

    text: str
    holds: bool
    evidence: str


def check_claims(experiments: Sequence[ExperimentData]) -> list[Claim]:
    """All conclusions, each tested on its experiments, among the paper's algorithms."""
    accurate, inaccurate = (
        {e.settings["test"]: Ranking(e, IN_PAPER) for e in experiments if e.accurate == wanted}
        for wanted in (True, False)
    )
    without_opps = {
        name: Ranking(ranking.experiment, tuple(a for a in IN_PAPER if a != "opps-ds"))
        for name, ranking in inaccurate.items()
    }
    return [
        _always("With an accurate prior, OPPS-DS is always among the best.", accurate, "opps-ds"),
        _always("With an accurate prior, BEB does as well as OPPS-DS.", accurate, "beb"),
        _always(
            "On GC, BFS3 catches up with enough online time.", _only_on("GC", accurate), "bfs3"
        ),
        _always(
            "On GDL, BAMCP catches up with enough online time.", _only_on("GDL", accurate), "bamcp"
        ),
        _never(
            "On Grid, neither BFS3 nor BAMCP keeps up.", _only_on("Grid", accurate), "bfs3", "bamcp"
        ),
        _never("Soft-max never reaches the top.", accurate, "soft-max"),
        _first("SBOSS is the quickest to do better than random.", accurate, "sboss"),
        _always("With a wrong prior, OPPS-DS is always among the best.", inaccurate, "opps-ds"),
        _alone(
            "With a wrong prior, OPPS-DS beats all others in two of three experiments.",
            inaccurate,
            "opps-ds",
            2,
        ),
        _always(
            "With a wrong prior and without OPPS-DS, ε-greedy is always among the best.",
            without_opps,
            "epsilon-greedy",
        ),
        _only(
            "With a wrong prior and without OPPS-DS, no other is always among the best.",
            without_opps,
            "epsilon-greedy",
        ),
    ]


Rankings = dict[str, Ranking]


def _only_on(name: str, rankings: Rankings) -> Rankings:
    return {name: rankings[name]}


def _claim(text: str, rankings: Rankings, test: Callable[[dict[str, list[str]]], bool]) -> Claim:
    tops = {name: ranking.names() for name, ranking in rankings.items()}
    return Claim(text, test(tops), "; ".join(f"{k}: {', '.join(v)}" for k, v in tops.items()))


def _always(text: str, rankings: Rankings, algorithm: str) -> Claim:
    return _claim(text, rankings, lambda tops: all(algorithm in top for top in tops.values()))


def _never(text: str, rankings: Rankings, *algorithms: str) -> Claim:
    return _claim(
        text, rankings, lambda tops: not any(a in top for a in algorithms for top in tops.values())
    )


def _alone(text: str, rankings: Rankings, algorithm: str, times: int) -> Claim:
    return _claim(
        text, rankings, lambda tops: sum(top == [algorithm] for top in tops.values()) >= times
    )


def _only(text: str, rankings: Rankings, algorithm: str) -> Claim:
    def test(tops: dict[str, list[str]]) -> bool:
        return set.intersection(*map(set, tops.values())) <= {algorithm}

    return _claim(text, rankings, test)


def _first(text: str, rankings: Rankings, algorithm: str) -> Claim:
    """Which agent that is significantly better than random takes the least online time?"""
    quickest = {}
    for name, ranking in rankings.items():
        [random] = [e for e in ranking.summaries if e.algorithm == "random"]
        better = [
            summary
            for summary in ranking.summaries
            if paired_z_test(
                summary.returns, random.first(len(summary.returns)).returns, LEVEL
            ).significant
        ]
        quickest[name] = min(better, key=lambda summary: summary.seconds["processor"])
    return Claim(
        text,
        all(summary.algorithm == algorithm for summary in quickest.values()),
        "; ".join(f"{name}: {summary.algorithm}" for name, summary in quickest.items()),
    )
