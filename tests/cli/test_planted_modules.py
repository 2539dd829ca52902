"""No command runs Python files that happen to lie in the working folder."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from brlbench.cli import _PANELS, entries
from helpers.made_studies import TINY
from helpers.shell import in_turn, outside

# Names the modules that are looked for and not found, while the package and what it needs load.
TRACE = """
import importlib, pkgutil, sys

class Missing:
    def find_spec(name, path=None, target=None):
        if path is None and name.isidentifier():
            print(name)

sys.meta_path.append(Missing)
import brlbench
for module in pkgutil.walk_packages(brlbench.__path__, "brlbench."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError:
            pass
for name in ("backends.backend_agg", "backends.backend_pdf", "backends.backend_svg", "pyplot"):
    importlib.import_module(f"matplotlib.{name}")
"""

ALWAYS = ("yaml", "cffi", "coverage", "_polars_runtime_64")

COMMANDS = (
    ("problems",),
    ("agents",),
    ("run", "study.toml", "-r", "out", "--workers", "1"),
    ("status", "out"),
    ("retime", "out"),
    ("compare", "out"),
    ("report", "out", "--output", "page", "--format", "html", "--format", "latex"),
    ("compact", "out", "--output", "small.parquet"),
    ("leaderboard", "made.entry.parquet", "--output", "board"),
    ("check", "random", "--mdps", "2", "--horizon", "5"),
    ("distribution", "GC"),
    (
        "experiment",
        "--prior",
        "GC",
        "--test",
        "GC",
        "--mdps",
        "2",
        "--horizon",
        "5",
        "-o",
        "e.parquet",
    ),
    ("train", "random", "--prior", "GC", "--horizon", "5", "-o", "random.json"),
    ("play", "random.json", "e.parquet", "-o", "played.parquet", "--workers", "1"),
    ("bound", "GC", "--seconds", "0.01"),
    ("formulas", "--size", "2"),
    ("import", "none.zz", "--prior", "GC", "-o", "imported.parquet"),  # there is no such file
    ("entry", "new", "made.entry.parquet", "-o", "new.entry.parquet"),  # nor such options
    ("entry", "check", "made.entry.parquet", "--replay", "1"),
    ("new", "my-agent"),
    ("demo", "--mdps", "2", "--workers", "1", "--output", "demo"),
)
FAIL = {"import", "entry new"}


def plant(folder: Path) -> list[str]:
    """Put a module into a folder for each that dependencies look for and don't find."""
    traced = subprocess.run(
        [sys.executable, "-P", "-c", TRACE], capture_output=True, text=True, check=True
    )
    names = sorted({*traced.stdout.split(), *ALWAYS})
    for name in names:
        (folder / f"{name}.py").write_text(
            f"import os\nopen({str(folder / 'ran')!r}, 'a').write('{name} ' + repr(os.sys.argv))\n"
        )
    return names


@pytest.mark.slow
def test_no_command_imports_from_the_working_folder(tmp_path: Path, made_entry: Path) -> None:
    assert len(plant(tmp_path)) > 20
    shutil.copy(made_entry, tmp_path)
    (tmp_path / "study.toml").write_text(TINY)
    apart = outside(tmp_path, "entry", "check", "made.entry.parquet", "--replay", "0")
    assert apart.code == 0, apart.err
    done = in_turn(tmp_path, COMMANDS, PYTHONSAFEPATH="1")
    failed = {" ".join(each[:2]): end for each, end in zip(COMMANDS, done, strict=True) if end.code}
    assert {name for name in failed if not name.startswith(tuple(FAIL))} == set(), failed
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


def test_every_command_is_among_them() -> None:
    names = {each.__name__.rstrip("_") for panel in _PANELS.values() for each in panel}
    names |= {f"entry {each.callback.__name__}" for each in entries.app.registered_commands}  # type: ignore[union-attr]
    assert names == {" ".join(each[: 1 + (each[0] == "entry")]) for each in COMMANDS}
