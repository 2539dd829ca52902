"""Calls in SLURM jobs.

SLURM jobs ask for as much as the limits of their calls allow, so there is a pool of jobs for each
size. SLURM jobs that are cancelled, killed or out of time are replaced,
whether they had started or not.
"""

import math
import shutil
import threading
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Self

from ..arguments import num_workers, require
from ..errors import InvalidInput
from .base import Call, Died, Failed, Outcome
from .dask import repeat, uninterrupted
from .pool import Pool, known_jobs
from .slurm_options import SlurmOptions

_MOST_WORKERS = 100_000


class Slurm:
    """SLURM jobs for up to a number of concurrent calls.

    Args:
        options: what a job asks for unless a call's limits say otherwise.
        workers: the number of concurrent calls, rounded up to whole jobs.
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
        known = known_jobs()
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
                before = pool.num_jobs
                pool.shrink(min(lacking, pool.num_jobs - due[pool]))
                lacking -= before - pool.num_jobs
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
