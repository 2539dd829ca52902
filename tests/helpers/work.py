"""What the units of the tests do; each is called as `function(argument, report)`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from brlbench.errors import InvalidInput


def square(number: int, report: Report) -> int:
    return number * number


def slow_square(number: int, report: Report) -> int:
    time.sleep(0.1)
    return number * number


def hang(_: object, report: Report) -> None:
    time.sleep(60)


def start_and_hang(pids: str, report: Report) -> None:
    start_something(pids)
    time.sleep(60)


def hold_the_gil(pids: str, report: Report) -> None:
    start_something(pids)
    sum(range(10**13))


def start_something(pids: str) -> None:
    """Start a process and write down this one's id and its id."""
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    temporary = Path(f"{pids}.{os.getpid()}")
    temporary.write_text(f"{os.getpid()} {started.pid}")
    temporary.rename(pids)


def read_input(_: object, report: Report) -> str:
    return sys.stdin.read()


def report_every(seconds: float, report: Report) -> int:
    """Report ten times; the number of reports before it was asked to stop."""
    for number in range(10):
        time.sleep(seconds)
        if report(number):
            return number
    return 10


def grow(_: object, report: Report) -> None:
    hoard = []
    while True:
        hoard.append(np.ones(2_000_000))
        time.sleep(0.002)


def reject(word: str, report: Report) -> None:
    raise InvalidInput(f"{word}: must be something else")


def divide(number: float, report: Report) -> float:
    return number / 0


def leave(code: int, report: Report) -> None:
    sys.exit(code)


def end_process(code: int, report: Report) -> None:
    os._exit(code)


def die(_: object, report: Report) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_until(place: tuple[str, int], report: Report) -> int:
    """End the process until this has been called so many times in all."""
    file, times = Path(place[0]), place[1]
    with file.open("a") as calls:
        calls.write("x")
    if len(file.read_text()) < times:
        os.kill(os.getpid(), signal.SIGKILL)
    return times


def unsendable(_: object, report: Report) -> Any:
    return lambda: 0


def large(num_bytes: int, report: Report) -> bytes:
    return bytes(num_bytes)


def length(data: bytes, report: Report) -> int:
    return len(data)


def surroundings(_: object, report: Report) -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "path": sys.path,
        "threads": [os.environ[f"{name}_NUM_THREADS"] for name in ("OMP", "OPENBLAS", "NUMBA")],
        "polars": os.environ["POLARS_MAX_THREADS"],
        "cores": sorted(os.sched_getaffinity(0)),
    }


def slow_surroundings(_: object, report: Report) -> dict[str, Any]:
    time.sleep(0.5)
    return surroundings(_, report)


def sleep(seconds: float, report: Report) -> None:
    time.sleep(seconds)


def end_parent(_: object, report: Report) -> None:
    """End the process that started this one, and this one with it."""
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)
