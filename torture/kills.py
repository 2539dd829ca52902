"""Kills of the main process and of workers at random moments; the study is resumed each time."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from helpers.processes import descendants_of

from .ground import Broken, Ground

_SHARE_OF_MAIN = 0.3  # of the kills
_LONGEST_PAUSE = 4.0  # seconds between two kills; a run takes about as long


def attack(ground: Ground, runs: int) -> None:
    """Kill and resume a study in some runs, or until it is complete; then let it end."""
    out = ground.folder / "killed"
    for _ in range(runs):
        code = _run_and_kill(ground, out)
        ground.check_processes()
        ground.check_log()
        ground.check_some(out)
        if code == 0:
            break
        ground.counts["runs resumed"] += 1
    code = ground.run("run", ground.study, "-r", out)
    if code:
        raise Broken(f"an undisturbed run ended with code {code}: {ground.said()}")
    ground.check_all(out)


def _run_and_kill(ground: Ground, out: Path) -> int:
    """Run a study and kill some of its processes; returns the code with which it ends."""
    process = ground.start("run", ground.study, "-r", out)
    try:
        while process.poll() is None:
            _pause(ground)
            workers = descendants_of(process.pid)
            if process.poll() is not None:
                break
            if ground.rng.random() < _SHARE_OF_MAIN:
                process.kill()
                ground.counts["main processes killed"] += 1
                break
            if workers:
                with suppress(ProcessLookupError):
                    os.kill(int(ground.rng.choice(workers)), signal.SIGKILL)
                    ground.counts["workers killed"] += 1
        return process.wait()
    finally:
        process.kill()


def _pause(ground: Ground) -> None:
    """Wait until some random moment: often soon, sometimes late."""
    time.sleep(_LONGEST_PAUSE * ground.rng.random() ** 2)
