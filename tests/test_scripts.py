"""Scripts set up what they need, and nothing more."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = """#!/bin/sh
echo "$0 $*"
[ "$1" = export ] || [ "$3" = --version ] || exit 3
"""
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


def test_a_python_that_is_missing_is_named() -> None:
    script = str(ROOT / "scripts/test-with")
    done = subprocess.run([script, "3.99"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "python3.99 can't be run: install it first\n")


def test_the_lock_file_is_up_to_date() -> None:
    """`uv lock` writes it; it names no place that only some can reach."""
    text = (ROOT / "uv.lock").read_text()
    [package] = [each for each in tomllib.loads(text)["package"] if each["name"] == "brlbench"]
    metadata = package["metadata"]
    locked = metadata["requires-dist"] + metadata["requires-dev"]["dev"]
    project = PROJECT["project"]
    extras = [each for extra in project["optional-dependencies"].values() for each in extra]
    wanted = sorted(project["dependencies"] + extras + requirements("dev"))
    assert sorted(map(as_requirement, locked)) == wanted
    hosts = set(re.findall(r"\w+://([^/\"]*)", text))
    assert hosts  # public ones: no mirror of whoever made the file
    assert all(re.fullmatch(r"[a-z.]+\.org", host) for host in hosts)
    assert "file:" not in text


def as_requirement(locked: dict[str, Any]) -> str:
    extras = f"[{','.join(locked['extras'])}]" if "extras" in locked else ""
    return f"{locked['name']}{extras}{locked.get('specifier', '')}"


@pytest.mark.parametrize(
    ("script", "with_uv"),
    [("demo", False), ("bench", True), ("test", False), ("check", True)],
)
def test_scripts_install_what_they_need(script: str, with_uv: bool, tmp_path: Path) -> None:
    """With programs that only say what they are asked for, and fail to install it."""
    for name in ("venv/bin/python", "uv") if with_uv else ("venv/bin/python",):
        program = tmp_path / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(PROGRAM)
        program.chmod(0o755)
    venv = tmp_path / "venv"
    done = subprocess.run(
        [str(ROOT / "scripts" / script)],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "VENV": str(venv), "PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3, done
    said, *exported, asked = done.stdout.splitlines()
    assert said.startswith(f"Setting up {venv} (")
    for_developers = script in ("test", "check")
    assert f"--editable {'.[cluster,gym]' if for_developers else '.'}" in asked
    assert ("mypy" in asked) == for_developers
    if with_uv:
        assert asked.startswith(f"{tmp_path / 'uv'} pip install")
        [locked] = re.findall(r"uv export .*--frozen .*--output-file (.*)", exported[0])
        assert f"--constraint {locked}" in asked
    else:
        assert asked.startswith(f"{venv / 'bin/python'} -m pip install")
        assert "--constraint" not in asked
