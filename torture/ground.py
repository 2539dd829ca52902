"""What all attacks share: a study, its undisturbed results, and what must always hold."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from brlbench.results.result import Result
from brlbench.storage import read_result
from brlbench.study.plan import read_study
from brlbench.study.status import read_status
from helpers.made_studies import SMALL, write_study
from helpers.processes import processes_with, wait_for

STUDY = SMALL.replace("num_mdps = 6", "num_mdps = 12").replace("horizon = 5", "horizon = 20")
# One prior is a set of hypotheses, under which some agents stop early.
STUDY += """[[experiments]]
test = "GoalGrid"
until = "±1"

[output]
keep_paths = true
"""
# Every trajectory is a part of its own, so that there are many files to lose.
MANY_PARTS = """
[execution]
part = "1us"
workers = 2
"""
_MARK = "BRLBENCH_TORTURE"  # a variable of all processes that a command starts


class Broken(Exception):
    """A promise does not hold."""


class Ground:
    """A folder for attacks on a study, with the results of an undisturbed run.

    Args:
        folder: where everything is.
        seed: the seed of all that is random.
        counts: what has been done so far, in words.
    """

    def __init__(self, folder: Path, seed: int, counts: Counter[str]) -> None:
        self.folder, self.seed, self.counts = folder, seed, counts
        self.rng = np.random.default_rng(seed)
        self.log = folder / "undisturbed.txt"  # what the last command printed
        self.study = folder / "study/study.toml"
        if not self.study.exists():
            write_study(self.study.parent, STUDY + MANY_PARTS)
        undisturbed = folder / "undisturbed/out"
        if not undisturbed.exists():
            whole = write_study(folder / "undisturbed", STUDY)
            self.run("run", whole, "-r", undisturbed)
        self.expected = results_in(undisturbed)
        if len(self.expected) != _num_jobs(self.study):
            raise Broken(f"the undisturbed run made {len(self.expected)} results: {self.said()}")

    def said(self) -> str:
        """The end of what the last command printed."""
        return self.log.read_text(errors="replace")[-2000:]

    def start(self, *arguments: str | Path, **options: Any) -> "subprocess.Popen[bytes]":
        """Start a command; its processes are marked, and what it prints goes to a log."""
        variables = {**options.pop("env", os.environ), _MARK: str(self.folder)}
        variables["PYTHONSAFEPATH"] = "1"  # as where brlbench is not started by `python -m`
        self.log = self.folder / f"{time.time_ns()}-{arguments[0]}.txt"
        with self.log.open("xb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "brlbench", *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=variables,
                **options,
            )

    def run(self, *arguments: str | Path, **options: Any) -> int:
        """Run a command to its end; returns the code with which it ends."""
        timeout = options.pop("timeout", None)
        process = self.start(*arguments, **options)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
        self.check_log()
        return code

    def check_log(self) -> None:
        """Raise if the last command has printed a traceback."""
        if b"Traceback" in self.log.read_bytes():
            raise Broken(f"a traceback: {self.said()}")

    def check_processes(self) -> None:
        """Raise if a process stays that a command has started."""
        try:
            wait_for(lambda: not processes_with(f"{_MARK}={self.folder}"))
        except AssertionError:
            left = processes_with(f"{_MARK}={self.folder}")
            raise Broken(f"the processes {left} outlive the run that started them") from None

    def check_some(self, out: Path) -> None:
        """Raise if a folder holds a wrong result, or a failure."""
        for name, result in results_in(out).items():
            if name not in self.expected:
                raise Broken(f"{out} has a result too many: {name}")
            check_equal(name, result, self.expected[name])
        if (out / "plan.json").exists():
            for failure in read_status(out).failures:
                raise Broken(f"{failure.agent} on {failure.experiment} failed: {failure.reason}")

    def check_all(self, out: Path) -> None:
        """Raise unless a folder holds all results and nothing that a run should have removed."""
        self.check_some(out)
        lost = self.expected.keys() - results_in(out).keys()
        if lost:
            raise Broken(f"{out} lacks {', '.join(sorted(lost))}")
        left = [*out.rglob("*.tmp"), *out.glob("now.json")]
        left += {*out.glob("parts/*")} - _parts_of_stopped(out)
        left += out.rglob("*.damaged")
        if left:
            raise Broken(f"{out} still has {', '.join(map(str, left))}")
        self.counts["results identical to those of an undisturbed run"] += len(self.expected)
        shutil.rmtree(out)


def _parts_of_stopped(out: Path) -> set[Path]:
    """The folders of parts of jobs that have stopped early: these stay."""
    plan = out / "plan.json"
    jobs = json.loads(plan.read_text())["jobs"] if plan.exists() else []
    return {
        out / job["parts"] for job in jobs if any((out / path).exists() for path in job["stopped"])
    }


def _num_jobs(study: Path) -> int:
    return len(read_study(study).jobs)


def results_in(folder: Path) -> dict[str, Result]:
    """The results in a folder, by agent and experiment."""
    found: dict[str, Result] = {}
    for path in folder.glob("results/*/*.parquet"):
        result = read_result(path)
        name = f"{result.label} on {result.settings['name']}"
        if name in found:
            raise Broken(f"{folder} has {name} twice")
        found[name] = result
    return found


def check_equal(name: str, result: Result, expected: Result) -> None:
    """Raise unless two results are equal bit for bit, except for times."""
    for field in ("rewards", "states", "actions"):
        one, other = getattr(result, field), getattr(expected, field)
        if one.shape != other.shape or one.tobytes() != other.tobytes():
            raise Broken(f"{name} has other {field} than the undisturbed run")
    if result.experiment_hash != expected.experiment_hash:
        raise Broken(f"{name} played other MDPs than the undisturbed run")
