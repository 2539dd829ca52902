"""The units of the tests; each is called as `function(argument, notify)`."""

import os
import random
import signal
import stat
import subprocess
import sys
import threading
import time
import warnings
from multiprocessing.connection import Connection
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
    notify(None)
    sum(range(10**13))


def loop_without_the_gil(_: object, notify: Notify) -> None:
    import numba  # only here: most tests start processes that don't need it

    @numba.njit(nogil=True)  # type: ignore[untyped-decorator]
    def count_down(number: int) -> int:
        while number > 0:
            number += 1 - 2 * (number % 2)
        return number

    count_down(-2)
    notify(None)
    count_down(2)


def start_daemons(pids: str, notify: Notify) -> None:
    """Start processes that leave their session and their parent; write down their ids."""
    code = "import os, sys, time; os.fork() and os._exit(0); os.setsid(); "
    code += f"print(os.getpid(), file=open(sys.argv[1], 'a'), flush=True); time.sleep({LONG})"
    for number in range(2):
        subprocess.run([sys.executable, "-c", code, f"{pids}.part"], start_new_session=True)
        while len(_lines(f"{pids}.part")) <= number:
            time.sleep(0.005)
    Path(f"{pids}.part").rename(pids)


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def start_daemons_and_hang(pids: str, notify: Notify) -> None:
    start_daemons(pids, notify)
    time.sleep(LONG)


def grow_in_children(number: int, notify: Notify) -> None:
    """Start processes that use 200 MB each."""
    code = f"import time; hoard = b'x' * 200_000_000; time.sleep({LONG})"
    for _ in range(number):
        subprocess.Popen([sys.executable, "-c", code])
    time.sleep(LONG)


def print_much(word: str, notify: Notify) -> None:
    """Print 10 MB in various ways."""
    for _ in range(10):
        print(word * (1_000_000 // len(word)))
        os.write(1, b"y" * 10_000)
        os.write(2, b"z" * 10_000)


def settings(_: object, notify: Notify) -> list[Any]:
    """Settings of a process that code in it can change."""
    return [
        os.getcwd(),
        str(signal.getsignal(signal.SIGINT)),
        str(np.geterr()),
        len(warnings.filters),
        random.getstate() == random.Random(7).getstate(),
        threading.active_count(),
        os.environ.get("CHANGED"),
        sys.getrecursionlimit(),
    ]


def change_settings(_: object, notify: Notify) -> list[Any]:
    os.chdir("/")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    np.seterr(all="raise")
    warnings.simplefilter("error")
    random.seed(7)
    threading.Thread(target=time.sleep, args=[LONG], daemon=True).start()
    os.environ["CHANGED"] = "yes"
    sys.setrecursionlimit(10_000)
    return settings(None, notify)


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


def end_by_signal(name: str, notify: Notify) -> None:
    os.kill(os.getpid(), signal.Signals[name])


def end_by_number(number: int, notify: Notify) -> None:
    os.kill(os.getpid(), number)


def close_all_files(_: object, notify: Notify) -> None:
    os.closerange(3, 1000)
    time.sleep(LONG)


def send_to_parent(data: bytes, notify: Notify) -> None:
    """Send some bytes to the parent, on whatever is a socket to it."""
    for file in range(3, 1000):
        try:
            if stat.S_ISSOCK(os.fstat(file).st_mode):
                Connection(os.dup(file)).send_bytes(data)
        except OSError:
            continue
    time.sleep(LONG)


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


def end_worker(_: object, notify: Notify) -> None:
    """End the process that started this one's guard, and this one with it."""
    guard = Path(f"/proc/{os.getppid()}/stat").read_text()
    os.kill(int(guard.rpartition(")")[2].split()[1]), signal.SIGKILL)
    time.sleep(LONG)


def close_connection(_: object, notify: Notify) -> None:
    """Close the connection to the parent, and return."""
    os.closerange(3, 1000)
