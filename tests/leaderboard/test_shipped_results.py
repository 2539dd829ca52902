"""The shipped results are those of the study, for every built-in agent, on the frozen sets."""

from pathlib import Path

import pytest
from leaderboard.sets import SETS

from brlbench.agents import AGENTS
from brlbench.problems.frozen import HASHES
from brlbench.report.data import ExperimentData
from brlbench.report.loading import load
from brlbench.study.plan import read_study

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "leaderboard" / "results.parquet"
REPRODUCTION = ROOT / "reproduction" / "results.parquet"

QUICK_AGENTS = RESULTS.with_stem("families")
ONLY_QUICK = {
    f"{name}/accurate/v1" for name in ("Chain-tied", "Chain-semi", "Chain-full", "GoalGrid")
}
"""The sets that only quick agents have played."""
UNPLAYED = {f"{name}/accurate/v1" for name in ("Bandit-5", "Bandit-10", "RandomMDP")}
"""Sets that no results are shipped of."""
PLAYED = SETS.keys() - UNPLAYED
ALL_PLAY = PLAYED - ONLY_QUICK

SMALL = {
    "GC-Gaussian/accurate/v1",
    "GC-Gaussian/inaccurate/v1",
    "Dense/accurate/v1",
    "RiverSwim/unlabelled/v1",
}
LARGE = {"Grid-10/accurate/v1", "DeepSea-10/unlabelled/v1"}
PLAYED_IN: dict[str, set[str]] = {
    # It learns from 500 trajectories of a teacher, which are slow in the other sets.
    "ann": SMALL | {"RiverSwim-20/unlabelled/v1"},
    "gittins": set(),  # it plays bandits alone
    # They draw many MDPs in each decision.
    "hindsight": ALL_PLAY - LARGE,
    "vpi": ALL_PLAY - LARGE,
}
"""The sets that slow agents play, so that one core plays the study within an hour."""


@pytest.fixture(scope="module")
def shipped() -> dict[str, ExperimentData]:
    return {each.hash: each for each in load(RESULTS, QUICK_AGENTS).experiments}


@pytest.mark.parametrize(
    ("name", "results"),
    [
        ("leaderboard", RESULTS),
        ("leaderboard-paper-sets", RESULTS.with_stem("paper-sets")),
        ("leaderboard-families", QUICK_AGENTS),
    ],
)
def test_results_are_those_of_the_study(name: str, results: Path) -> None:
    study = read_study(ROOT / "studies" / f"{name}.toml")
    planned = sorted((job.experiment.hash, job.label) for job in study.jobs)
    found = sorted((e.hash, each.label) for e in load(results).experiments for each in e.summaries)
    assert found == planned
    assert not study.skipped


def test_every_built_in_agent_plays_every_set_that_it_manages(
    shipped: dict[str, ExperimentData],
) -> None:
    assert PLAYED_IN.keys() <= AGENTS.keys()
    for name in ALL_PLAY:
        played = {each.algorithm for each in shipped[HASHES[name]].summaries}
        assert played == {a for a in AGENTS if name in PLAYED_IN.get(a, PLAYED)}


def test_results_are_complete_and_small(shipped: dict[str, ExperimentData]) -> None:
    assert RESULTS.stat().st_size < 6e6
    assert shipped.keys() == {HASHES[name] for name in PLAYED}
    for experiment in shipped.values():
        for each in experiment.summaries:
            assert len(each.returns) == 500
            assert each.adjusted is not None
            assert each.learning is not None
            assert each.peak_bytes is not None


def test_zero_is_what_random_actions_are_worth(shipped: dict[str, ExperimentData]) -> None:
    """The expected return is of the right baseline: `random` played about as much."""
    for experiment in [*shipped.values(), *load(REPRODUCTION).experiments]:
        [played] = [each.score for each in experiment.summaries if each.algorithm == "random"]
        assert experiment.random not in (None, played.mean)
        assert abs((experiment.random or 0) - played.mean) < 2.25 * played.ci95  # 4.5 sigmas


def test_scores_are_between_random_and_the_bound(shipped: dict[str, ExperimentData]) -> None:
    for experiment in shipped.values():
        optimal, random = experiment.score_of("optimal"), experiment.score_of("random")
        assert optimal is not None
        assert random is not None
        assert experiment.upper_bound is not None
        assert random < optimal
        for each in experiment.competitors:
            assert each.score.mean - 2 * each.score.ci95 < experiment.upper_bound  # four sigmas
        best = max(each.score.mean for each in experiment.competitors)
        assert random < best < optimal
