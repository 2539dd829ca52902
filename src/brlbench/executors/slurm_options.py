"""Resources of a SLURM job: the options of a profile, raised to a call's limits."""

import math
import re
from pathlib import Path
from typing import Annotated, Any, Self

from ..arguments import parse_bytes
from ..schemas import StrictSchema
from ..values import COUNT, Count, Kind, Positive, Text
from .base import Limits

_WORKER_BYTES = 500_000_000  # for a Dask worker and its nanny, beside the calls that it makes


def _is_walltime(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"(\d+-)?\d+(:\d+){0,2}", value))


def _bytes(value: Any) -> int:
    return int(value) if COUNT.accepts(value) else parse_bytes(value)


_WALLTIME = Kind("a time of SLURM, like 90, 1:30:00 or 2-12:00", _is_walltime, str)
_SIZE = Kind("a size like 500MB or 4GB", lambda value: _bytes(value) > 0, _bytes)


class SlurmOptions(StrictSchema):
    """Resources of each job; `None` leaves them to SLURM."""

    partition: Text | None = None
    account: Text | None = None
    walltime: Annotated[str, _WALLTIME] = "01:00:00"
    memory: Annotated[int, _SIZE] = 4_000_000_000
    cores: Count = 1
    processes: Count = 1
    """Dask workers per SLURM job, which share its cores; each core makes one call at a time."""
    interface: Text | None = None
    """The network between the machines, such as "ib0"."""
    directives: tuple[Text, ...] = ()
    """More lines for the head of the script, such as "--constraint=haswell"."""
    prologue: tuple[Text, ...] = ()
    """Commands before the work, such as "module load python"."""
    python: Text | None = None
    log_directory: Path | None = None
    check_seconds: Positive = 15
    """Seconds between two questions to SLURM on ended jobs."""

    def for_limits(self, limits: Limits) -> Self:
        """The options of jobs for calls with these limits.

        The memory limit is multiplied by the cores; Dask workers need some more. A time
        limit never shortens the walltime, in which a job makes many calls.
        """
        changes: dict[str, Any] = {}
        if limits.memory is not None:
            changes["memory"] = self.cores * limits.memory + self.processes * _WORKER_BYTES
        if limits.total is not None:
            walltime = walltime_seconds(self.walltime)
            is_known = math.isfinite(limits.preparation)
            longest = limits.total + (limits.preparation if is_known else walltime)
            if longest > walltime:
                changes["walltime"] = str(math.ceil(longest / 60))  # in minutes
        return self.model_copy(update=changes)


def walltime_seconds(text: str) -> int:
    """Seconds of a time in SLURM's notation: 90, 90:00, 1:30:00, 2-12, 2-12:30, 2-12:30:00."""
    days, dash, rest = text.rpartition("-")
    numbers = list(map(int, rest.split(":")))
    if dash or len(numbers) == 3:  # hours come first, else minutes
        hours, minutes, seconds = (*numbers, 0, 0)[:3]
    else:
        hours, minutes, seconds = (0, *numbers, 0)[:3]
    return ((24 * int(days or 0) + hours) * 60 + minutes) * 60 + seconds
