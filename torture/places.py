"""Odd places: environments, encodings and paths in which everything must work as anywhere else."""

import os
import shutil
from pathlib import Path

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
    """Run a study in an odd place and look at its results there."""
    name = str(ground.rng.choice(_NAMES))
    chosen = ground.rng.choice(
        len(_ENVIRONMENTS), size=int(ground.rng.integers(1, 4)), replace=False
    )
    changes = {key: value for i in chosen for key, value in _ENVIRONMENTS[int(i)].items()}
    place = ground.folder / name
    shutil.copytree(ground.folder / "study", place)
    try:
        _use(ground, place, _environment(changes, ground.folder / "nothing"))
    except Broken as error:
        raise Broken(f"in a folder called {name!r} with {changes}: {error}") from None
    shutil.rmtree(place)
    ground.counts["odd places"] += 1


def _use(ground: Ground, place: Path, variables: dict[str, str]) -> None:
    commands = [
        ("run", "study.toml", "-r", "out"),
        ("status", "out"),
        ("compare", "out"),
        ("report", "out", "--format", "html", "--format", "csv", "--output", "report"),
        ("compact", "out", "--output", "small.parquet"),
    ]
    for command in commands:
        code = ground.run(*command, env=variables, cwd=place)
        if code:
            raise Broken(f"{command[0]} ended with code {code}: {ground.said()}")
    for made in ("report/report.html", "report/agents.csv", "small.parquet"):
        if not (place / made).exists():
            raise Broken(f"there is no {made}")
    ground.check_all(place / "out")


def _environment(changes: dict[str, str | None], nothing: Path) -> dict[str, str]:
    variables = {name: value for name, value in os.environ.items() if name not in changes}
    for name, value in changes.items():
        if value is not None:
            variables[name] = value.format(nothing)
    return variables
