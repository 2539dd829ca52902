"""The worst inputs that were found, read in a process with little memory.

`corpus/endings.txt` says how each ends: the beginning of what is printed.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import corpus


@pytest.mark.slow  # starts processes
def test_every_file_ends_as_expected_in_little_memory(tmp_path: Path) -> None:
    files = tmp_path / "files"
    shutil.copytree(corpus.CORPUS, files)
    corpus.make_bombs(files)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "helpers.corpus", files],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    found = done.stdout.splitlines()
    expected = (corpus.CORPUS / "endings.txt").read_text().splitlines()
    assert [line.split("\t")[0] for line in found] == [line.split("\t")[0] for line in expected]
    for line, start in zip(found, expected, strict=True):
        assert line.startswith(start)
