"""Results of strangers: reading them imports, executes and includes nothing that they name."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from brlbench.report.build import build
from brlbench.report.data import ReportData
from brlbench.report.notes import Note
from helpers.made_results import experiment, summary, write_study
from helpers.made_studies import AGENTS
from helpers.shell import Shell, outside

TRACE = "import pathlib; pathlib.Path('trace').touch()\n"
READING = [
    ("status", "out"),
    ("compare", "out"),
    ("compare", "out", "--format", "json"),
    ("compare", "out", "--honest", "--feature", "p95"),
    ("report", "out"),
    ("compact", "out", "-o", "small.parquet"),
    ("compare", "small.parquet", "named"),
    ("report", "named", "--format", "html"),
]


@pytest.mark.slow
def test_reading_results_imports_nothing_they_name(small: Path) -> None:
    (small / "study_agents.py").write_text(TRACE + AGENTS)
    (small / "evil.py").write_text(TRACE)
    (small / "matplotlibrc").write_text("backend: module://evil\ntext.usetex: true\n")
    (small / "named").mkdir()
    write_study(small / "named", ("evil:Agent", "evil", "random"), experiments=("evil:problem",))
    for command in READING:
        done = outside(small, *command)
        assert done.code == 0, done
        assert not (small / "trace").exists(), command
    # A run does import the agents that its study names.
    assert outside(small, "run", "study.toml", "-r", "out").code == 0
    assert (small / "trace").exists()


@pytest.mark.latex
@pytest.mark.slow
def test_latex_reads_nothing_beside_the_report(tmp_path: Path) -> None:
    """Neither what a name says, nor a package in the folder of the report."""
    (tmp_path / "secret.tex").write_text("secret")
    (tmp_path / "booktabs.sty").write_text(r"\errmessage{read}")
    names = [rf"\input{{{tmp_path}/secret}}", r"\write18{touch trace}", r"^^5cinput secret"]
    rng = np.random.default_rng(0)
    made = experiment([summary(name, rng.normal(size=40)) for name in names], name=names[0])
    built = build(ReportData([made], list(map(Note, names))), tmp_path, ["latex"])
    assert tmp_path / "report.pdf" in built.files, built.notes
    written = "".join(path.read_text() for path in tmp_path.rglob("*.tex"))
    assert r"\input{tables/" in written
    assert not re.search(r"\\input\{(?!tables/)|\\write|\^\^", written)


def test_tables_keep_names_as_they_are(tmp_path: Path, shell: Shell) -> None:
    """Only what spreadsheets show is changed."""
    write_study(tmp_path, ("=1+1", "random"))
    shell("report", tmp_path, "--format", "parquet")
    assert "=1+1" in pl.read_parquet(tmp_path / "report/agents.parquet")["algorithm"]
