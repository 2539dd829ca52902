"""One row for each agent in each experiment."""

from collections.abc import Iterable

import polars as pl

from ..protocol.result import Result


def summarise(results: Iterable[Result]) -> pl.DataFrame:
    """A table of scores and times, in the order given."""
    return pl.DataFrame(
        [
            {
                "experiment": result.settings["name"],
                "algorithm": result.algorithm,
                "agent": result.label,
                "mean": result.mean,
                "ci95": result.ci95,
                "offline_seconds": result.offline_seconds,
                "online_seconds": float(result.nanoseconds.mean() * 1e-9),
                "num_mdps": result.settings["num_mdps"],
            }
            for result in results
        ]
    )
