"""Scripts set up what they need, and nothing more."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def requirements(what: str) -> list[str]:
    script = str(ROOT / "scripts/requirements.py")
    done = subprocess.run(
        [sys.executable, script, what], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_groups_include_others() -> None:
    groups = PROJECT["dependency-groups"]
    assert requirements("docs") == groups["docs"]
    assert requirements("dev") == groups["docs"] + groups["dev"][1:]


def test_the_lowest_versions_are_those_allowed() -> None:
    lowest = requirements("lowest")
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", line) for line in lowest)
    names = {line.partition("==")[0] for line in lowest}
    assert {"numpy", "numba", "distributed", "gymnasium"} <= names
    assert len(lowest) >= len(PROJECT["project"]["dependencies"])


@pytest.mark.parametrize(
    ("script", "wanted"),
    [("demo", "."), ("bench", "."), ("test", ".[cluster,gym]"), ("check", ".[cluster,gym]")],
)
def test_scripts_install_what_they_need(script: str, wanted: str, tmp_path: Path) -> None:
    """With a uv that only says what it was asked for, and then fails."""
    (tmp_path / "uv").write_text('#!/bin/sh\necho "uv $*"\nexit 3\n')
    (tmp_path / "uv").chmod(0o755)
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("")
    python.chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    environment = {"PATH": path, "VENV": str(tmp_path / "venv"), "PYTHON": sys.executable}
    done = subprocess.run(
        [str(ROOT / "scripts" / script)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 3, done
    said, asked = done.stdout.splitlines()
    assert said.startswith(f"Setting up {tmp_path / 'venv'} (")
    assert f"--python {python} --editable {wanted}" in asked
    assert ("mypy" in asked) == (script in ("test", "check"))
