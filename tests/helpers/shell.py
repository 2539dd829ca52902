"""Commands of the command line, run in this process or in one of their own."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from brlbench import cli


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


class Shell:
    """Runs commands in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *arguments: object) -> Done:
        self.monkeypatch.setattr(sys, "argv", ["brlbench", *map(str, arguments)])
        self.capsys.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        return Done(code, *self.capsys.readouterr())


def outside(folder: Path, *arguments: object, **environment: str) -> Done:
    """Run a command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "brlbench", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "COLUMNS": "250", **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


IN_TURN = """
import sys

from brlbench.cli import main

_, *rest = sys.argv
while rest:
    end = rest.index("\\f")
    sys.argv[1:], rest = rest[:end], rest[end + 1 :]
    try:
        main()
    except SystemExit as end:
        print(f"\\0{end.code or 0}", flush=True)
        print("\\0", end="", file=sys.stderr, flush=True)
"""


def in_turn(folder: Path, commands: Sequence[Sequence[object]], **environment: str) -> list[Done]:
    """Run several commands, one after the other, in one process of their own."""
    words = [str(word) for command in commands for word in (*command, "\f")]
    done = subprocess.run(
        [sys.executable, "-c", IN_TURN, *words],
        cwd=folder,
        env={**os.environ, "COLUMNS": "250", **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    outs = re.findall(r"(.*?)\0(\d+)\n", done.stdout, re.DOTALL)
    errors = done.stderr.split("\0")[:-1]
    return [Done(int(code), out, err) for (out, code), err in zip(outs, errors, strict=True)]


def run_demo(folder: Path) -> None:
    """Run a small demo, with results in `demo-results`."""
    done = outside(folder, "demo", "--mdps", 3, "--seed", 1)
    progress = [line for line in done.err.splitlines() if " of 72 jobs" in line]  # if it takes long
    assert (done.code, done.err.splitlines()) == (0, progress), done.err
    (folder / "printed.txt").write_text(done.out)


def assert_error(done: Done, *parts: str) -> None:
    """One sentence on stderr, nothing else there, and a code that says so."""
    assert done.code == 1
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err + done.out
    for part in parts:
        assert part in done.err
