"""Random command lines, as processes: they end soon, in a result or in one sentence."""

import shutil
import subprocess
from typing import Any

import typer

from brlbench.cli import app

from .ground import Broken, Ground

_SECONDS = 900  # after which a command hangs
_ENDS = (0, 1, 2)
_WORDS = (
    *("GC", "uniform:GC", "Chain", "random", "epsilon-greedy", "optimal", "study_agents:Plain"),
    *("study.toml", "out", "out/plan.json", "new", "new.parquet", "new.json", ".", "/"),
    *(
        "/dev/null",
        "0",
        "1",
        "2",
        "-1",
        "1e400",
        "nan",
        "3.5",
        "1us",
        "1h",
        "epsilon=0.5",
        "=",
        ",",
    ),
    *("", " ", "\n", "--", "-", "*", "[b]", "../..", "é", "\udcff", "x" * 5000, "builtins:print"),
)
# Bounded, because a sound line may mean much work.
_BOUNDS = {
    "run": ("--workers", "1"),
    "demo": ("--mdps", "2", "--workers", "1"),
    "bound": ("--seconds", "0.1"),
    "check": ("--mdps", "2", "--horizon", "3"),
    "play": ("--workers", "1"),
    "report": ("--format", "csv"),
}
_NEVER = ("--detach", "--install-completion", "--show-completion", "--watch")


def attack(ground: Ground, lines: int) -> None:
    """Run random command lines in a folder with a finished study."""
    place = ground.folder / "commands"
    shutil.copytree(ground.folder / "undisturbed", place)
    commands = _commands(typer.main.get_command(app))
    for _ in range(lines):
        line = _draw(ground, commands)
        try:
            code = ground.run(*line, cwd=place, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            raise Broken(f"{line} takes more than {_SECONDS} s") from None
        if code not in _ENDS:
            raise Broken(f"{line} ended with code {code}: {ground.said()}")
        ground.counts["command lines"] += 1
        ground.log.unlink()
    ground.check_processes()
    shutil.rmtree(place)


def _commands(group: Any, before: tuple[str, ...] = ()) -> dict[tuple[str, ...], list[str]]:
    """The options of each command."""
    if not hasattr(group, "commands"):
        return {before: [o for p in group.params for o in p.opts if o.startswith("--")]}
    each = (_commands(command, (*before, name)) for name, command in group.commands.items())
    return {name: options for commands in each for name, options in commands.items()}


def _draw(ground: Ground, commands: dict[tuple[str, ...], list[str]]) -> list[str]:
    rng = ground.rng
    name = list(commands)[rng.integers(len(commands))]
    options = [option for option in commands[name] if option not in _NEVER]
    line = [*name, *_BOUNDS.get(name[0], ())]
    for _ in range(rng.integers(5)):
        if options and rng.random() < 0.6:
            line.append(str(rng.choice(options)))
        if rng.random() < 0.8:
            line.append(_WORDS[rng.integers(len(_WORDS))])
    return line
