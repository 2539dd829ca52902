"""Results of strangers: reading them imports, executes and includes nothing that they name."""

import sys
from pathlib import Path

import polars as pl
import pytest

from helpers.made_results import write_study
from helpers.made_studies import AGENTS
from helpers.shell import Shell, outside

TRACE = "import pathlib; pathlib.Path('trace').touch()\n"
READING = [
    ("status", "out"),
    ("compare", "out"),
    ("compare", "out", "--format", "json"),
    ("compare", "out", "--as-in-paper", "--feature", "p95"),
    ("compact", "out", "-o", "small.parquet"),
    ("compare", "small.parquet", "named"),
    ("report", "named", "--format", "html"),
]


@pytest.mark.slow
def test_reading_results_imports_nothing_they_name(
    small: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(small)
    monkeypatch.delitem(sys.modules, "study_agents", raising=False)
    (small / "study_agents.py").write_text(TRACE + AGENTS)
    (small / "evil.py").write_text(TRACE)
    (small / "matplotlibrc").write_text("backend: module://evil\ntext.usetex: true\n")
    (small / "named").mkdir()
    write_study(small / "named", ("evil:Agent", "evil", "random"), experiments=("evil:problem",))
    for command in READING:
        done = shell(*command)
        assert done.code == 0, done
        assert not (small / "trace").exists(), command
    # Matplotlib reads its file when a process first draws.
    done = outside(small, "report", "named", "--format", "figures", "-o", "drawn")
    assert done.code == 0, done
    assert not (small / "trace").exists()
    # A run does import the agents that its study names.
    assert outside(small, "run", "study.toml", "-r", "out").code == 0
    assert (small / "trace").exists()


def test_tables_keep_names_as_they_are(tmp_path: Path, shell: Shell) -> None:
    """Only what spreadsheets show is changed."""
    write_study(tmp_path, ("=1+1", "random"))
    shell("report", tmp_path, "--format", "parquet")
    assert "=1+1" in pl.read_parquet(tmp_path / "report/agents.parquet")["algorithm"]
