"""What became slower or faster from one run of `scripts/bench` to another.

    python benchmarks/compare.py old.json new.json [--threshold 1.1]

Each sample is divided by the calibration beside it, so that runs on different machines can roughly
be compared. A figure has changed if the quartiles of both runs do not overlap and the medians
differ by more than the threshold, which covers differences between processes. The exit code is 1 if
anything became slower.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

SLOWER, FASTER, SAME = "slower", "faster", "same"


class Change(NamedTuple):
    """A figure of both runs."""

    name: str
    old: str
    new: str
    factor: float  # new / old, in calibrations
    verdict: str


def main(arguments: list[str] | None = None) -> int:
    """Compare two files; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--threshold", type=float, default=1.1, help="least factor that counts")
    options = parser.parse_args(arguments)
    old, new = (json.loads(path.read_text()) for path in (options.old, options.new))
    if old["quick"] != new["quick"]:
        parser.error("one run was quick and the other was not: they measure different things")
    changes = compare(old, new, options.threshold)
    _print(changes)
    return int(any(change.verdict == SLOWER for change in changes))


def compare(old: dict[str, Any], new: dict[str, Any], threshold: float) -> list[Change]:
    """The figures that both runs have, the slower ones first."""
    before = {_name(figure): figure for figure in old["figures"]}
    changes = [
        _change(before[_name(figure)], figure, threshold)
        for figure in new["figures"]
        if _name(figure) in before
    ]
    return sorted(changes, key=lambda change: -change.factor)


def _name(figure: dict[str, Any]) -> str:
    return f"{figure['topic']}: {figure['name']}"


def _change(old: dict[str, Any], new: dict[str, Any], threshold: float) -> Change:
    old_low, old_median, old_high = _calibrated(old)
    new_low, new_median, new_high = _calibrated(new)
    factor = new_median / old_median
    verdict = SAME
    if new_low > old_high and factor > threshold:
        verdict = SLOWER
    elif new_high < old_low and factor < 1 / threshold:
        verdict = FASTER
    return Change(_name(new), _figure(old), _figure(new), factor, verdict)


def _calibrated(figure: dict[str, Any]) -> tuple[float, float, float]:
    """The quartiles of the samples, in calibrations."""
    samples = [
        sample / calibration
        for sample, calibration in zip(figure["samples"], figure["calibrations"], strict=True)
    ]
    if len(samples) == 1:
        return samples[0], samples[0], samples[0]
    low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
    return low, median, high


def _figure(figure: dict[str, Any]) -> str:
    return f"{figure['median']:.3g} {figure['unit']}"


def _print(changes: list[Change]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 110)
    changed = [change for change in changes if change.verdict != SAME]
    if changed:
        table = Table("figure", "old", "new", "factor", "")
        for change in changed:
            factor = f"{change.factor:.2f}"
            table.add_row(change.name, change.old, change.new, factor, change.verdict)
        console.print(table)
    numbers = {
        verdict: sum(change.verdict == verdict for change in changes)
        for verdict in (SLOWER, FASTER, SAME)
    }
    console.print(
        f"{numbers[SLOWER]} slower, {numbers[FASTER]} faster, {numbers[SAME]} as before, "
        "within the noise"
    )


if __name__ == "__main__":
    sys.exit(main())
