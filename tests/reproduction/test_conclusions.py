from dataclasses import replace
from typing import Any

import numpy as np
from reproduction.conclusions import Ranking, check_claims

from brlbench.report.data import ExperimentData
from brlbench.results.result import Stopped
from brlbench.results.summary import BEATEN, HALVED, Summary

RNG = np.random.default_rng(0)
LUCK = RNG.normal(size=400)  # of the MDPs, shared by all agents
ALGORITHMS = ("random", "epsilon-greedy", "soft-max", "opps-ds", "bamcp", "bfs3", "sboss", "beb")


def summary(
    algorithm: str, score: float, seconds: float = 1e-6, noise: float = 0.0, **parameters: Any
) -> Summary:
    returns = score + LUCK + noise * RNG.normal(size=400)
    times = {"offline": 0.0, "processor": seconds}
    return Summary(algorithm, parameters, f"{algorithm}{parameters}", returns, times, {})


def experiment(test: str, prior: str, **scores: float) -> ExperimentData:
    settings = {"test": test, "prior": prior, "test_digest": test, "prior_digest": prior}
    summaries = [summary(a, scores.get(a.replace("-", "_"), 0.0), 1e-6 * (1 + i))
               for i, a in enumerate(ALGORITHMS)]  # fmt: skip
    return ExperimentData(test, test + prior, settings, summaries)


def test_the_top_are_those_not_significantly_worse() -> None:
    ranking = Ranking(experiment("GC", "GC", beb=5, sboss=5, bfs3=4))
    assert sorted(ranking.names()) == ["beb", "sboss"]
    assert ranking.names(online=5.5e-6) != ranking.names()
    assert ranking.names(online=1e-9) == []
    assert Ranking(ranking.experiment, ("bfs3", "random")).names() == ["bfs3"]


def test_having_many_parameters_is_no_advantage() -> None:
    """The best of many equal agents on one half of the MDPs is an average one on the other."""
    wins = 0
    for _ in range(20):
        summaries = [summary("bamcp", 0.0, noise=0.5, simulations=i) for i in range(100)]
        lone = ExperimentData("GC", "", {}, [*summaries, summary("beb", 0.0, noise=0.5)])
        wins += Ranking(lone).names() == ["bamcp"]
    assert wins <= 4  # 5% of 20 expected; more than 4 has a chance of 0.3%


def test_claims_follow_the_results() -> None:
    as_published = [
        experiment("GC", "GC", opps_ds=5, beb=5, bfs3=5, sboss=1),
        experiment("GDL", "GDL", opps_ds=5, beb=5, bamcp=5, sboss=1),
        experiment("Grid", "Grid", opps_ds=5, beb=5, sboss=1),
        experiment("GC", "uniform:GC", opps_ds=5, epsilon_greedy=5, beb=5),
        experiment("GDL", "uniform:GDL", opps_ds=7, epsilon_greedy=5, sboss=5),
        experiment("Grid", "uniform:Grid", opps_ds=7, epsilon_greedy=5),
    ]
    claims = check_claims(as_published)
    slower = [claim.text for claim in claims if not claim.holds]
    assert slower == ["SBOSS is the quickest to do better than random."]  # beb is quicker here
    otherwise = [experiment(e.settings["test"], e.settings["prior"], soft_max=9)
                 for e in as_published]  # fmt: skip
    held = [claim.text for claim in check_claims(otherwise) if claim.holds]
    assert held == ["On Grid, neither BFS3 nor BAMCP keeps up."]


def stopped(summary: Summary, num_mdps: int, rule: str) -> Summary:
    return replace(summary.first(num_mdps), stopped=Stopped(rule, "others were better"))


def test_agents_that_halving_stopped_count_as_far_as_they_played() -> None:
    """One was lucky on the few MDPs that it played; another is better than random, and quick."""
    lucky = stopped(summary("bfs3", 9.0, simulations=1), 10, HALVED)
    quick = stopped(summary("bfs3", 4.0, 1e-9, simulations=2), 150, BEATEN)
    experiments = [
        experiment(test, prior + test, opps_ds=5, epsilon_greedy=1)
        for prior in ("", "uniform:")
        for test in ("GC", "GDL", "Grid")
    ]
    halved = [replace(e, summaries=[*e.summaries, lucky, quick]) for e in experiments]
    ranking = Ranking(halved[0])
    assert ranking.names() == ["opps-ds"]
    assert lucky not in ranking.best()
    assert quick in ranking.best()
    [first] = [c for c in check_claims(halved) if "quickest" in c.text]
    assert first.evidence == "GC: bfs3; GDL: bfs3; Grid: bfs3"
