"""Call functions in supervised processes: on this machine, on a Dask cluster, or in SLURM jobs.

All executors have the interface of `base.Executor`. After `stop` or `kill` every future still
completes; the outcome of an unfinished call is then `Died`.
"""
