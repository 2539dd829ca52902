"""Agents of this version play the shipped returns: nobody has to guess which results are stale."""

from functools import cache
from pathlib import Path

import pytest
from reproduction.original import AGENTS as ORIGINALS

from brlbench.agents import AGENTS
from brlbench.results.compact import ExperimentHeader, read_summaries, write_summaries
from brlbench.results.summary import Summary
from brlbench.study.retime import retime

SHIPPED = [
    path
    for folder in ("reproduction", "leaderboard")
    for path in sorted((Path(__file__).parents[2] / folder).rglob("*.parquet"))
    if path.parent.name != "rl2"  # sums of rewards, in a form of their own
]
ORIGINAL = {f"original {name}": f"{made.__module__}:{made.__name__}"
            for name, made in ORIGINALS.items()}  # fmt: skip
MDPS = 2  # per result
NOT_SHIPPED = {"gittins"}

Shipped = tuple[ExperimentHeader, Summary]


@cache
def results(path: Path) -> list[Shipped]:
    return read_summaries(path)


def seconds(shipped: Shipped) -> float:
    """The time of training and of playing some MDPs."""
    header, summary = shipped
    decisions = MDPS * int(header.settings["horizon"])
    return summary.seconds["offline"] + decisions * summary.seconds["mean"]


def cheapest(algorithm: str) -> list[Shipped]:
    """The results of an algorithm that are quickest to play again, one per file."""
    by_file = ([each for each in results(path) if each[1].algorithm == algorithm]
               for path in SHIPPED)  # fmt: skip
    return [min(own, key=seconds) for own in by_file if own]


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", sorted({*AGENTS, *ORIGINAL} - NOT_SHIPPED))
def test_the_shipped_returns_are_played_again(algorithm: str, tmp_path: Path) -> None:
    shipped = cheapest(algorithm)
    assert shipped
    path = tmp_path / "few.parquet"
    few = [
        (header._replace(settings={**header.settings, "num_mdps": MDPS}), summary.first(MDPS))
        for header, summary in shipped
    ]
    write_summaries(path, [(header, [summary]) for header, summary in few])
    [outcome] = retime([path], list(ORIGINAL.values()))
    assert (outcome.num_results, outcome.omissions) == (len(few), {})
