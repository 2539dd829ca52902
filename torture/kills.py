"""Kills of the main process and of workers at random moments; the study is resumed each time."""

import os
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

from brlbench.storage import read_result
from helpers.processes import descendants_of

from .ground import Broken, Ground, check_equal

_SHARE_OF_MAIN = 0.3  # of the kills
_LONGEST_PAUSE = 4.0  # seconds between two kills; a run takes about as long


_MDPS, _HORIZON = 200, 100  # of a play


def attack(ground: Ground, runs: int) -> None:
    """Kill and resume a study, then a play."""
    _in_a_study(ground, runs)
    _in_a_play(ground, runs)


def _in_a_play(ground: Ground, runs: int) -> None:
    """Kill and resume a play as `_in_a_study` does a study."""
    place = ground.folder / "played"
    place.mkdir(exist_ok=True)
    experiment, agent, expected = (place / name for name in ("e.parquet", "a.json", "r.parquet"))
    seed, problem = str(ground.rng.integers(1000)), ("--prior", "GC", "--horizon", str(_HORIZON))
    for command in (
        (
            "experiment",
            *problem,
            "--test",
            "GC",
            "--mdps",
            str(_MDPS),
            "--seed",
            seed,
            "--output",
            experiment,
        ),
        ("train", "bamcp", *problem, "--set", "simulations=500", "--output", agent),
        ("play", agent, experiment, "--keep-paths", "--output", expected),
    ):
        if ground.run(*command):
            raise Broken(f"{command[0]}: {ground.said()}")
    output = place / "output.parquet"
    play = ("play", agent, experiment, "--keep-paths", "--output", output, "--workers", "2")
    for _ in range(runs):
        code = _run_and_kill(ground, *play)
        ground.check_processes()
        ground.check_log()
        if code == 0:
            break
        ground.counts["plays resumed"] += 1
    else:
        if ground.run(*play):
            raise Broken(f"a play that was killed is not resumed: {ground.said()}")
    check_equal("a play", read_result(output), read_result(expected))
    ground.counts["results identical to those of an undisturbed run"] += 1
    if left := {*place.iterdir()} - {experiment, agent, expected, output}:
        raise Broken(f"a play leaves {', '.join(map(str, left))}")
    shutil.rmtree(place)


def _in_a_study(ground: Ground, runs: int) -> None:
    """Kill and resume a study in some runs, or until it is complete; then let it end."""
    out = ground.folder / "killed"
    for _ in range(runs):
        code = _run_and_kill(ground, "run", ground.study, "-r", out)
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


def _run_and_kill(ground: Ground, *command: str | Path) -> int:
    """Run a command and kill some of its processes; returns the code with which it ends."""
    process = ground.start(*command)
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
