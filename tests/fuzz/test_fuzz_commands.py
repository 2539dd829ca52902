"""Command lines: any commands, options and values. What would take long is not drawn."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench import cli
from brlbench.problems import distribution, write
from helpers.fuzzing import ODD_NUMBERS, ODD_TEXTS, fuzzing, little_memory
from helpers.original_files import drawn_run, run_text
from helpers.stored import WRITERS

OPTIONS: dict[str, tuple[str, ...]] = {
    "problems": (),
    "agents": (),
    "distribution": ("--from-gym", "--set", "--output"),
    "experiment": (
        "--prior",
        "--test",
        "--output",
        "--mdps",
        "--discount",
        "--horizon",
        "--accuracy",
        "--trajectories-per-mdp",
        "--seed",
    ),
    "train": ("--prior", "--output", "--set", "--discount", "--horizon", "--seed"),
    "play": ("--output",),
    "status": (),
    "compare": (
        "--offline",
        "--online",
        "--feature",
        "--level",
        "--experiment",
        "--format",
    ),
    "compact": ("--output",),
    "import": ("--prior", "--test", "--output"),
    "run": ("--results", "--profile"),
    "formulas": ("--features", "--operators", "--constants", "--output"),
}
ALWAYS = {"run": ["--dry-run", "--no-probes"], "play": ["--workers", "1"]}
FILES = [
    "result",
    "experiment",
    "agent",
    "old.dat",
    "prior.json",
    "study.toml",
    "x.toml",
    "folder",
    "none",
]
WORDS = [
    *(
        "GC",
        "Chain",
        "random",
        "optimal",
        "uniform:GC",
        "around:3:GC",
        "mixed:0.3:GC",
        "scaled:7:GC",
        "epsilon=0.5",
        "mean",
        "json",
    ),
    *("csv", "1ms", "0.5", "3", "a.json", "b.parquet", "c.dat", "folder/d.toml", "--", "-o", "-x"),
]
texts = [text for text in ODD_TEXTS if not any(c in text for c in "\x00\ud800\udfff")]
words = (
    st.sampled_from([*FILES, *WORDS])
    | st.sampled_from(texts)
    | st.sampled_from([str(number) for number in ODD_NUMBERS])
    | st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=4)
)
SOUND = {
    "--prior": ["GC", "prior.json", "uniform:GC"],
    "--test": ["GC", "prior.json"],
    "--output": ["a.json", "b.parquet", "c.dat"],
    "--mdps": ["2"],
    "--horizon": ["3"],
    "--set": ["epsilon=0.5"],
    "--results": ["folder"],
    "--format": ["csv", "json"],
}
FIRST = {
    "distribution": ["GC", "prior.json"],
    "train": ["random", "epsilon-greedy"],
    "play": ["agent", "experiment"],
    "status": ["folder"],
    "compare": ["result"],
    "compact": ["result"],
    "import": ["old.dat"],
    "run": ["study.toml"],
}


class Ended(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@st.composite
def commands(draw: st.DrawFn) -> list[str]:
    """A command with arguments and options, sound ones and odd ones."""
    command = draw(st.sampled_from([*OPTIONS]))
    line = [command, *ALWAYS.get(command, [])]
    for argument in FIRST.get(command, []):
        line.append(draw(st.just(argument) | words) if draw(st.booleans()) else argument)
    for option in OPTIONS[command]:
        if draw(st.integers(0, 2)):
            line += [option, draw(st.sampled_from(SOUND.get(option, ["1"])) | words)]
    if not draw(st.integers(0, 4)):
        line.append(draw(words))
    return line


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of each kind."""
    folder = tmp_path_factory.mktemp("files")
    for kind, writer in WRITERS.items():
        writer(folder / kind)
    write(distribution("GC"), folder / "prior.json")
    (folder / "old.dat").write_text(run_text(drawn_run()))
    (folder / "study.toml").write_text(
        '[[experiments]]\ntest = "GC"\nnum_mdps = 2\n[[agents]]\nalgorithm = "random"\n'
    )
    return folder


@contextmanager
def _place(files: Path) -> Iterator[None]:
    """A folder of its own with those files, in which a command runs."""
    path, argv = sys.path.copy(), sys.argv
    with tempfile.TemporaryDirectory() as name, chdir(name):
        for file in files.iterdir():
            os.link(file, Path(name, file.name))
        Path(name, "folder").mkdir()
        try:
            yield
        finally:
            sys.path[:], sys.argv = path, argv


def run(line: list[str]) -> Ended:
    out, err = StringIO(), StringIO()
    sys.argv = ["brlbench", *line]
    with redirect_stdout(out), redirect_stderr(err), little_memory():
        try:
            cli.main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
    return Ended(code, out.getvalue(), err.getvalue())


@fuzzing(60)
@given(line=commands())
def test_any_command_line(files: Path, line: list[str]) -> None:
    with _place(files):
        ended = run(line)
    assert ended.code in (0, 1, 2)
    assert "Traceback" not in ended.out + ended.err
    if ended.code == 1:
        assert ended.err.startswith("error: ")


@fuzzing(30)
@given(line=st.lists(words | st.sampled_from([*OPTIONS, "--help"]), max_size=4))
def test_any_words(files: Path, line: list[str]) -> None:
    if line[:1] in (["demo"], ["run"]):
        return
    with _place(files):
        assert run(line).code in (0, 1, 2)
