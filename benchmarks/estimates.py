"""Are the estimates of `brlbench run --dry-run` true? Some jobs of a study, probed and then played.

    python -m benchmarks.estimates studies/paper-accurate.toml [--jobs 10] [--seconds 20]

The second half of a job is played until the time is over, and extrapolated to the whole job. Jobs
whose training would take longer are left out.
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from brlbench.agents import make_agent
from brlbench.arguments import format_seconds
from brlbench.protocol.machine import Waiting
from brlbench.protocol.playing import Part, play
from brlbench.protocol.training import train
from brlbench.study.estimate import PROBE_SECONDS, probe_agent
from brlbench.study.plan import Job, read_study
from brlbench.study.worker import TrainRequest

FACTOR = 1.5


class Compared(NamedTuple):
    """Seconds that a job takes in full, on a core of its own."""

    job: Job
    estimated: float
    found: float

    @property
    def ratio(self) -> float:
        """Estimated by found."""
        return self.estimated / self.found


def main(arguments: list[str] | None = None) -> None:
    """Compare some jobs of a study and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("study", type=Path)
    parser.add_argument("--jobs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20, help="per job")
    parser.add_argument("--seed", type=int, default=0, help="which jobs")
    options = parser.parse_args(arguments)
    jobs = list(read_study(options.study).jobs)
    np.random.default_rng(options.seed).shuffle(jobs)
    table = Table("experiment", "agent", "estimated", "found", "ratio")
    compared: list[Compared] = []
    for job in jobs:
        if len(compared) < options.jobs and (each := compare(job, options.seconds)):
            compared.append(each)
            table.add_row(
                job.experiment.name,
                job.label,
                format_seconds(each.estimated),
                format_seconds(each.found),
                f"{each.ratio:.2f}",
            )
    within = sum(1 / FACTOR <= each.ratio <= FACTOR for each in compared)
    total = sum(each.estimated for each in compared) / sum(each.found for each in compared)
    Console(width=130).print(table)
    print(f"{within} of {len(compared)} within a factor {FACTOR}; all together {total:.2f}")


def compare(job: Job, seconds: float) -> Compared | None:
    """Estimate a job, then play some of it; None if its training alone takes too long."""
    probe = probe_agent([TrainRequest.of(job), PROBE_SECONDS], lambda _: True)
    if probe.training_seconds > seconds:
        return None
    agent, experiment = make_agent(job.agent.algorithm, **job.agent.parameters), job.experiment
    trained = train(agent, experiment.prior, experiment.task, experiment.seed)
    number = experiment.num_trajectories
    total, played = 0.0, 0
    while total < seconds and number // 2 + played < number:
        first = number // 2 + played
        end = min(first + played + 1, number)  # more and more at a time
        started, waiting = time.perf_counter(), Waiting()
        play(agent, experiment, Part(first, end))
        waited = waiting.seconds()
        total += time.perf_counter() - started - waited
        played += end - first
    return Compared(
        job,
        probe.training_seconds + number * probe.trajectory_seconds,
        trained.training.seconds + number * total / played,
    )


if __name__ == "__main__":
    main()
