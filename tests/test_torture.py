"""The short form of scripts/torture, and that it notices what is broken."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from torture import cheats
from torture.__main__ import main
from torture.ground import Broken, Ground

from brlbench.storage import read_result, write_result
from helpers import processes
from helpers.made_studies import TINY
from helpers.processes import TESTS

pytestmark = pytest.mark.slow
STUDY = TINY.replace("num_mdps = 2", "num_mdps = 4") + "[output]\nkeep_paths = true\n"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What scripts/torture sets, a folder for evidence, and a small study."""
    known = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(known))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(TESTS.parent)
    for module in ("ground", "cheats"):
        monkeypatch.setattr(f"torture.{module}.STUDY", STUDY)
    monkeypatch.setattr(sys, "path", sys.path.copy())


@pytest.mark.usefixtures("environment")
def test_nothing_breaks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("torture.kills._MDPS", 2)
    monkeypatch.setattr("torture.strangers._EXPANDED", 2**24)
    monkeypatch.setattr("torture.cheats._above_the_bound", lambda ground: None)
    monkeypatch.setattr("torture.cheats._PLACES", ["GC"])
    only = "--only kills disks strangers cheats"
    arguments = f"--rounds 1 --runs 1 --seed 7 --cheats 3 {only}".split()
    code = main(arguments)
    done = capsys.readouterr()
    assert code == 0, done.err
    assert "| results identical to those of an undisturbed run | 5 |" in done.out
    assert "| agents that cheat | 3 |" in done.out
    assert "| small disks | 1 |" in done.out
    assert "| runs that found no space | " in done.out


@pytest.mark.usefixtures("environment")
def test_what_breaks_is_told_with_the_evidence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def attack(ground: Ground, runs: int) -> None:
        ground.counts["attacks"] += 1
        if ground.counts["attacks"] == 2:
            raise Broken("a result is lost")

    monkeypatch.setattr("torture.__main__.kills.attack", attack)
    monkeypatch.setattr(Ground, "run", lambda *_: 0)
    monkeypatch.setattr("torture.ground._num_jobs", lambda study: 0)
    assert main(["--rounds", "3", "--seed", "7", "--only", "kills"]) == 1
    done = capsys.readouterr()
    assert "| attacks | 2 |" in done.out
    told = re.fullmatch(
        r"BROKEN, with seed 7: a result is lost\nThe evidence is in (.*)\n", done.err
    )
    assert told is not None
    assert Path(told[1], "study/study.toml").exists()


def test_each_cheat_is_an_agent() -> None:
    names = re.findall(r"^class (\w+)\(Plain\)", cheats.CODE, re.MULTILINE)
    assert {*names, "Destroys"} == {*cheats.CHEATS, "Destroys"}


def first_result(out: Path) -> Path:
    return min(out.glob("results/*/*.parquet"))


def change_reward(out: Path) -> None:
    path = first_result(out)
    result = read_result(path)
    rewards = result.columns["rewards"].copy()
    rewards[0, 0] = np.nextafter(rewards[0, 0], np.inf)
    changed = replace(result, columns={**result.columns, "rewards": rewards})
    write_result(path, changed, keep_paths=True, overwrite=True)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a bit": (change_reward, "has other rewards than the undisturbed run"),
    "a loss": (lambda out: first_result(out).unlink(), "lacks "),
    "a doubling": (
        lambda out: shutil.copy(first_result(out), first_result(out).with_name("copy.parquet")),
        " twice",
    ),
    "a temporary file": (lambda out: (out / "results/.0.tmp").touch(), "still has .*0.tmp"),
    "a part": (lambda out: (out / "parts/some").mkdir(), "still has .*parts/some"),
}


@pytest.mark.usefixtures("environment")
def test_what_is_broken_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "ground"
    folder.mkdir()
    counts: Counter[str] = Counter()
    ground = Ground(folder, 0, counts)
    for name, (damage, message) in DAMAGES.items():
        out = tmp_path / name
        shutil.copytree(folder / "undisturbed/out", out)
        damage(out)
        with pytest.raises(Broken, match=message):
            ground.check_all(out)
    assert not counts
    with pytest.raises(Broken, match="has 1 results and 0 failures"):
        cheats.check(ground, folder / "undisturbed/out", ["Exits"])
    assert ground.run("status", tmp_path / "nothing") == 1  # an error is no traceback
    ground.log.write_text("Traceback (most recent call last):\n")
    with pytest.raises(Broken, match="a traceback"):
        ground.check_log()
    orphan = subprocess.Popen(
        [sys.executable, "-c", "input()"],
        stdin=subprocess.PIPE,
        env={"BRLBENCH_TORTURE": str(folder)},
    )
    monkeypatch.setattr(processes, "PATIENCE", 0.1)
    with pytest.raises(Broken, match=rf"the processes \[{orphan.pid}\] outlive the run"):
        ground.check_processes()
    orphan.communicate(b"\n")
    ground.check_processes()
