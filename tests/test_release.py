"""What is published: agreeing versions, a citation, notes, workflows, a wheel that works alone."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import brlbench as bb
from helpers.run_page import blocks

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/brlbench"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PUBLISHED = ("src", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff")

# Where the package comes from; the README's example follows.
PLACE = """
import brlbench
print(brlbench.__file__)
"""


def read_yaml(text: str) -> Any:
    return yaml.load(text, Loader=yaml.BaseLoader)  # so that "on" is a word, and all else text


def test_versions_agree() -> None:
    citation = read_yaml((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == PROJECT["version"] == bb.__version__


def test_the_citation_has_what_the_format_asks_for() -> None:
    citation = read_yaml((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["license"] == PROJECT["license"]
    assert citation["keywords"] == PROJECT["keywords"]
    (paper,) = citation["references"]
    for cited in (citation, paper):
        assert cited["title"]
        for author in cited["authors"]:
            assert set(author) in ({"name"}, {"family-names", "given-names"})
    assert citation["message"]
    assert re.fullmatch(r"10\.\d{4,}/\S+", paper["doi"])


def release_notes(version: str, folder: Path) -> subprocess.CompletedProcess[str]:
    script = folder / "scripts/release-notes"
    script.parent.mkdir(exist_ok=True)
    shutil.copy(ROOT / "scripts/release-notes", script)
    return subprocess.run([str(script), version], capture_output=True, text=True, cwd="/")


def test_release_notes_are_a_section_of_the_changelog(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n## [0.2.10] - 2030-01-02\n\n### Added\n- Ten.\n\n"
        "## [0.2.1]\n### Fixed\n- One,\n  two.\n"
    )
    assert release_notes("0.2.10", tmp_path).stdout == "### Added\n- Ten.\n"
    assert release_notes("0.2.1", tmp_path).stdout == "### Fixed\n- One,\n  two.\n"
    for missing in ("Unreleased", "0.2", "0.3.0"):
        done = release_notes(missing, tmp_path)
        assert done.returncode == 1
        assert done.stderr == (
            f"CHANGELOG.md says nothing about {missing}: add a section ## [{missing}]\n"
        )


def test_the_changelog_has_notes_of_this_version() -> None:
    notes = subprocess.run(
        [str(ROOT / "scripts/release-notes"), bb.__version__], capture_output=True, text=True
    )
    assert notes.stdout.startswith("### Added\n"), notes.stderr


def test_the_paper_cites_what_its_bibliography_has() -> None:
    text, bibliography = ((ROOT / f"paper/paper.{end}").read_text() for end in ("md", "bib"))
    _, front, body = text.split("---\n", 2)
    header = read_yaml(front)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(header)
    assert header["bibliography"] == "paper.bib"
    known = {each["index"] for each in header["affiliations"]}
    assert all(author["name"] and author["affiliation"] in known for author in header["authors"])
    headings = re.findall(r"^# (.*)$", body, re.MULTILINE)
    assert headings[:2] == ["Summary", "Statement of need"]
    assert headings[-1] == "References"
    cited = set(re.findall(r"@(\w+)", body))
    entries = re.findall(r"^@\w+\{(\w+),$", bibliography, re.MULTILINE)
    assert sorted(entries) == sorted(cited)
    assert bibliography.count("  author = {") == bibliography.count("  year = {") == len(entries)
    assert 750 < len(body.split()) < 1300  # two pages


def test_workflows_call_what_is_there() -> None:
    assert [path.name for path in WORKFLOWS] == ["release.yml", "test.yml"]
    for path in WORKFLOWS:
        content = read_yaml(path.read_text())
        assert content["permissions"] == {"contents": "read"}
        for job in content["jobs"].values():
            if called := job.get("uses"):
                assert (ROOT / called).exists()
            for command in [step["run"] for step in job.get("steps", ()) if "run" in step]:
                for script in re.findall(r"^\s*((?:scripts|\.ci)/[\w-]+)", command, re.MULTILINE):
                    assert os.access(ROOT / script, os.X_OK)


def test_releases_are_tested_and_published_without_a_token() -> None:
    release, test = (read_yaml(path.read_text()) for path in WORKFLOWS)
    assert release["on"] == {"push": {"tags": ["v*"]}}
    publish = release["jobs"]["publish"]
    assert publish["needs"] == ["test", "build"]
    assert publish["permissions"]["id-token"] == "write"
    assert "secrets" not in (ROOT / ".github/workflows/release.yml").read_text()
    jobs = test["jobs"]
    quick = {name: jobs[name]["steps"][-1]["run"] for name in ("versions", "lowest")}
    assert set(quick.values()) == {
        'scripts/test-with ${{ matrix.python }} -m "not slow"',
        'scripts/test-with lowest -m "not slow"',
    }
    assert [job["steps"][-1]["run"] for job in jobs.values()].count(".ci/run") == 1
    matrix = jobs["versions"]["strategy"]["matrix"]
    assert jobs["wheel"]["strategy"]["matrix"]["python"] == matrix["python"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["requires-python"] == f">={matrix['python'][0]}"


def test_the_workflow_to_copy_runs_the_test_beside_it() -> None:
    titled = {
        each.title: each.code for each in blocks((ROOT / "docs/tutorials/check.md").read_text())
    }
    steps = read_yaml(titled["agent.yml"])["jobs"]["rules"]["steps"]
    assert steps[-1]["run"] == "python -m pytest test_my_agent.py"
    assert "test_my_agent.py" in titled


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source archive, which is built from the project."""
    if importlib.util.find_spec("build") is None and not os.environ.get("CI"):
        pytest.skip("needs build and hatchling: scripts/setup dev")
    folder = tmp_path_factory.mktemp("release")
    project = folder / "project"
    project.mkdir()
    for name in PUBLISHED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, project / name)
    # Without isolation, which would install the build's own requirements from the network.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist")]
    done = subprocess.run([*command, str(project)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    names = sorted(path.name for path in (folder / "dist").iterdir())
    assert names == [f"brlbench-{bb.__version__}{end}" for end in ("-py3-none-any.whl", ".tar.gz")]
    return folder / "dist" / names[0]


@pytest.mark.slow
def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    wanted = {f"brlbench/{path.relative_to(PACKAGE)}" for path in files}
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in packed if name.startswith("brlbench/")} == wanted
    others = {name.partition("/")[2] for name in packed - wanted}
    assert others == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}


@pytest.mark.slow
def test_the_wheel_alone_runs_the_readmes_example(wheel: Path, tmp_path: Path) -> None:
    """In an empty folder, with the dependencies of this environment but not with the project."""
    installed, empty = tmp_path / "installed", tmp_path / "empty"
    empty.mkdir()
    options = ["--quiet", "--no-deps", "--no-index", "--no-compile", "--target", str(installed)]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, *options, str(wheel)], check=True, capture_output=True)
    readme = blocks((ROOT / "README.md").read_text())
    example, *_ = [each.code for each in readme if each.language == "python"]
    smaller = example.replace('"bamcp", simulations=100, depth=15', '"random"')  # soon compiled
    assert smaller != example
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLACE + smaller],
        cwd=empty,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    place, score, winners, *_ = done.stdout.splitlines()
    assert Path(place).is_relative_to(installed)
    assert score.startswith("Result(epsilon-greedy(epsilon=0.0) on GC: ")
    assert winners.startswith("GC within online ≤ 100 µs: ")
    assert (empty / "learning.pdf").exists()
