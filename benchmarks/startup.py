"""Start-up, in fresh processes: importing, a command, the first decision, and compiling agents.

"Warm" is with machine code from earlier processes on disk, "cold" with none, in a folder of its
own. Agents compile in turn, each in a process of its own, with the code of those before them on
disk; their seconds are the processor's. The bounds are processes that only import what is
indispensable: nothing for the interpreter, typer and rich for the command line, Numba for a
decision.
"""

import atexit
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial

from brlbench import AGENTS

from .measure import Case, wall_seconds

_COMMAND = "import typer, rich.table"
_COMPILER = "import numba"
_FIRST_DECISION = """
import brlbench as bb
agent = bb.make_agent("epsilon-greedy", epsilon=0.1)
bb.evaluate(agent, bb.Experiment("GC", "GC", num_mdps=1, horizon=1))
"""


_AGENT = """
import sys
import brlbench as bb
kind = bb.AGENTS[sys.argv[1]]
bb.evaluate(kind(**kind.quick), bb.Experiment(kind.example, num_mdps=1, horizon=1))
"""


def cases(quick: bool) -> Iterator[Case]:
    """Seconds from the start of a process to its end."""
    for name, arguments, needed, most in (
        ("import brlbench", ["-c", "import brlbench"], "", 0.3),
        ("brlbench agents", ["-m", "brlbench", "agents"], _COMMAND, 0.7),
        ("first decision, warm", ["-c", _FIRST_DECISION], _COMPILER, None),
    ):
        _seconds(*arguments)  # makes it warm
        yield Case(
            "startup",
            name,
            "s",
            partial(_seconds, *arguments),
            bound=partial(_seconds, "-c", needed),
            most=most,
        )
    yield Case(
        "startup",
        "first decision, cold",
        "s",
        lambda: _cold_seconds("-c", _FIRST_DECISION),
        bound=lambda: _seconds("-c", _COMPILER),
        most_rounds=1 if quick else 3,
    )
    folder = tempfile.mkdtemp()  # cases are run after this function ends
    atexit.register(shutil.rmtree, folder)
    for name in ("random",) if quick else AGENTS:
        yield Case(
            "startup",
            f"{name}, compiled after those above",
            "s",
            partial(_cpu_seconds, folder, "-c", _AGENT, name),
            bound=partial(_cpu_seconds, folder, "-c", _COMPILER),
            most_rounds=1,  # then it is warm
        )


def _cpu_seconds(folder: str, *arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _seconds(*arguments, BRLBENCH_CACHE_DIR=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _cold_seconds(*arguments: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return _seconds(*arguments, BRLBENCH_CACHE_DIR=folder)


def _seconds(*arguments: str, **variables: str) -> float:
    command, environment = [sys.executable, *arguments], os.environ | variables
    return wall_seconds(
        lambda: subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    )
