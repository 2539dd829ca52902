"""Numbers are a function of study, seed and version alone, whatever the machine ran before."""

from pathlib import Path

import polars as pl
import pytest

from brlbench.kernels.machine_code import FOLDER
from helpers.made_studies import TINY, run, write_study

pytestmark = pytest.mark.slow  # starts processes

STUDY = TINY.replace("num_mdps = 2", "num_mdps = 100").replace('test = "GC"', 'test = "Chain"')
STUDY += '[[agents]]\nalgorithm = "study_agents:Plain"\n'
LARGER = STUDY.replace("num_mdps = 100", "num_mdps = 150")


def exported(folder: Path, history: list[str], monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    """The CSV table of the study, run after others with a cache of its own, but for times."""
    (folder / "cache").mkdir(parents=True)
    if FOLDER is not None:
        (folder / "cache/compiled").symlink_to(FOLDER)
    monkeypatch.setenv("BRLBENCH_CACHE_DIR", str(folder / "cache"))
    for number, text in enumerate([*history, STUDY]):
        path, out = write_study(folder / str(number), text), folder / str(number) / "out"
        code, output = run("run", path, "-r", out, "--workers", "1")
        assert code == 0, output
    code, output = run("report", out, "--format", "csv", "--output", folder / "report")
    assert code == 0, output
    table = pl.read_csv(folder / "report/agents.csv")
    measured = [name for name in table.columns if name.endswith("_seconds")]
    return table.drop(*measured, "peak_bytes").sort("agent")


def test_an_empty_cache_and_a_larger_experiment_before_change_no_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = exported(tmp_path / "first", [], monkeypatch)
    later = exported(tmp_path / "later", [LARGER], monkeypatch)
    assert (first["score"] != first["mean_return"]).all()  # adjusted by what is kept
    assert first.columns == later.columns
    assert first.equals(later)
