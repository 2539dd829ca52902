"""How commands end, whatever is typed: with one sentence at worst, never with a traceback."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from brlbench import Experiment, evaluate, make_agent
from brlbench.arguments import WORKERS_PER_CORE, num_cores
from brlbench.cli.ending import run_to_end
from brlbench.cli.output import one_line, verbatim
from brlbench.errors import InvalidInput
from brlbench.executors.local import Local
from brlbench.report.loading import load
from brlbench.study.folder import Folder
from brlbench.study.plan import read_study
from helpers.made_studies import TINY, write_study
from helpers.shell import Done, Shell, assert_error, outside

LONG = 300 * "a"  # file systems take 255

TOO_MANY = WORKERS_PER_CORE * num_cores() + 1


# Anything can be raised.


class Ended:
    """Ends a command that raises, with some arguments, in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, error: BaseException, *arguments: str) -> Done:
        self.monkeypatch.setattr(sys, "argv", ["brlbench", *arguments])

        def command(given: list[str]) -> None:
            print(given)
            raise error

        with pytest.raises(SystemExit) as end:
            run_to_end(command)
        assert isinstance(end.value.code, int)
        return Done(end.value.code, *self.capsys.readouterr())


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ended:
    monkeypatch.delenv("BRLBENCH_DEBUG", raising=False)
    return Ended(monkeypatch, capsys)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (InvalidInput("x = 3: must be 4"), "x = 3: must be 4"),
        (InvalidInput("two\nlines\x1b[31m\ud800"), r"two\nlines\x1b[31m\ud800"),
        (MemoryError(), "there is not enough memory: use smaller sizes or fewer workers"),
        (RecursionError("deep"), "a value or a file is nested too deeply: make it flatter"),
        (OSError(28, "No space", "a.txt"), "a.txt can't be read or written: No space"),
        (OSError(28, "No space"), "a file or the output can't be read or written: No space"),
        (OSError(2, "No such file"), "the current folder has been removed: change to another one"),
        (TimeoutError("too slow"), "TimeoutError: too slow"),
    ],
)
def test_an_error_is_one_sentence(ended: Ended, error: Exception, sentence: str) -> None:
    assert ended(error) == (1, "[]\n", f"error: {sentence}\n")


def test_a_bug_asks_for_a_report(ended: Ended) -> None:
    done = ended(KeyError("lost"))
    assert_error(done, "KeyError: 'lost'", "please report it", "--debug")


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def test_an_error_without_a_message(ended: Ended) -> None:
    assert_error(ended(Unspeakable()), "Unspeakable: its message can't be read: this is a bug")


def test_interrupts_and_exits(ended: Ended) -> None:
    assert ended(KeyboardInterrupt())[::2] == (130, "interrupted\n")
    assert ended(SystemExit(7))[::2] == (7, "")
    assert ended(SystemExit(None))[::2] == (0, "")
    assert ended(SystemExit("text"))[::2] == (1, "")
    assert ended(BrokenPipeError())[::2] == (1, "")


@pytest.mark.parametrize(
    ("arguments", "variable", "given"),
    [
        (("--debug", "run", "x"), "", ["run", "x"]),
        (("run", "x", "--debug"), "", ["run", "x"]),
        (("run", "x"), "1", ["run", "x"]),
    ],
)
def test_the_traceback_is_shown_on_demand(
    ended: Ended,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    variable: str,
    given: list[str],
) -> None:
    monkeypatch.setenv("BRLBENCH_DEBUG", variable)
    done = ended(InvalidInput("no"), *arguments)
    assert done.code == 1
    assert done.out == f"{given}\n"
    assert done.err.startswith("Traceback")
    assert done.err.endswith("error: no\n")


def test_a_file_called_debug(ended: Ended) -> None:
    done = ended(InvalidInput("no"), "compare", "--", "--debug")
    assert done == (1, "['compare', '--', '--debug']\n", "error: no\n")


def test_the_help_names_the_option(shell: Shell) -> None:
    assert "--debug" in shell("--help").out
    done = shell("distribution", "GCD", "--debug")
    assert done.err.startswith("Traceback")


# Outputs that take nothing.


def assert_quiet_end(process: "subprocess.CompletedProcess[str]", *sentences: str) -> None:
    assert process.returncode == 1
    assert process.stderr == "".join(f"error: {sentence}\n" for sentence in sentences)


@pytest.mark.parametrize("arguments", [("problems",), ("--help",)])
def test_a_full_output(arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "brlbench", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    full_disk = "a file or the output can't be read or written: No space left on device"
    assert_quiet_end(process, full_disk)


def test_a_reader_that_has_seen_enough() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        process = subprocess.run(
            [sys.executable, "-m", "brlbench", "problems"],
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert_quiet_end(process)


def test_no_outputs_at_all() -> None:
    closed = 'exec "$0" -m brlbench distribution GC <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", closed, sys.executable], check=False).returncode == 0


# What is typed.


@pytest.mark.parametrize(
    "arguments",
    [
        ("distribution", LONG),
        ("distribution", f"{LONG}.toml"),
        ("distribution", "GC", "-o", f"{LONG}.toml"),
        ("experiment", "--prior", "GC", "--test", "GC", "--mdps", "2", "-o", LONG),
        ("train", "random", "--prior", "GC", "-o", LONG),
        ("train", f"{LONG}:Agent", "--prior", "GC", "-o", "a"),
        ("play", LONG, "b", "-o", "a"),
        ("play", "a", "b", "-o", LONG),
        ("run", f"{LONG}.toml"),
        ("run", "study.toml", "-r", LONG),
        ("run", "study.toml", "-r", LONG, "--dry-run"),
        ("run", "study.toml", "-r", LONG, "--detach"),
        ("run", "study.toml", "--profile", LONG),
        ("run", "long.toml"),
        ("status", LONG),
        ("compare", LONG),
        ("report", LONG),
        ("compact", LONG, "-o", "a"),
        ("compact", "x", "-o", LONG),
        ("demo", "-o", LONG),
    ],
)
def test_names_that_are_too_long(shell: Shell, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "study.toml").write_text(TINY)
    (tmp_path / "long.toml").write_text(TINY.replace("GC", LONG))
    assert_error(shell(*arguments), "aaaaaaaaaa")


def test_long_names_of_experiments(tmp_path: Path) -> None:
    """Names of files are cut by bytes, of which this letter has three."""
    study = TINY.replace('test = "GC"', f'test = "GC"\nname = "{90 * "漢"}"')
    (tmp_path / "study.toml").write_text(study)
    folder = Folder(tmp_path / "out")
    folder.open()
    folder.write_plan(read_study(tmp_path / "study.toml"))
    folder.close()
    assert len(list(folder.path.glob("experiments/漢*.parquet"))) == 1


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x = " + 1000 * "[" + 1000 * "]", "can't be used: its values are nested too deeply"),
        ("x = " + 1000 * "{a=" + "1" + 1000 * "}", "can't be used: its values are nested too deep"),
        ("x = 1" + 5000 * "0", "is not a TOML file: Exceeds the limit"),
    ],
)
@pytest.mark.parametrize("arguments", [("run", "wild.toml"), ("run", "study.toml", "--profile")])
def test_wild_tables(
    shell: Shell, tmp_path: Path, arguments: tuple[str, ...], text: str, part: str
) -> None:
    (tmp_path / "study.toml").write_text(TINY)
    (tmp_path / "wild.toml").write_text(text)
    more = ("wild.toml",) if arguments[-1] == "--profile" else ()
    assert_error(shell(*arguments, *more), f"wild.toml {part}")


@pytest.mark.parametrize("workers", [TOO_MANY, 10**30])
def test_more_workers_than_any_machine_has(shell: Shell, tmp_path: Path, workers: int) -> None:
    (tmp_path / "study.toml").write_text(TINY)
    (tmp_path / "crowded.toml").write_text(f"{TINY}[execution]\nworkers = {workers}\n")
    (tmp_path / "profile.toml").write_text(f"workers = {workers}\n")
    sentence = f"workers = {workers}: must be at most {TOO_MANY - 1}, {WORKERS_PER_CORE} per core"
    for arguments in (
        ("run", "study.toml", "--workers", workers),
        ("run", "study.toml", "--workers", workers, "--executor", "dask"),
        ("run", "study.toml", "--profile", "profile.toml"),
        ("run", "crowded.toml"),
        ("demo", "--workers", workers),
    ):
        assert_error(shell(*arguments), sentence)
    assert not list(tmp_path.glob("*-results"))
    with pytest.raises(InvalidInput, match=re.escape(sentence)):
        Local(workers)
    experiment = Experiment("GC", num_mdps=1, horizon=1)
    with pytest.raises(InvalidInput, match=re.escape(sentence)):
        evaluate(make_agent("random"), experiment, workers=workers)


def test_workers_elsewhere_are_not_counted_by_this_machine(shell: Shell, tmp_path: Path) -> None:
    """They are those of a cluster."""
    (tmp_path / "study.toml").write_text(f"{TINY}[execution]\nworkers = {TOO_MANY}\n")
    where = ("--executor", "slurm", "--no-probes", "--dry-run")
    assert shell("run", "study.toml", *where).code == 0


@pytest.mark.dask
def test_workers_of_a_running_cluster_are_not_counted_either() -> None:
    from brlbench.executors.dask import Dask

    Dask("tcp://127.0.0.1:8786", workers=TOO_MANY)
    with pytest.raises(InvalidInput, match="per core of this machine"):
        Dask(workers=TOO_MANY)


# Texts.


def test_verbatim_texts() -> None:
    assert verbatim("[red]\x1b[2J\x00\x9b\ta\nb").plain == r"[red]\x1b[2J\x00\x9b\ta" + "\nb"
    assert one_line("[red]\x1b[2J\ta\nb") == r"[red]\x1b[2J\ta\nb"


# Folders.


def test_folders_that_change_or_cannot_be_read(
    finished_small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "out"
    shutil.copytree(finished_small / "out", results)
    for name in ("vanishing", "secret"):
        (results / "results" / name).mkdir()
    scandir = os.scandir

    def odd_scandir(path: str | Path) -> "os._ScandirIterator[str]":
        if os.path.basename(path) == "vanishing":
            os.rmdir(path)
        if os.path.basename(path) == "secret":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    expected = load(finished_small / "out")
    monkeypatch.setattr(os, "scandir", odd_scandir)
    found = load(results)
    notes = [note for note in found.notes if note not in expected.notes]
    assert len(notes) == 1
    assert notes[0].startswith("left out: folders that can't be read: ")
    assert "secret: Permission denied" in notes[0]
    assert "vanishing: No such file or directory" in notes[0]
    for one, other in zip(found.experiments, expected.experiments, strict=True):
        assert [each.label for each in one.summaries] == [each.label for each in other.summaries]
        for mine, its in zip(one.summaries, other.summaries, strict=True):
            np.testing.assert_array_equal(mine.returns, its.returns)


def test_what_is_no_folder_of_results(shell: Shell) -> None:
    for place in ("/proc/self/task", "/dev/null", ""):
        assert_error(shell("compare", place))


# Schedulers.


@pytest.mark.dask
def test_a_scheduler_that_does_not_answer(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from brlbench.executors import dask

    monkeypatch.setattr(dask, "_CONNECT_SECONDS", 1)
    write_study(tmp_path, TINY)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        done = shell("run", "study.toml", "--scheduler", address)
    assert_error(done, f"scheduler = '{address}': no Dask scheduler could be reached there within")


@pytest.mark.dask
def test_an_address_that_is_none(tmp_path: Path) -> None:
    """In a process of its own: what a client leaves behind complains at the very end."""
    write_study(tmp_path, TINY)
    done = outside(tmp_path, "run", "study.toml", "--scheduler", "nonsense")
    assert_error(done, "scheduler = 'nonsense'", "missing port number")
