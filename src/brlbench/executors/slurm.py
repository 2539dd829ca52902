"""Calls in SLURM jobs.

SLURM jobs ask for as much as the limits of their calls allow, so there is a pool of jobs for each
size. SLURM jobs that are cancelled, killed or out of time are replaced, whether they had started or
not.
"""

import math
import shutil
import subprocess
import threading
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Any, Self

from ..arguments import num_workers, require
from ..errors import ExecutorError, InvalidInput
from .base import Call, Died, Failed, Outcome
from .dask import REPEATS, Dask, repeat, uninterrupted
from .slurm_options import SlurmOptions

_MOST_WORKERS = 100_000
_COMMAND_SECONDS = 60


class Pool:
    """SLURM jobs of one size, none at first, until a stack is closed.

    The scheduler of their workers is in this process. `InvalidInput` if SLURM refuses the size.
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

    def shrink(self, most: int) -> int:
        """Cancel at most this many jobs: only idle ones, those not yet running first."""
        number: int = self._cluster.sync(self._cancel_idle, most)
        self.num_jobs -= number
        return number

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
            logs = self._options.log_directory
            where = f"see the logs in {logs}" if logs else "set log_directory to see why"
            self.dask.fail(
                ExecutorError(
                    f"{len(self._lost)} SLURM jobs have ended without finishing a call, "
                    f"the last was {self._lost[-1]}: {where}"
                )
            )
        else:
            self._cluster.scale(jobs=self.num_jobs)  # submits those that are missing

    async def _forget(self, ended: dict[str, Any], needless: list[str]) -> None:
        for name in ended:
            self._cluster.workers.pop(name, None)
        for name in needless:
            self._cluster.worker_spec.pop(name, None)


class Slurm:
    """SLURM jobs for up to a number of concurrent calls, rounded up to whole jobs.

    A job asks for what the options say, unless a call's limits say otherwise.
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
        self._options = options
        self._num_jobs = math.ceil(num_workers(workers, _MOST_WORKERS) / options.cores)
        self.num_workers = self._num_jobs * options.cores
        self._pools: dict[SlurmOptions, Pool] = {}
        self._sharing = threading.Lock()  # held while pools grow or shrink
        self._stopped = False
        self._opened = ExitStack()  # the pools; closed when nothing checks them any more
        self._context = ExitStack()  # closed with the executor

    def submit(self, call: Call) -> Future[Outcome]:
        """Make a call in a SLURM job whose size suits its limits."""
        if self._stopped:
            return _completed(Died("stopped before it started"))
        try:
            pool = self._pool(self._options.for_limits(call.limits))
        except InvalidInput as error:
            return _completed(Failed(str(error)))
        future = pool.dask.submit(call)
        with self._sharing:
            self._grow(pool, pool.wanted)
        return future

    def stop(self) -> None:
        """Ask running calls to stop early; start no others."""
        self._stopped = True
        for pool in self._pools.values():
            pool.dask.stop()

    def kill(self) -> None:
        """End all calls at once."""
        self._stopped = True
        for pool in self._pools.values():
            pool.dask.kill()

    def __enter__(self) -> Self:
        with ExitStack() as stack, uninterrupted():
            stack.push(self._opened)
            self._pool(self._options)  # fails at once if SLURM refuses it
            repeat(self._check, self._options.check_seconds, stack)
            self._context = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._context:
            for pool in self._pools.values():
                pool.dask.end(wait_for_calls=kind is None)

    def _pool(self, options: SlurmOptions) -> Pool:
        if options not in self._pools:
            with uninterrupted():
                self._pools[options] = Pool(options, self._opened)
        return self._pools[options]

    def _check(self) -> None:
        """Replace jobs that ended, and divide the jobs between the pools anew."""
        # Copied before asking SLURM: each is known to it or has ended.
        submitted = [(pool, pool.submitted()) for pool in list(self._pools.values())]
        known = _known_jobs()
        with self._sharing:
            if known is not None:
                for pool, jobs in submitted:
                    pool.replace({name: j for name, j in jobs.items() if j.job_id not in known})
            self._share()

    def _share(self) -> None:
        """Let pools with too few jobs have idle ones of others."""
        pools = list(self._pools.values())
        due = dict(zip(pools, shares([pool.wanted for pool in pools], self._num_jobs), strict=True))
        lacking = sum(max(0, due[pool] - pool.num_jobs) for pool in pools) - self._free
        for pool in pools:
            if lacking > 0 and pool.num_jobs > due[pool]:
                lacking -= pool.shrink(min(lacking, pool.num_jobs - due[pool]))
        for pool in pools:
            self._grow(pool, due[pool])

    def _grow(self, pool: Pool, wanted: int) -> None:
        more = min(self._free, wanted - pool.num_jobs)
        if more > 0:
            pool.grow(more)

    @property
    def _free(self) -> int:
        return self._num_jobs - sum(pool.num_jobs for pool in self._pools.values())


def shares(wanted: list[int], total: int) -> list[int]:
    """Divide a total evenly, at most as wanted; remainders go to the first."""
    portions = [0] * len(wanted)
    while total and portions != wanted:
        for i, most in enumerate(wanted):
            if total and portions[i] < most:
                portions[i] += 1
                total -= 1
    return portions


def _completed(outcome: Outcome) -> Future[Outcome]:
    future: Future[Outcome] = Future()
    future.set_result(outcome)
    return future


def _cluster(options: SlurmOptions) -> Any:
    import dask
    from dask_jobqueue import SLURMCluster
    from distributed import Security

    security = Security()  # as Dask is configured, which the cluster does not ask by itself
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
            job_script_prologue=["export PYTHONSAFEPATH=1", *options.prologue],
            python=options.python,
            log_directory=str(logs.absolute()) if logs else None,
            job_name="brlbench",
            security=security if security.require_encryption else None,
            scheduler_options={"dashboard_address": "127.0.0.1:0"},
        )


def _check_script(script: str) -> None:
    """Let SLURM check the script before any job is submitted."""
    command = ["sbatch", "--test-only"]
    try:
        test = subprocess.run(
            command, input=script, capture_output=True, text=True, timeout=_COMMAND_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise ExecutorError(f"SLURM did not answer within {_COMMAND_SECONDS} s") from None
    if test.returncode:
        said = " ".join(test.stderr.split()) or f"exit code {test.returncode}"
        raise InvalidInput(f"SLURM refuses such a job: {said}")


def _known_jobs() -> set[str] | None:
    """The ids of this user's waiting and running jobs; None if SLURM does not answer."""
    command = ["squeue", "--me", "--noheader", "--format=%i"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=_COMMAND_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return set(answer.stdout.split()) if answer.returncode == 0 else None
