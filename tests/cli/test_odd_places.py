"""Commands in odd places: no home, no room, names of any letters, and folders that vanish.

Each obstacle gives one sentence and an exit code, leaves other results whole and no temporary
files, and once it is gone the same command finishes the run.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import brlbench
from brlbench.problems import distribution, write
from brlbench.report.latex import make_pdf
from helpers.made_studies import (
    GATED,
    assert_complete,
    assert_tidy,
    command,
    ended,
    open_gate,
    returns_in,
    wait_at_gate,
    write_study,
)
from helpers.processes import wait_for
from helpers.shell import Done, Shell, assert_error, in_turn, outside
from helpers.sizes import thinned

pytestmark = pytest.mark.slow  # starts processes

ODD_NAME = "a b'c\"d\né λ[red]$%#&~"
NOWHERE = "/proc/nowhere"  # can't be made, by anyone

NAMED = """
title = "Ein λ [red]"
defaults = { num_mdps = 6, horizon = 5 }
experiments = [{ test = "GC" }]
agents = [
  { algorithm = "study_agents:Plain", parameters.luck = [1, 2] },
  # COMPILED
]
"""

# Results of the second experiment are larger than those of the first.
UNEQUAL = """
defaults.num_mdps = 6
experiments = [{ test = "GC", horizon = 5 }, { test = "GC", horizon = 2000, name = "long" }]
agents = [{ algorithm = "study_agents:Plain", parameters.luck = [1, 2] }]
execution = { workers = 1 }
"""


# Environments.

ENVIRONMENTS = {
    "ascii": {
        "PYTHONIOENCODING": "ascii",
        "NO_COLOR": "1",
        "PYTHONHASHSEED": "1",
        "PYTHONOPTIMIZE": "2",
    },
    "C": {
        "LANG": "C",
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "TERM": "dumb",
        "PYTHONHASHSEED": "2",
    },
}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_environments_and_names(tmp_path: Path, environment: str) -> None:
    """All inputs and outputs have an odd name, and results are the same as elsewhere."""
    folder = tmp_path / ODD_NAME
    study, results = write_study(folder, NAMED, f"{ODD_NAME}.toml"), f"{ODD_NAME}/out"
    commands = [
        ("run", study.name, "-r", results),
        ("status", results),
        ("compare", results),
        ("compare", results, "--format", "json"),
        ("report", results, "--format", "html", "--format", "json", "-o", f"{ODD_NAME} report"),
        ("compact", results, "-o", f"{ODD_NAME}.parquet"),
    ]
    ended = in_turn(folder, commands, **ENVIRONMENTS[environment])
    assert len(ended) == len(commands)
    for done in ended:
        assert done.code == 0, done.err
        assert "Traceback" not in done.out + done.err
    assert ended[1].out.startswith(("Ein λ [red]", r"Ein \u03bb [red]"))
    assert_complete(study, folder / results)
    assert_tidy(folder / results)


@pytest.mark.latex
def test_a_report_in_a_folder_with_an_odd_name(small: Path, shell: Shell) -> None:
    done = shell("report", "out", "--format", "latex", "-o", ODD_NAME)
    assert done.code == 0, done.err
    assert (small / ODD_NAME / "report.pdf").stat().st_size > 1000


def test_names_that_are_no_text(small: Path) -> None:
    """Linux takes any bytes but two."""
    name = os.fsdecode(b"\xff")
    write(distribution("GC"), small / "gc.toml")
    text = (small / "gc.toml").read_text()
    (small / f"{name}.toml").write_text(text.replace('name = "GC"\n', ""))
    (small / "out").rename(small / name)
    (small / name / "results/damaged.parquet").touch()
    mdps = ("--prior", f"{name}.toml", "--test", f"{name}.toml", "--mdps", 2)
    written, made, reported = in_turn(
        small,
        [
            ("distribution", "GC", "-o", f"{name}.json"),
            ("experiment", *mdps, "-o", name + "/x.parquet"),
            ("report", name, "--format", "json", "--format", "html"),
        ],
    )
    assert written.out == "wrote \\udcff.json\n"
    assert "Experiment(?: 2 MDPs" in made.out
    assert reported.code == 0, reported.err
    assert "note: left out: \\udcff/results/damaged.parquet is damaged" in reported.err


def test_texts_without_docstrings(tmp_path: Path) -> None:
    commands = [("agents",), ("run", "--help"), ("--help",)]
    usual, without = (in_turn(tmp_path, commands, PYTHONOPTIMIZE=level) for level in ("0", "2"))
    assert without == usual
    assert all(len(done.out) > 1000 for done in usual)


# No place for files of one's own.

NO_TEMPORARY_FILES = """
import tempfile

tempfile._candidate_tempdir_list = lambda: ["/proc/nowhere"]
"""


def package_files() -> list[tuple[Path, int]]:
    files = Path(brlbench.__file__).parent.rglob("*")
    return [(path, path.stat().st_mtime_ns) for path in files if "__pycache__" not in path.parts]


def test_no_home_no_temporary_folder_and_no_cache(tmp_path: Path) -> None:
    """Nothing is written but results, least of all into the package."""
    (tmp_path / "sitecustomize.py").write_text(NO_TEMPORARY_FILES)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    nowhere = {
        **{"HOME": NOWHERE, "TMPDIR": NOWHERE, "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": ""},
        **{"BRLBENCH_CACHE_DIR": "", "MPLCONFIGDIR": "", "PYTHONPATH": path},
    }
    write_study(tmp_path, NAMED.replace("# COMPILED", '{ algorithm = "random" },'))
    before = package_files()
    run, report = ("run", "study.toml", "-r", "out", "--workers", 1), ("report", "out")
    run_done, compared, done = in_turn(tmp_path, [run, ("compare", "out"), report], **nowhere)
    assert run_done.code == 0, run_done.err
    assert_complete(tmp_path / "study.toml", tmp_path / "out")
    assert compared.code == 0
    # Matplotlib needs one folder, and its message names the remedy.
    assert done.code == 1
    assert "Traceback" not in done.err
    assert "set the MPLCONFIGDIR environment variable" in done.err.splitlines()[-1]
    nowhere["MPLCONFIGDIR"] = str(tmp_path / "mpl")
    done = outside(tmp_path, *report, "--format", "csv", **nowhere)
    assert done.code == 0, done.err
    assert package_files() == before


def test_no_temporary_folder_for_a_pdf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(tempfile, "tempdir", NOWHERE)
    note = make_pdf(tmp_path / "report.tex")
    assert str(note).startswith("report.pdf was not made: FileNotFoundError")


@pytest.mark.parametrize(
    "arguments",
    [
        ("distribution", "GC", "-o", f"{NOWHERE}/gc.toml"),
        ("train", "random", "--prior", "GC", "-o", f"{NOWHERE}/a"),
        ("run", "study.toml", "-r", NOWHERE),
        ("run", "study.toml", "-r", NOWHERE, "--detach"),
        ("report", "out", "-o", NOWHERE),
        ("compact", "out", "-o", f"{NOWHERE}/small.parquet"),
    ],
)
@pytest.mark.usefixtures("small")
def test_outputs_where_nothing_can_be_written(shell: Shell, arguments: tuple[str, ...]) -> None:
    assert_error(shell(*arguments), NOWHERE, "No such file or directory")


# A folder that vanishes.


def test_a_folder_that_vanishes_during_a_run(tmp_path: Path, shell: Shell) -> None:
    text = GATED.replace("num_mdps = 8", "num_mdps = 3")
    study, results, away = write_study(tmp_path, text), tmp_path / "out", tmp_path / "away"
    with command("run", study, "-r", results) as process:
        wait_at_gate(tmp_path)
        wait_for(lambda: list(results.glob("results/*/*.parquet")))
        results.rename(away)
        open_gate(tmp_path)
        code, output = ended(process)
    assert code == 1
    assert "Traceback" not in output
    assert output.rstrip().endswith("No such file or directory; the same command resumes it")
    assert "error: the run stopped: " in output
    assert returns_in(away)  # all are whole
    for place in (results, away):  # it is lost, or comes back
        assert shell("run", study, "-r", place).code == 0
        assert_complete(study, place)
        assert_tidy(place)


# No room.


def assert_stopped_for(done: Done, reason: str, results: Path) -> None:
    assert done.code == 1
    assert_error(Done(1, "", done.err), reason)
    assert not list(results.rglob("*.tmp"))
    for path in results.rglob("*.json"):
        assert path.read_text().rstrip().endswith("}")
    returns_in(results)  # raises if one is not whole


def test_files_that_are_too_large(tmp_path: Path, shell: Shell) -> None:
    """A limit on the size of files stops a run like a full disk, and needs no rights."""
    study = write_study(tmp_path, UNEQUAL)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000))

    process = subprocess.run(
        [sys.executable, "-m", "brlbench", "run", study, "-r", tmp_path / "out"],
        capture_output=True,
        text=True,
        preexec_fn=limit,
        check=False,
    )
    done = Done(process.returncode, process.stdout, process.stderr)
    assert_stopped_for(done, "File too large; the same command resumes it", tmp_path / "out")
    assert returns_in(tmp_path / "out")
    assert shell("run", study, "-r", "out").code == 0
    assert_complete(study, tmp_path / "out")
    assert_tidy(tmp_path / "out")


# Run in a name space of its own, where anyone may mount; what is left is copied out of it.
IN_A_SMALL_DISK = """
set -e
mkdir disk
mount -t tmpfs -o "$OPTIONS" none disk
eval "$PREPARE"
set +e
"$PYTHON" -m brlbench run study.toml -r disk/out 2> error
echo $? > code
set -e
cp -r disk before
"""
MOUNTING = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
DISKS = {
    "no space": ("size=80k,nr_inodes=1000", "", "No space left on device"),
    "no inodes": ("size=10m,nr_inodes=16", "", "No space left on device"),
    "read-only": ("size=10m", "mount -o remount,ro disk", "Read-only file system"),
}


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run([*MOUNTING, "mount -t tmpfs none /"], capture_output=True, check=False)
    return tried.returncode == 0


if can_mount():  # else the limit above must do

    @pytest.mark.parametrize("disk", thinned(DISKS, ["no space", "read-only"]))
    def test_disks_that_take_no_more(tmp_path: Path, disk: str, shell: Shell) -> None:
        study = write_study(tmp_path, UNEQUAL)
        options, prepare, reason = DISKS[disk]
        more = {"OPTIONS": options, "PREPARE": prepare, "PYTHON": sys.executable}
        script = subprocess.run(
            [*MOUNTING, IN_A_SMALL_DISK],
            cwd=tmp_path,
            env={**os.environ, **more},
            capture_output=True,
            text=True,
            check=False,
        )
        assert script.returncode == 0, script.stderr
        code, error = ((tmp_path / name).read_text() for name in ("code", "error"))
        assert_stopped_for(Done(int(code), "", error), reason, tmp_path / "before")
        assert shell("run", study, "-r", "before/out").code == 0
        assert_complete(study, tmp_path / "before/out")
        assert_tidy(tmp_path / "before/out")
