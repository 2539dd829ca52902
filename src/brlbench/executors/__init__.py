"""Where units of work are performed: on this machine, on a Dask cluster, through SLURM.

All are used alike. After `stop` or `kill` every future still completes; a unit that was not
finished then gives `Died`, which says nothing about the unit.
"""

from .base import Executor
from .dask import Dask
from .local import Local
from .slurm import Slurm, SlurmOptions

__all__ = ["Dask", "Executor", "Local", "Slurm", "SlurmOptions"]
