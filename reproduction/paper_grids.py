"""The paper's grids of parameter values: which were played, and what the rest would cost.

python -m reproduction.paper_grids     estimates the costs anew; takes some minutes
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from brlbench.executors.local import Local
from brlbench.progress import Bar
from brlbench.report.data import ExperimentData
from brlbench.results.compact import read_summaries
from brlbench.study.estimate import estimate
from brlbench.study.folder import Folder
from brlbench.study.levels import expected_mdps
from brlbench.study.plan import Job, Study, read_study

FOLDER = Path(__file__).parent / "grids"
FILES = sorted(FOLDER.glob("*.parquet"))
"""Results of the paper's studies, one file per experiment."""

COSTS = FOLDER / "costs.csv"
_STUDIES = [
    Path(__file__).parents[1] / f"studies/paper-{prior}.toml"
    for prior in ("accurate", "inaccurate")
]
_HOUR = 3600.0
_PROBE_SECONDS = 0.1  # fewer than those of a dry run: there are 1,416 agents


class Cost(NamedTuple):
    """The estimated hours of one core."""

    halved: float
    full: float


def total(costs: Iterable[Cost]) -> Cost:
    """The sum."""
    return Cost(*map(sum, zip((0.0, 0.0), *costs, strict=True)))


class Grid(NamedTuple):
    """All agents of an algorithm in one of the paper's experiments."""

    experiment: str
    algorithm: str
    planned: int
    played: int  # all MDPs, or as many as halving let them play
    is_halved: bool  # and every level has an agent that halving let play on
    cost: Cost

    @property
    def is_open(self) -> bool:
        """Whether some of it is left to play."""
        return self.played < self.planned and not self.is_halved


@cache
def _studies() -> Sequence[Study]:
    return [read_study(path) for path in _STUDIES]


def _groups(jobs: Iterable[Job]) -> Mapping[tuple[str, str, str], list[Job]]:
    """The jobs of each algorithm, by the experiment's hash and its name."""
    groups = defaultdict(list)
    for job in jobs:
        groups[job.experiment.hash, job.experiment_name, job.agent.algorithm].append(job)
    return groups


def grids(experiments: Sequence[ExperimentData], files: Sequence[Path] = FILES) -> list[Grid]:
    """The grids of all algorithms in the paper's experiments, and how much of them was played.

    The files have results of the paper's studies.
    """
    played = {(e.hash, s.label): s for e in experiments for s in e.summaries}
    survivors = {
        (header.hash, summary.label)
        for path in files
        for header, summary in read_summaries(path)
        if summary.is_candidate
    }
    costs = read_costs()
    found = []
    for (digest, name, algorithm), jobs in _groups(j for s in _studies() for j in s.jobs).items():
        levels = defaultdict(list)
        for job in jobs:
            levels[job.level and job.level.value].append((digest, job.label))
        found.append(
            Grid(
                name,
                algorithm,
                len(jobs),
                sum((digest, job.label) in played for job in jobs),
                None not in levels and all(survivors & {*level} for level in levels.values()),
                costs[name, algorithm],
            )
        )
    return found


def read_costs() -> Mapping[tuple[str, str], Cost]:
    """The cost by experiment and algorithm."""
    with COSTS.open() as file:
        return {
            (row["experiment"], row["algorithm"]): Cost(float(row["halved"]), float(row["full"]))
            for row in csv.DictReader(file)
        }


def estimate_costs(study: Study) -> Iterator[tuple[str, str, Cost]]:
    """The cost by experiment and algorithm, from short probes of all agents."""
    costs: dict[Job, Cost] = {}
    expected = expected_mdps(study.jobs, study.table.rule)
    with (
        TemporaryDirectory() as folder,
        Local(1) as executor,
        Bar("probing", len(study.jobs), "job", delay=0) as bar,
    ):
        estimates = estimate(
            study.jobs, Folder(Path(folder)), executor, _PROBE_SECONDS, lambda: bar.advance(1)
        )
    for each in estimates:
        training, playing = each.training_seconds or 0.0, each.playing_seconds or 0.0
        share = expected.get(each.job, float(number := each.job.experiment.num_mdps)) / number
        costs[each.job] = Cost((training + share * playing) / _HOUR, each.seconds / _HOUR)
    for (_, name, algorithm), jobs in _groups(study.jobs).items():
        yield name, algorithm, total(costs[job] for job in jobs)


def main() -> None:
    """Write the file of costs."""
    rows = [row for study in _studies() for row in estimate_costs(study)]
    with COSTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("experiment", "algorithm", "halved", "full"))
        for name, algorithm, cost in rows:
            writer.writerow((name, algorithm, f"{cost.halved:.4f}", f"{cost.full:.4f}"))


if __name__ == "__main__":
    main()
