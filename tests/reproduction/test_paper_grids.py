"""Which of the paper's grids were played, and what the rest would cost."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from reproduction.page import RESULTS
from reproduction.paper_grids import FILES, Cost, Grid, grids, read_costs, total

from brlbench.agents import describe, make_agent
from brlbench.agents.labels import label_of
from brlbench.problems.frozen import HASHES
from brlbench.report.data import ExperimentData
from brlbench.report.loading import load
from brlbench.results.compact import write_summaries
from brlbench.results.result import Stopped
from brlbench.results.summary import BEATEN, HALVED, Summary

SETS = list(HASHES.values())[:6]


def of(algorithm: str, found: Iterable[Grid]) -> Grid:
    [grid] = [each for each in found if (each.experiment, each.algorithm) == ("GC", algorithm)]
    return grid


def bamcp(shipped: Summary, simulations: int, depth: int, rule: str | None = None) -> Summary:
    """The shipped result with another label, on fewer MDPs if a rule stopped it."""
    agent = make_agent("bamcp", simulations=simulations, depth=depth)
    label = label_of(*describe(agent))
    if rule is None:
        return replace(shipped, label=label)
    stopped = Stopped(rule, "others were better")
    return replace(shipped.first(100), label=label, stopped=stopped)


def test_costs_are_known_for_all_grids() -> None:
    found = grids([], files=[])
    assert len(found) == 6 * 9 == len(read_costs())
    for grid in found:
        assert (grid.played, grid.is_open) == (0, True)
        assert 0 <= grid.cost.halved <= grid.cost.full
        saves = grid.algorithm in ("bamcp", "bfs3")
        assert saves == (grid.cost.halved < grid.cost.full)
    assert total([Cost(1, 2), Cost(3, 4)]) == Cost(4, 6)
    assert total([]) == Cost(0, 0)


def test_a_grid_is_played_by_halving_if_every_level_has_an_agent_that_went_on(
    tmp_path: Path,
) -> None:
    gc = next(e for e in load(RESULTS).experiments if e.hash == SETS[0])
    [shipped] = [each for each in gc.summaries if each.algorithm == "bamcp"]
    levels = (1, 500, 1250, 2500, 5000, 10_000, 25_000)
    left = [bamcp(shipped, each, 25, HALVED) for each in levels]
    on = [bamcp(shipped, each, 15, BEATEN if each > 2500 else None) for each in levels]
    for number, is_halved in ((7, True), (6, False)):
        path, played = tmp_path / f"{number}.parquet", [*left, *on[:number]]
        write_summaries(path, [(gc.header, played)])
        data = ExperimentData(*gc.header, played)
        found = of("bamcp", grids([data], [path]))
        assert (found.planned, found.played) == (21, 7 + number)
        assert (found.is_halved, found.is_open) == (is_halved, not is_halved)
    assert not of("bamcp", grids([data], [])).is_halved  # other studies choose nobody


def test_shipped_grids_are_of_the_frozen_sets_and_small() -> None:
    for path in FILES:
        [experiment] = load(path).experiments
        assert experiment.hash in SETS
        assert path.stat().st_size < 3e6
