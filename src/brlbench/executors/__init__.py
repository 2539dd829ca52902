"""Where units are performed: on this machine, on a Dask cluster, or in SLURM jobs.

All executors are used alike. After `stop` or `kill` every future still completes; the outcome of an
unfinished unit is then `Died`.
"""

from .base import Executor
from .dask import Dask
from .local import Local
from .slurm import Slurm
from .slurm_options import SlurmOptions

__all__ = ["Dask", "Executor", "Local", "Slurm", "SlurmOptions"]
