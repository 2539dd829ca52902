"""Units in SLURM jobs, which run Dask workers (dask-jobqueue).

The scheduler of these workers is in this process. SLURM jobs that are cancelled, killed or out of
time are replaced, whether they had started or not.
"""

import math
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ByteSize, ConfigDict, Field, ValidationError

from ..arguments import num_workers, require
from ..errors import ExecutorError, InvalidInput, did_you_mean
from .dask import REPEATS, Cluster, repeat, uninterrupted

_COMMAND_SECONDS = 60
_MOST_WORKERS = 100_000


class SlurmOptions(BaseModel):
    """What each job asks for; `None` leaves it to SLURM."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    partition: str | None = None
    account: str | None = None
    walltime: Annotated[str, Field(pattern=r"^(\d+-)?\d+(:\d+){0,2}$")] = "01:00:00"
    memory: ByteSize = ByteSize(4_000_000_000)
    cores: Annotated[int, Field(ge=1)] = 1
    processes: Annotated[int, Field(ge=1)] = 1
    """Dask workers per SLURM job, which share its cores; each core performs one unit at a time."""
    interface: str | None = None
    """The network between the machines, such as "ib0"."""
    directives: tuple[str, ...] = ()
    """More lines for the head of the script, such as "--constraint=haswell"."""
    prologue: tuple[str, ...] = ()
    """Commands before the work, such as "module load python"."""
    python: str | None = None
    log_directory: Path | None = None
    check_seconds: Annotated[float, Field(gt=0)] = 15
    """How often SLURM is asked which jobs have ended."""

    @classmethod
    def read(cls, values: Mapping[str, Any], place: str = "slurm") -> Self:
        """Check options from a file; errors name the key, the value and the remedy."""
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            hint = did_you_mean(key, cls.model_fields)
            raise InvalidInput(f"{place}.{key}: there is no such option{hint}")
        value = values.get(str(first["loc"][0]))
        raise InvalidInput(f"{place}.{key} = {value!r}: {first['msg']}")


class Slurm(Cluster):
    """SLURM jobs, enough to perform a number of units at once.

    Args:
        options: what each job asks for.
        workers: how many units are performed at once, rounded up to whole jobs.
    """

    def __init__(self, options: SlurmOptions, workers: int | None = None) -> None:
        with uninterrupted():  # importing dask_jobqueue changes what an interrupt does
            require("cluster", "distributed", "dask_jobqueue")
        if shutil.which("sbatch") is None:
            raise InvalidInput(
                "sbatch can't be found: start the run on a machine with SLURM's commands"
            )
        if options.cores % options.processes:
            raise InvalidInput(
                f"slurm.processes = {options.processes}: must divide cores = {options.cores}"
            )
        super().__init__()
        self._options = options
        self._jobs = math.ceil(num_workers(workers, _MOST_WORKERS) / options.cores)
        self.num_workers = self._jobs * options.cores
        self._lost: list[str] = []  # SLURM jobs that ended since a unit last finished
        self._finished = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack, uninterrupted():
            cluster = stack.enter_context(_cluster(self._options))
            _check_script(cluster.job_script())
            self._units.connect(cluster, stack, is_own=True)
            cluster.scale(jobs=self._jobs)
            repeat(lambda: self._replace_jobs(cluster), self._options.check_seconds, stack)
            self._context = stack.pop_all()
        return self

    def _replace_jobs(self, cluster: Any) -> None:
        """Replace SLURM jobs that ended; give up if they keep ending without finishing a unit."""
        if self._finished != self._units.num_finished:
            self._finished = self._units.num_finished
            self._lost.clear()
        self._lost += _forget_ended_jobs(cluster)
        if len(self._lost) > REPEATS * self._jobs:
            self._units.fail(ExecutorError(_gave_up(self._lost, self._options.log_directory)))
        else:
            cluster.scale(jobs=self._jobs)  # submits those that are missing


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
        raise InvalidInput(f"SLURM did not answer within {_COMMAND_SECONDS} s") from None
    if tried.returncode:
        said = " ".join(tried.stderr.split()) or f"exit code {tried.returncode}"
        raise InvalidInput(f"SLURM refuses such a job: {said}")


def _forget_ended_jobs(cluster: Any) -> list[str]:
    """Forget the jobs that SLURM no longer knows; return them in words."""
    jobs = dict(cluster.workers)  # copied before asking SLURM: each is known to it or has ended
    known = _known_jobs()
    if known is None:
        return []
    ended = {name: job for name, job in jobs.items() if job.job_id not in known}

    async def forget() -> None:
        for name in ended:
            cluster.workers.pop(name, None)

    cluster.sync(forget)
    return [f"job {job.job_id}" if job.job_id else "refused" for job in ended.values()]


def _known_jobs() -> set[str] | None:
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
        f"{len(lost)} SLURM jobs have ended without finishing a unit, "
        f"the last was {lost[-1]}: {where}"
    )
