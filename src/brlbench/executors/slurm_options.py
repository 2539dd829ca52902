"""What a SLURM job asks for: the options of a profile, or what a unit's limits need."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ByteSize, ConfigDict, Field, ValidationError

from ..errors import InvalidInput, did_you_mean
from .base import Limits

_WORKER_BYTES = 500_000_000  # for a Dask worker and its nanny, beside the units that it performs


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

    def for_limits(self, limits: Limits) -> Self:
        """The options of jobs for units with these limits.

        A memory limit is asked for once per core, with what the Dask workers need beside. A time
        limit never shortens the walltime, in which a job performs many units.
        """
        changes: dict[str, Any] = {}
        if limits.memory is not None:
            needed = self.cores * limits.memory + self.processes * _WORKER_BYTES
            changes["memory"] = ByteSize(needed)
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
