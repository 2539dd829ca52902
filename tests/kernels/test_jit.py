"""Compiled code on disk: never stale, and used by the next process."""

import json
import math
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
import pytest

import brlbench
from brlbench.kernels import dispatch, machine_code
from brlbench.kernels.jit import cold, inlined, kernel
from brlbench.kernels.loop import trajectory

# Twenty actions of the random agent, through a helper of a helper, and what was compiled for them.
DRAW = """
import json, os, sys
import numpy as np
from numba.core import event
with event.install_recorder("numba:compile") as compiled:
    from brlbench.agents.random.kernel import Random
    from brlbench.kernels import machine_code
    from brlbench.kernels.loop import trajectory
    agent = Random(np.array([1, 2, 3, 4], np.uint64), 5)
    actions = [int(trajectory.act_once(agent, 0)) for _ in range(20)]
stats = trajectory.play.stats
modules = sorted({record.data["dispatcher"].py_func.__module__ for _, record in compiled.buffer})
print(json.dumps({
    "actions": actions,
    "hits": len(stats.cache_hits),
    "misses": len(stats.cache_misses),
    "compiled": modules,
    "files": sorted(os.listdir(machine_code.FOLDER)) if machine_code.FOLDER.is_dir() else [],
}))
"""

# A short experiment with every agent that comes with the package.
PLAY = """
import json
from numba.core import event
with event.install_recorder("numba:compile") as compiled:
    import brlbench as bb
    from brlbench.kernels.loop import trajectory
    for agent in bb.AGENTS.values():
        experiment = bb.Experiment(agent.example, num_mdps=1, horizon=3)
        bb.evaluate(agent(**agent.quick), experiment)
stats = trajectory.play.stats
names = sorted({str(record.data["dispatcher"].py_func.__name__) for _, record in compiled.buffer})
print(json.dumps({
    "hits": len(stats.cache_hits),
    "misses": len(stats.cache_misses),
    "compiled": names,
}))
"""

# A compiled agent of a user's, which always takes one action.
OWN = """
from typing import NamedTuple

from brlbench.kernels.jit import kernel
from brlbench.kernels.types import Words
from brlbench.kernels.loop.trajectory import register

class Arrays(NamedTuple):
    rng: Words
    action: int

@kernel
def chosen(agent):
    return agent.action

def reset(agent, x): pass
def act(agent, x): return chosen(agent) + OFFSET
def observe(agent, x, u, y, r): pass

register(Arrays, reset=reset, act=act, observe=observe)
"""

DRAW_OWN = """
import json
import numpy as np
from brlbench.kernels.loop import trajectory
import own
agent = own.Arrays(np.array([1, 2, 3, 4], np.uint64), 1)
print(json.dumps({"actions": [int(trajectory.act_once(agent, 0)) for _ in range(3)]}))
"""


def run(script: str, **environment: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *printed, result = done.stdout.splitlines()
    return {"printed": printed, **json.loads(result)}


@pytest.mark.slow
def test_an_edited_helper_is_compiled_anew(tmp_path: Path) -> None:
    copied = tmp_path / "brlbench"
    shutil.copytree(Path(brlbench.__file__).parent, copied)
    folders = {"PYTHONPATH": str(tmp_path), "BRLBENCH_CACHE_DIR": str(tmp_path / "cache")}
    first = run(DRAW, **folders)
    assert len(set(first["actions"])) > 1
    assert (first["hits"], first["misses"]) == (0, 1)
    assert {"brlbench.agents.random.kernel", "brlbench.kernels.random.rng"} <= {*first["compiled"]}
    assert {"play", "below"} <= {name.split("-")[0] for name in first["files"]}

    other = copied / "agents/bamcp/kernel.py"  # which the random agent does not import
    other.write_text(other.read_text() + "# edited")
    second = run(DRAW, **folders)
    assert second["actions"] == first["actions"]
    assert (second["hits"], second["misses"], second["compiled"]) == (1, 0, [])

    helper = copied / "kernels/random/rng.py"
    text = helper.read_text()
    edited = text.replace("return int(uniform(rng) * end)", "return 0")
    assert edited != text
    stamp = helper.stat()
    helper.write_text(edited)
    os.utime(helper, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # the date alone doesn't tell
    third = run(DRAW, **folders)
    assert third["actions"] == [0] * 20
    assert len(third["files"]) > len(first["files"])

    helper.write_text(text)
    fourth = run(DRAW, **folders)
    assert fourth["actions"] == first["actions"]
    assert fourth["hits"] == 1


@pytest.mark.slow
def test_a_helper_of_several_agents_is_compiled_once(tmp_path: Path) -> None:
    copied, cache = tmp_path / "brlbench", tmp_path / "cache"
    shutil.copytree(Path(brlbench.__file__).parent, copied)
    helper = copied / "kernels/random/rng.py"
    text = helper.read_text()
    edited = text.replace("return int(uniform(rng) * end)", 'print("below", end)\n    return 0')
    assert edited != text
    helper.write_text(edited)
    folders = {"PYTHONPATH": str(tmp_path), "BRLBENCH_CACHE_DIR": str(cache)}
    first = run(DRAW, **folders)
    for path in cache.rglob("play-*"):
        path.unlink()  # as if another agent had been compiled
    second = run(DRAW, **folders)
    assert second["misses"] == 1
    assert first["printed"] == second["printed"] == ["below 5"] * 20
    assert "brlbench.kernels.random.rng" in first["compiled"]
    assert "brlbench.kernels.random.rng" not in second["compiled"]


@cold
def describe(x: float) -> float:
    print("root of", x)
    if x > 2:
        raise ValueError("too large")
    return math.sqrt(x)


@kernel
def describe_once(x: float) -> float:
    return describe(x)


def test_helpers_print_and_raise(capfd: pytest.CaptureFixture[str]) -> None:
    assert describe_once(0.25) == 0.5
    assert capfd.readouterr().out == "root of 0.25\n"
    with pytest.raises(ValueError, match="too large"):
        describe_once(3.0)


@inlined
def add_below(number: int, start: int) -> int:
    return start if number == 0 else start + number - 1


@kernel
def add_constants(number: int) -> int:
    return add_below(3, 0) + add_below(number, 4) + add_below(start=number, number=0)


def test_a_helper_is_compiled_once_for_all_numbers() -> None:
    assert add_constants(5) == 2 + 8 + 5
    compiled: Any = add_below
    assert compiled.signatures == [(numba.int64, numba.int64)]


def test_the_sources_of_an_agent_include_its_functions() -> None:
    for path in Path(brlbench.__file__).parent.glob("agents/*/kernel.py"):
        import_module(f"brlbench.agents.{path.parent.name}.kernel")
    ours = {
        kind: functions
        for kind, functions in dispatch._PROVIDED.items()
        if machine_code._is_ours(kind.__module__) and trajectory.act in functions
    }
    assert len(ours) > 10
    for kind, functions in ours.items():
        sources = machine_code.sources(kind.__module__)
        for function in functions.values():
            assert function.__module__ in sources
        assert {"brlbench.kernels.jit", "brlbench.kernels.types"} <= sources


@pytest.mark.slow
def test_a_second_process_compiles_nothing() -> None:
    for agent in brlbench.AGENTS.values():
        experiment = brlbench.Experiment(agent.example, num_mdps=1, horizon=3)
        brlbench.evaluate(agent(**agent.quick), experiment)
    second = run(PLAY, PYTHONPATH=search_path(Path(__file__).parents[1]))
    assert second["compiled"] == []
    assert second["misses"] == 0
    assert second["hits"] > 0


@pytest.mark.slow
def test_agents_from_outside_leave_no_trace_and_are_never_stale(tmp_path: Path) -> None:
    cache = {"BRLBENCH_CACHE_DIR": str(tmp_path / "cache")}
    module = tmp_path / "own.py"
    for offset in (0, 1):
        module.write_text(OWN.replace("OFFSET", str(offset)))
        played = run(DRAW_OWN, PYTHONPATH=search_path(tmp_path), **cache)
        assert played["actions"] == [1 + offset] * 3
    module.unlink()
    stored = {path.name.split("-")[0] for path in (tmp_path / "cache").rglob("*-*")}
    assert "keyed_word" in stored  # a helper of the package's
    assert not {"play", "chosen", "act"} & stored


def search_path(folder: Path) -> str:
    return os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])


def test_a_folder_that_cannot_be_written_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    script = "import json; from brlbench.files import cache_folder; "
    script += "print(json.dumps({'folder': str(cache_folder('compiled'))}))"
    folder = run(script, BRLBENCH_CACHE_DIR=str(tmp_path / "file"), TMPDIR=str(tmp_path))["folder"]
    assert Path(folder).is_dir()
    assert Path(folder).is_relative_to(tmp_path / f"brlbench-{os.getuid()}")


WHERE = """
import json
import pathlib
import tempfile

def nowhere(*_):
    raise RuntimeError("no home")

pathlib.Path.home = nowhere
tempfile.tempdir = TEMPORARY
from brlbench.files import cache_folder
print(json.dumps({"folder": str(cache_folder("compiled"))}))
"""


def test_a_user_without_a_home(tmp_path: Path) -> None:
    for temporary, expected in ((tmp_path, str(tmp_path)), ("/proc/nowhere", "None")):
        script = WHERE.replace("TEMPORARY", repr(str(temporary)))
        folder = run(script, XDG_CACHE_HOME="", BRLBENCH_CACHE_DIR="")["folder"]
        assert folder.startswith(expected)


def test_a_folder_that_others_can_write_to_is_not_trusted(tmp_path: Path) -> None:
    root = tmp_path / f"brlbench-{os.getuid()}"
    root.mkdir()
    root.chmod(0o777)
    script = WHERE.replace("TEMPORARY", repr(str(tmp_path)))
    assert run(script, XDG_CACHE_HOME="", BRLBENCH_CACHE_DIR="")["folder"] == "None"
    root.chmod(0o700)
    folder = run(script, XDG_CACHE_HOME="", BRLBENCH_CACHE_DIR="")["folder"]
    assert Path(folder).is_relative_to(root)


@pytest.mark.slow
def test_damaged_or_lost_caches_cost_no_result(tmp_path: Path) -> None:
    cache = {"BRLBENCH_CACHE_DIR": str(tmp_path / "cache")}
    first = run(DRAW, **cache)
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[:40] + b"x")
    damaged = run(DRAW, **cache)
    assert damaged["actions"] == first["actions"]
    assert damaged["hits"] == 0
    assert run(DRAW, **cache)["hits"] > 0
    # A file in place of the folder, just before the first call: nothing can be saved any more.
    lose = "import shutil; f = machine_code.FOLDER; shutil.rmtree(f); f.touch()"
    lost = DRAW.replace("    agent = ", f"    {lose}\n    agent = ")
    assert run(lost, **cache)["actions"] == first["actions"]
