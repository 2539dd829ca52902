"""The code of the documentation runs as it is printed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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

# What takes long, or needs what a test has not, is made smaller; all else runs as it is printed.
SMALLER = {
    "index.md": [
        ("scripts/demo\n", "brlbench demo --mdps 3 --output demo-results\n"),
        ("scripts/test\n", ""),
    ],
    # With few MDPs no scores are adjusted, for which each prior takes seconds.
    "gallery.md": [('"GC", num_mdps=200))', '"GC", num_mdps=15))')],
    "misspecification.md": [("num_mdps=50", "num_mdps=15")],
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
        ("reproduction/results.parquet", str(ROOT / "reproduction/results.parquet")),
    ],
    "tutorials/slurm.md": [
        ('partition = "batch"', 'partition = "main"'),
        ('memory = "8GB"', 'memory = "500MB"\ninterface = "lo"\ncheck_seconds = 0.3'),
        ("cores = 4", "cores = 1"),
        ("workers = 200", "workers = 2"),
        (" --detach", ""),
    ],
}  # fmt: skip


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
def test_code_runs(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    page = (DOCS / name).read_text()
    for printed, smaller in SMALLER.get(name, []):
        assert printed in page
        page = page.replace(printed, smaller)
    if name == "tutorials/slurm.md":
        request.getfixturevalue("slurm")
    if name == "original-files.md":
        write_examples(tmp_path)
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "tests/helpers/run_page.py"), name],
        input=page,
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


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
