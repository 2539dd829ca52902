"""Attack studies until the time is over or something breaks: `scripts/torture`."""

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from brlbench.errors import reason

from . import cheats, commands, disks, fuzzing, kills, numbers, places, sizes, strangers
from .ground import Broken, Ground

ATTACKS = (
    "kills",
    "disks",
    "places",
    "fuzzing",
    "cheats",
    "strangers",
    "commands",
    "numbers",
    "sizes",
)


def main(arguments: list[str] | None = None) -> int:
    """Attack; returns 1 if something broke."""
    options = _options(arguments)
    folder = Path(tempfile.mkdtemp(prefix="brlbench-torture-"))
    counts: Counter[str] = Counter()
    seed = int(time.time()) if options.seed is None else options.seed
    print(f"seed {seed}, in {folder}", flush=True)
    try:
        _attack(options, Ground(folder, seed, counts))
    except Exception as error:  # also what a damaged folder leads to in this process
        what = error if isinstance(error, Broken) else reason(error)
        print(_table(counts))
        print(f"BROKEN, with seed {seed}: {what}\nThe evidence is in {folder}", file=sys.stderr)
        return 1
    print(_table(counts))
    print("nothing was lost, counted twice or left behind")
    shutil.rmtree(folder)
    return 0


def _attack(options: argparse.Namespace, ground: Ground) -> None:
    known: dict[str, Callable[[Ground], None]] = {
        "kills": partial(kills.attack, runs=options.runs),
        "disks": disks.attack,
        "places": places.attack,
        "cheats": partial(cheats.attack, kinds=options.cheats),
        "strangers": strangers.attack,
        "commands": partial(commands.attack, lines=options.lines),
        "numbers": numbers.attack,
        "sizes": partial(sizes.attack, results=options.results),
        "fuzzing": partial(fuzzing.attack, examples=options.examples),
    }
    begun, rounds = time.monotonic(), 0
    while True:
        for name in options.only:
            # How long the others took must not matter.
            ground.rng = np.random.default_rng([ground.seed, rounds, ATTACKS.index(name)])
            known[name](ground)
            minutes = (time.monotonic() - begun) / 60
            print(f"{minutes:5.1f} min, {name}: {_sentence(ground.counts)}", flush=True)
            if options.rounds is None and minutes >= options.minutes:
                return
        rounds += 1
        if rounds == options.rounds:
            return


def _sentence(counts: Counter[str]) -> str:
    return ", ".join(f"{number:,} {what}" for what, number in sorted(counts.items()))


def _table(counts: Counter[str]) -> str:
    rows = [f"| {what} | {number:,} |" for what, number in sorted(counts.items())]
    return "\n".join(["| what | how often |", "|---|---|", *rows])


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to attack (10)")
    parser.add_argument("--rounds", type=int, help="instead: how often each attack is made")
    parser.add_argument("--seed", type=int, help="the seed of all that is random")
    parser.add_argument("--runs", type=int, default=20, help="killed per study and round (20)")
    parser.add_argument("--examples", type=int, default=300, help="per fuzz test and round (300)")
    parser.add_argument("--lines", type=int, default=20, help="command lines per round (20)")
    parser.add_argument("--results", type=int, default=1000, help="in one folder (1000)")
    parser.add_argument("--cheats", type=int, help="kinds of cheats per round (all)")
    parser.add_argument(
        "--full", action="store_true", help="one round with 200 command lines and 5000 results"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=ATTACKS,
        default=ATTACKS,
        help="the attacks to make; all by default",
    )
    options = parser.parse_args(arguments)
    if options.full:
        options.rounds, options.lines, options.results = 1, 200, 5000
    return options


if __name__ == "__main__":
    sys.exit(main())
