"""Measure, print tables and write the figures to a file: `scripts/bench`."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from brlbench import AGENTS
from brlbench.protocol.machine import Waiting, describe

from . import agents, families, offline, overhead, scaling, startup
from .measure import Case, exponents, measure
from .tables import exponent_table, table

TOPICS = ("agents", "offline", "startup", "overhead", "scaling", "families")
_BUSY = 0.05


def main(arguments: list[str] | None = None) -> None:
    """Run the topics that are asked for."""
    options = _options(arguments)
    waiting, status = Waiting(), Console(stderr=True)
    rounds = options.rounds or (2 if options.quick else 5)
    told = (lambda text: status.print(text, style="dim")) if options.verbose else (lambda _: None)
    console = Console(width=None if sys.stdout.isatty() else 130)
    content: dict[str, Any] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": describe(),
        "quick": options.quick,
        "figures": [],
        "exponents": {},
    }
    for topic in options.only:
        figures = measure(_cases(topic, options), rounds, told)
        found = [figure.to_json() for figure in figures]
        content["figures"] += found
        content["exponents"] |= exponents(figures)
        console.print(table(topic, found))
    if content["exponents"]:
        console.print(exponent_table(content["exponents"]))
    content["waiting"] = waiting.share()
    if content["waiting"] > _BUSY:
        console.print(
            f"The machine was busy: for {content['waiting']:.0%} of the time it waited for a core."
        )
    if options.output:
        options.output.write_text(json.dumps(content, indent=1) + "\n")


def _cases(topic: str, options: argparse.Namespace) -> Iterator[Case]:
    if topic == "agents":
        return agents.cases(options.agents, options.priors, options.quick)
    made: dict[str, Callable[[bool], Iterator[Case]]] = {
        "families": families.cases,
        "offline": offline.cases,
        "overhead": overhead.cases,
        "scaling": scaling.cases,
        "startup": startup.cases,
    }
    return made[topic](options.quick)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--only", type=_some_of(TOPICS), default=TOPICS, help=", ".join(TOPICS))
    parser.add_argument("--agents", type=_some_of(AGENTS), help="topic agents: only these")
    parser.add_argument(
        "--priors", type=_some_of(agents.PRIORS), help="topic agents: only these priors"
    )
    parser.add_argument("--rounds", type=int, help="measurements per figure; 5 by default")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it works")
    parser.add_argument("--output", type=Path, help="a JSON file for benchmarks/compare.py")
    parser.add_argument("--verbose", action="store_true", help="say what is being measured")
    return parser.parse_args(arguments)


def _some_of(known: Any) -> Callable[[str], list[str]]:
    """A parser of known names, separated by commas."""

    def parsed(text: str) -> list[str]:
        for name in text.split(","):
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r}: must be one of {', '.join(known)}")
        return text.split(",")

    return parsed


if __name__ == "__main__":
    main()
