"""What the units of the tests do; each is called as `function(argument, notify)`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from brlbench.errors import InvalidInput
from brlbench.executors.base import Notify


def square(number: int, notify: Notify) -> int:
    return number * number


LONG = 900  # seconds, more than any test waits


def slow_square(number: int, notify: Notify) -> int:
    time.sleep(0.05)
    return number * number


def gated_square(place: tuple[str, int], notify: Notify) -> int:
    """Wait at the gate of a folder before squaring."""
    wait_at_gate(place[0])
    return place[1] ** 2


def wait_at_gate(folder: str) -> None:
    """Note in a folder's file `begun` that this unit has begun; wait for its file `open`."""
    with (Path(folder) / "begun").open("a") as begun:
        begun.write("x")
    while not (Path(folder) / "open").exists():
        time.sleep(0.005)


def hang(_: object, notify: Notify) -> None:
    time.sleep(LONG)


def hang_at(place: str, notify: Notify) -> None:
    """Make a file, and hang."""
    Path(place).touch()
    time.sleep(LONG)


def start_and_hang(pids: str, notify: Notify) -> None:
    start_something(pids)
    notify(None)
    time.sleep(LONG)


def hold_the_gil(pids: str, notify: Notify) -> None:
    start_something(pids)
    sum(range(10**13))


def start_something(pids: str) -> None:
    """Start a process and write down this one's id and its id."""
    started = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LONG})"])
    temporary = Path(f"{pids}.{os.getpid()}")
    temporary.write_text(f"{os.getpid()} {started.pid}")
    temporary.rename(pids)


def read_input(_: object, notify: Notify) -> str:
    return sys.stdin.read()


def report_until_stopped(place: str | None, notify: Notify) -> int:
    """Report until it is asked to stop, and make a file before; the number of reports."""
    if place is not None:
        Path(place).touch()
    number = 1
    while not notify(number):
        number += 1
        time.sleep(0.005)
    return number


def report_ten_times(_: object, notify: Notify) -> None:
    for number in range(10):
        notify(number)


def grow(_: object, notify: Notify) -> None:
    hoard = [np.ones(2_000_000) for _ in range(20)]  # 320 MB
    time.sleep(LONG)
    del hoard


def reject(word: str, notify: Notify) -> None:
    raise InvalidInput(f"{word}: must be something else")


def divide(number: float, notify: Notify) -> float:
    return number / 0


def leave(code: int, notify: Notify) -> None:
    sys.exit(code)


def end_process(code: int, notify: Notify) -> None:
    os._exit(code)


def die(_: object, notify: Notify) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_until(place: tuple[str, int], notify: Notify) -> int:
    """End the process until this has been called so many times in all."""
    file, times = Path(place[0]), place[1]
    with file.open("a") as calls:
        calls.write("x")
    if len(file.read_text()) < times:
        os.kill(os.getpid(), signal.SIGKILL)
    return times


def unsendable(_: object, notify: Notify) -> Any:
    return lambda: 0


def large(num_bytes: int, notify: Notify) -> bytes:
    return bytes(num_bytes)


def length(data: bytes, notify: Notify) -> int:
    return len(data)


def surroundings(_: object, notify: Notify) -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "path": sys.path,
        "threads": [os.environ[f"{name}_NUM_THREADS"] for name in ("OMP", "OPENBLAS", "NUMBA")],
        "polars": os.environ["POLARS_MAX_THREADS"],
        "cores": sorted(os.sched_getaffinity(0)),
    }


def gated_surroundings(folder: str, notify: Notify) -> dict[str, Any]:
    wait_at_gate(folder)
    return surroundings(None, notify)


def end_parent(_: object, notify: Notify) -> None:
    """End the process that started this one, and this one with it."""
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(LONG)
