"""Odd places: environments, encodings and paths in which everything must work as anywhere else."""

import os
import shutil
import sys
from functools import partial
from importlib.metadata import packages_distributions
from pathlib import Path

from brlbench.executors.read_only import make_read_only
from helpers.made_studies import TINY, write_study
from helpers.processes import can_mount

from .ground import Broken, Ground

# None removes a variable; {} is a folder that does not exist.
_ENVIRONMENTS: tuple[dict[str, str | None], ...] = (
    {"HOME": None},
    {"HOME": "{}"},
    {"HOME": "/dev/null"},
    {"LANG": "C", "LC_ALL": "C"},
    {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "ascii"},
    {"TERM": "dumb", "NO_COLOR": "1"},
    {"TERM": None, "COLUMNS": "1"},
    {"PYTHONOPTIMIZE": "2"},
    {"PYTHONHASHSEED": "1"},
    {"TMPDIR": "{}"},
    {"XDG_CACHE_HOME": "{}", "MPLCONFIGDIR": "{}"},
    {"TZ": "nowhere"},
)
_JUMPING: dict[str, str | None] = {"PYTHONPATH": str(Path(__file__).parent / "clock_jumps")}
_NAMES = (
    "plain",
    "two words",
    'it\'s "quoted"',
    "two\nlines",
    "ünïcödé 中文",
    "-dash",
    "a%20b$HOME",
)


def attack(ground: Ground) -> None:
    """Run studies in odd places, in read-only folders, among planted modules, in jumping time."""
    _visit(ground)
    _in_jumping_time(ground)
    _among_plants(ground)
    if can_mount():
        _without_writing(ground)


def _visit(ground: Ground) -> None:
    """Run a study in an odd place and look at its results there."""
    chosen = ground.rng.choice(
        len(_ENVIRONMENTS), size=int(ground.rng.integers(1, 4)), replace=False
    )
    changes = {key: value for i in chosen for key, value in _ENVIRONMENTS[int(i)].items()}
    _go_to(ground, str(ground.rng.choice(_NAMES)), changes)
    ground.counts["odd places"] += 1


def _in_jumping_time(ground: Ground) -> None:
    """Run commands while the clock that says what time it is jumps by years."""
    _go_to(ground, "jumping", _JUMPING)
    ground.counts["commands while the clock jumps"] += len(_commands(""))


def _go_to(ground: Ground, name: str, changes: dict[str, str | None]) -> None:
    place = ground.folder / name
    shutil.copytree(ground.folder / "study", place)
    try:
        _use(ground, place, _environment(changes, ground.folder / "nothing"))
    except Broken as error:
        raise Broken(f"in a folder called {name!r} with {changes}: {error}") from None
    shutil.rmtree(place)


def _use(ground: Ground, place: Path, variables: dict[str, str]) -> None:
    for command in _commands("study.toml"):
        code = ground.run(*command, env=variables, cwd=place)
        if code:
            raise Broken(f"{command[0]} ended with code {code}: {ground.said()}")
    for made in ("report/report.html", "report/agents.csv", "small.parquet"):
        if not (place / made).exists():
            raise Broken(f"there is no {made}")
    ground.check_all(place / "out")


def _among_plants(ground: Ground) -> None:
    """Run commands in a folder with a file for every module that Python or a package has."""
    place = ground.folder / "plants"
    study = write_study(place, TINY)
    shutil.rmtree(place / "gate")
    mark = place / "planted"
    for name in {*sys.stdlib_module_names, *packages_distributions()}:
        (place / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write('{name} ')\n")
    for command in _commands(study.name):
        ground.run(*command, cwd=place)
        if mark.exists():
            raise Broken(f"{command[0]} ran {mark.read_text()} of the folder it was started in")
        ground.counts["commands among planted modules"] += 1
    shutil.rmtree(place)


def _without_writing(ground: Ground) -> None:
    """Run a study whose folder is read-only; then look at results that are."""
    place = ground.folder / "kept"
    shutil.copytree(ground.folder / "study", place / "study")
    study, out = place / "study/study.toml", place / "out"
    code = ground.run(
        "run", study, "-r", out, preexec_fn=partial(make_read_only, str(study.parent))
    )
    if code:
        raise Broken(f"a study in a read-only folder: {ground.said()}")
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    for command in (("run", study, "-r", out), ("status", out), ("compare", out)):
        code = ground.run(*command, preexec_fn=partial(make_read_only, str(out)))
        if code != (command[0] == "run"):
            raise Broken(f"{command[0]} with read-only results: {ground.said()}")
    if before != {path: path.stat().st_mtime_ns for path in out.rglob("*")}:
        raise Broken(f"read-only results in {out} were changed")
    ground.check_all(out)
    shutil.rmtree(place)
    ground.counts["read-only folders"] += 2


def _commands(study: str) -> list[tuple[str, ...]]:
    return [
        ("run", study, "-r", "out"),
        ("status", "out"),
        ("compare", "out"),
        ("report", "out", "--format", "html", "--format", "csv", "--output", "report"),
        ("compact", "out", "--output", "small.parquet"),
    ]


def _environment(changes: dict[str, str | None], nothing: Path) -> dict[str, str]:
    variables = {name: value for name, value in os.environ.items() if name not in changes}
    for name, value in changes.items():
        if value is not None:
            variables[name] = value.format(nothing)
    return variables
