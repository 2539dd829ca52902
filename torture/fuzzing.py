"""The fuzz tests of the suite, with other examples each time and more of them."""

import os
import re
import subprocess
import sys
from pathlib import Path

from .ground import Broken, Ground

_TESTS = Path(__file__).parents[1] / "tests/fuzz"


def attack(ground: Ground, examples: int) -> None:
    """Run the fuzz tests, each with this many examples."""
    ground.log = ground.folder / "fuzzing.txt"
    with ground.log.open("wb") as log:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", str(_TESTS), "-q", "-p", "no:cacheprovider"),
                "--hypothesis-show-statistics",
                f"--hypothesis-seed={ground.rng.integers(2**31)}",
            ],
            cwd=_TESTS.parents[1],
            env={**os.environ, "BRLBENCH_FUZZ_EXAMPLES": str(examples)},
            stdout=log,
            stderr=log,
            check=False,
        )
    if done.returncode:
        raise Broken(f"fuzzing: {ground.said()}")
    told = ground.log.read_text(errors="replace")
    ground.counts["fuzz examples"] += sum(
        int(number) for number in re.findall(r"- (\d+) passing", told)
    )
