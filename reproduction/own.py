"""Is an agent of our own above every agent of the paper?

python -m reproduction.own                 prints the tables of docs/algorithms/sparse-prior.md
python -m reproduction.own shift-prior     prints those of docs/algorithms/shift-prior.md

Each takes minutes.

sparse-prior chooses its kappa for each experiment on MDPs of one seed, and is tested on those of
another. shift-prior plays with its default, where the prior is uniform, and meets sparse-prior too,
and more problems. The paper's agents play at the paper's best parameters of the experiment. Those
that are slow have played the frozen sets already (`results.parquet`); our agent meets them there.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import brlbench as bb
from brlbench.agents.base import Agent
from brlbench.agents.shift_prior import ShiftPrior
from brlbench.agents.sparse_prior import SparsePrior
from brlbench.analysis.significance import holm, paired_z_test
from brlbench.mdps.sparse import Floats
from brlbench.results.compact import read_summaries
from brlbench.results.score import Score
from brlbench.results.summary import Summary

from .published import PublishedRow, published_rows

CHOOSING, TESTING = 1001, 3003  # seeds
KAPPAS = (0.15, 0.3, 0.45, 0.6)
NUM_CHOOSING, NUM_TESTING, NUM_SLOW = 1000, 5000, 300  # MDPs; NUM_SLOW for sboss
FROZEN = ("bamcp", "bfs3")  # met on the frozen sets
PRIORS = [prior + name for prior in ("", "uniform:") for name in ("GC", "GDL", "Grid")]
UNIFORM = PRIORS[3:]
OTHERS = [  # problems on which only our agents meet; renumbered ones have no displacements
    *(f"uniform:renumbered:{key}:{name}" for key in (1, 7) for name in ("GC", "GDL", "Grid")),
    *(f"uniform:{name}" for name in ("Chain:prior=full", "Loop", "RiverSwim")),
]


class Meeting(NamedTuple):
    """Our agent and one of the paper's on the same MDPs."""

    experiment: str
    opponent: str
    num_mdps: int
    ours: Score
    theirs: Score
    p_value: float


def choose() -> dict[str, float]:
    """Print scores for all values of kappa, and return the best one for each prior."""
    scores = np.array([[_choosing_score(prior, kappa) for prior in PRIORS] for kappa in KAPPAS])
    print(f"| kappa | {' | '.join(PRIORS)} |")
    print("|---" * (len(PRIORS) + 1) + "|")
    for kappa, row in zip(KAPPAS, scores, strict=True):
        print(f"| {kappa} | {' | '.join(f'{score:.3f}' for score in row)} |")
    best = scores.argmax(axis=0)
    return {prior: KAPPAS[best[i]] for i, prior in enumerate(PRIORS)}


def _choosing_score(prior: str, kappa: float) -> float:
    experiment = _experiment(prior, NUM_CHOOSING, CHOOSING)
    return bb.evaluate(SparsePrior(kappa), experiment, progress=False).adjusted.mean


def _experiment(prior: str, num_mdps: int, seed: int) -> bb.Experiment:
    return bb.Experiment(prior, prior.removeprefix("uniform:"), num_mdps=num_mdps, seed=seed)


def meet_all(agent: Agent, prior: str) -> Iterator[Meeting]:
    """Our agent meets all agents of the paper in one experiment."""
    rows = [row for row in published_rows() if row.prior == prior and row.algorithm != "random"]
    fresh = bb.evaluate(agent, _experiment(prior, NUM_TESTING, TESTING), progress=False)
    name = f"{prior.removeprefix('uniform:')}/{'in' * prior.startswith('u')}accurate/v1"
    frozen = bb.evaluate(agent, bb.frozen_set(name), progress=False)
    for row in rows:
        if row.algorithm in FROZEN:
            theirs = _stored(row)
            ours = frozen.returns if theirs.adjusted is None else frozen.adjusted.returns
            yield _meeting(row, ours, theirs.scored_returns)
        else:
            number = NUM_SLOW if row.algorithm == "sboss" else NUM_TESTING
            rival = bb.make_agent(row.agent, **row.parameters)
            played = bb.evaluate(rival, _experiment(prior, number, TESTING), progress=False)
            yield _meeting(row, fresh.adjusted.returns[:number], played.adjusted.returns)


def _stored(row: PublishedRow) -> Summary:
    """The stored result of one of the paper's agents on a frozen set."""
    path = Path(__file__).parent / "results.parquet"
    found = (
        summary
        for header, summary in read_summaries(path)
        if (header.settings["prior"], header.settings["test"]) == (row.prior, row.test)
    )
    stored = row.find(found)
    assert stored is not None
    return stored


def _meeting(row: PublishedRow, ours: Floats, theirs: Floats) -> Meeting:
    test = paired_z_test(ours, theirs)
    opponent = f"{row.algorithm}: {row.label}" if row.algorithm != row.agent else row.label
    return Meeting(row.prior, opponent, len(ours), Score.of(ours), Score.of(theirs), test.p_value)


def meet_sparse_prior(agent: Agent, prior: str) -> Meeting:
    """Our agents meet each other."""
    experiment = _experiment(prior, NUM_TESTING, TESTING)
    ours, theirs = (
        bb.evaluate(each, experiment, progress=False).scored_returns
        for each in (agent, SparsePrior())
    )
    p_value = paired_z_test(ours, theirs).p_value
    return Meeting(
        prior, repr(SparsePrior()), NUM_TESTING, Score.of(ours), Score.of(theirs), p_value
    )


def show(prior: str, kappa: float, meetings: list[Meeting]) -> None:
    """Print the meetings of one experiment."""
    for meeting, p_value in zip(meetings, holm([m.p_value for m in meetings]), strict=True):
        theirs = f"{meeting.opponent} | {meeting.num_mdps} | {meeting.theirs}"
        print(f"| {prior} | {kappa} | {theirs} | {meeting.ours} | {p_value:.2g} |", flush=True)


def main() -> None:
    """Choose, test and print."""
    agent = ShiftPrior() if "shift-prior" in sys.argv[1:] else None
    kappas = choose() if agent is None else dict.fromkeys(UNIFORM, agent.kappa)
    print("\n| prior | kappa | rival | MDPs | its score | our agent | p, Holm |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for prior, kappa in kappas.items():
        meetings = list(meet_all(agent or SparsePrior(kappa), prior))
        if agent is not None:
            meetings.append(meet_sparse_prior(agent, prior))
        show(prior, kappa, meetings)
    if agent is not None:
        for prior in OTHERS:
            show(prior, agent.kappa, [meet_sparse_prior(agent, prior)])


if __name__ == "__main__":
    main()
