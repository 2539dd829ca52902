"""SLURM jobs of one size, which run Dask workers (dask-jobqueue), and the calls for them."""

import math
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ..errors import ExecutorError, InvalidInput
from .dask import REPEATS, Dask
from .slurm_options import SlurmOptions

_COMMAND_SECONDS = 60


class Pool:
    """SLURM jobs of one size, none at first. The scheduler of their workers is in this process.

    Args:
        options: resources of each job; `InvalidInput` if SLURM refuses them.
        stack: the pool ends when this is closed.
    """

    def __init__(self, options: SlurmOptions, stack: ExitStack) -> None:
        self.dask = Dask()
        self.num_jobs = 0
        self._options = options
        self._lost: list[str] = []  # SLURM jobs that ended since a call last finished
        self._finished = 0
        with ExitStack() as opened:
            self._cluster = opened.enter_context(_cluster(options))
            _check_script(self._cluster.job_script())
            self.dask.connect(self._cluster, opened)
            stack.push(opened.pop_all())

    @property
    def wanted(self) -> int:
        """The number of jobs that its unfinished calls can use."""
        return math.ceil(self.dask.num_unfinished / self._options.cores)

    def grow(self, more: int) -> None:
        """Submit more jobs."""
        self.num_jobs += more
        self._cluster.scale(jobs=self.num_jobs)

    def shrink(self, most: int) -> None:
        """Cancel at most this many jobs: only idle ones, those not yet running first."""
        self.num_jobs -= self._cluster.sync(self._cancel_idle, most)

    async def _cancel_idle(self, most: int) -> int:
        workers = {state.name: state for state in self._cluster.scheduler.workers.values()}
        idle = []
        for job, spec in self._cluster.worker_spec.items():
            names = [f"{job}{suffix}" for suffix in spec.get("group", [""])]
            states = [workers[name] for name in names if name in workers]
            if not any(state.processing for state in states):
                idle.append((len(states), job))
        cancelled = [job for _, job in sorted(idle)[:most]]
        await self._cluster.scale_down(cancelled)
        return len(cancelled)

    def submitted(self) -> dict[str, Any]:
        """The submitted jobs, by name."""
        return dict(self._cluster.workers)

    def replace(self, ended: dict[str, Any]) -> None:
        """Replace jobs that ended, if there are calls for them.

        Gives up if they keep ending without finishing a call.
        """
        if self._finished != self.dask.num_finished:
            self._finished = self.dask.num_finished
            self._lost.clear()
        needless = list(ended)[: max(0, self.num_jobs - self.wanted)]
        self.num_jobs -= len(needless)
        lost = [job for name, job in ended.items() if name not in needless]
        self._lost += [f"job {job.job_id}" if job.job_id else "refused" for job in lost]
        self._cluster.sync(self._forget, ended, needless)
        if len(self._lost) > REPEATS * max(1, self.num_jobs):
            self.dask.fail(ExecutorError(_gave_up(self._lost, self._options.log_directory)))
        else:
            self._cluster.scale(jobs=self.num_jobs)  # submits those that are missing

    async def _forget(self, ended: dict[str, Any], needless: list[str]) -> None:
        for name in ended:
            self._cluster.workers.pop(name, None)
        for name in needless:
            self._cluster.worker_spec.pop(name, None)


def _cluster(options: SlurmOptions) -> Any:
    import dask
    from dask_jobqueue import SLURMCluster

    logs = options.log_directory
    quiet = () if logs else ("--output=/dev/null",)
    with dask.config.set({"distributed.scheduler.allowed-failures": REPEATS}):
        return SLURMCluster(
            queue=options.partition,
            account=options.account,
            walltime=options.walltime,
            memory=f"{int(options.memory)}B",
            job_mem=f"{math.ceil(options.memory / 2**20)}M",
            cores=options.cores,
            processes=options.processes,
            interface=options.interface,
            job_extra_directives=[*quiet, *options.directives],
            job_script_prologue=list(options.prologue),
            python=options.python,
            log_directory=str(logs.absolute()) if logs else None,
            job_name="brlbench",
            scheduler_options={"dashboard_address": "127.0.0.1:0"},
        )


def _check_script(script: str) -> None:
    """Let SLURM check the script before any job is submitted."""
    command = ["sbatch", "--test-only"]
    try:
        tried = subprocess.run(
            command, input=script, capture_output=True, text=True, timeout=_COMMAND_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise ExecutorError(f"SLURM did not answer within {_COMMAND_SECONDS} s") from None
    if tried.returncode:
        said = " ".join(tried.stderr.split()) or f"exit code {tried.returncode}"
        raise InvalidInput(f"SLURM refuses such a job: {said}")


def known_jobs() -> set[str] | None:
    """The ids of this user's waiting and running jobs; None if SLURM does not answer."""
    command = ["squeue", "--me", "--noheader", "--format=%i"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=_COMMAND_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return set(asked.stdout.split()) if asked.returncode == 0 else None


def _gave_up(lost: list[str], logs: Path | None) -> str:
    where = f"see the logs in {logs}" if logs else "set log_directory to see why"
    return (
        f"{len(lost)} SLURM jobs have ended without finishing a call, "
        f"the last was {lost[-1]}: {where}"
    )
