"""The code of the documentation runs as it is printed."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from helpers.forgetting import forgotten_modules
from helpers.original_files import write_examples
from helpers.run_page import blocks, run

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))
WITH_CODE = [
    name
    for name in PAGES
    if any(block.language != "pseudo" for block in blocks((DOCS / name).read_text()))
]

# Code that takes long, or needs what a test has not, is made smaller; all else runs as printed.
# A page that runs the demo has the results of a small one.
SMALLER = {
    "index.md": [("scripts/demo\nscripts/test\n", "")],
    # With few MDPs no scores are adjusted, for which each prior takes seconds.
    "gallery.md": [('"GC", num_mdps=200))', '"GC", num_mdps=15))')],
    "bounds.md": [("--beliefs 20000", "--beliefs 2000")],
    "misspecification.md": [("num_mdps=50", "num_mdps=15")],
    "statistics.md": [("brlbench demo --mdps 40 --output results\n", "")],
    "time-budgets.md": [("brlbench demo --mdps 30 --output results\n", "")],
    "leaderboard.md": [
        (
            "reproduction/results.parquet leaderboard --",
            f"{ROOT / 'reproduction/arithmetic.parquet'} --",
        ),
    ],
    "reliability.md": [
        ("podman run", "true"),
        ("sudo -u nobody", "true"),
        ("scripts/torture --minutes 10\n", ""),
    ],
    "reproduction.md": [
        # A report on all results takes a minute.
        ("reproduction/results.parquet --f", f"{ROOT / 'reproduction/arithmetic.parquet'} --f"),
        ("reproduction/results.parquet", str(ROOT / "reproduction/results.parquet")),
    ],
    "tutorials/paper.md": [
        ("for epsilon in 0 0.3", "for epsilon in 0"),
        ("--mdps 200", "--mdps 20"),
    ],
    "tutorials/slurm.md": [
        ('partition = "batch"', 'partition = "main"'),
        ('memory = "8GB"', 'memory = "500MB"\ninterface = "lo"\ncheck_seconds = 0.3'),
        ("cores = 4", "cores = 1"),
        ("workers = 200", "workers = 2"),
        (" --detach", ""),
    ],
}  # fmt: skip


# Their studies run in this process, which has compiled the agents; those of others in workers.
IN_PROCESS = {
    "racing.md",
    "reproduction.md",
    "tutorials/compiled-agent.md",
    "tutorials/notebook.md",
}
DEMOS = {"index.md": "demo-results", "statistics.md": "results", "time-budgets.md": "results"}


def marked(name: str) -> object:
    """A page with the marks of what its code needs."""
    page, marks = (DOCS / name).read_text(), []
    if "latexmk" in page:
        marks.append(pytest.mark.latex)
    if name == "tutorials/slurm.md":
        marks.append(pytest.mark.slurm)
    return pytest.param(name, marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize("name", [marked(name) for name in WITH_CODE])
def test_code_runs(
    name: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (DOCS / name).read_text()
    for printed, smaller in SMALLER.get(name, []):
        assert printed in page
        page = page.replace(printed, smaller)
    if name == "tutorials/slurm.md":
        request.getfixturevalue("slurm")
    if name == "original-files.md":
        write_examples(tmp_path)
    if name in IN_PROCESS:
        request.getfixturevalue("in_process")
    if name in DEMOS:
        shutil.copytree(request.getfixturevalue("demo"), tmp_path / DEMOS[name])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with forgotten_modules(tmp_path):
        run(page, name)


def test_no_block_is_overlooked() -> None:
    for name in PAGES:
        page = (DOCS / name).read_text()
        assert 2 * len(blocks(page)) == len(re.findall("^ *```", page, re.MULTILINE)), name


def test_output_that_is_not_printed_is_noticed() -> None:
    page = "```python\nprint(1)\nprint(2)\n```\n\n```text\n1\n{}\n```\n"
    run(page.format("2"), "page")
    run(page.format("…"), "page")
    with pytest.raises(SystemExit, match="page, line 7: expected"):
        run(page.format("3"), "page")
