"""CONTRIBUTING's example of a measured quantity works as it is printed."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
import importlib.util, json, pathlib, sys

class Changed:
    '''Finds the changed modules.'''

    def find_spec(self, name, path=None, target=None):
        file = pathlib.Path(sys.argv[1], name + ".py")
        return importlib.util.spec_from_file_location(name, file) if file.exists() else None

sys.meta_path.insert(0, Changed())
import brlbench as bb
from brlbench.results.compact import read_summaries, write_summaries
from brlbench.results.files import pack_part, read_part
from brlbench.results.result import join
from brlbench.report.loading import load
from brlbench.storage import read_result, write_result

folder = pathlib.Path(sys.argv[1])
experiment = bb.Experiment("GC", num_mdps=3, horizon=30)
result = bb.evaluate(bb.make_agent("random"), experiment, progress=False)
true = [len(set(row)) for row in result.states[:, 0].tolist()]
write_result(folder / "a.parquet", result)
assert read_result(folder / "a.parquet").to_polars()["distinct_states"].to_list() == true
(folder / "part").write_bytes(pack_part(result.first(2)))
assert read_part(folder / "part").columns["distinct_states"].tolist() == true[:2]
[loaded] = load(folder / "a.parquet").experiments
write_summaries(folder / "compact.parquet", [(loaded.header, loaded.summaries)])
[(_, summary)] = read_summaries(folder / "compact.parquet")
assert summary.quantities["distinct_states"] == sum(true) / 3
bb.report([folder / "a.parquet"], folder / "report", formats=["csv", "html"])
print(json.dumps(true))
"""


def changed_modules() -> dict[str, str]:
    """The sources of the section's modules, with the lines marked with + added."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text.partition("## Add a measured quantity\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"`src/(\S+)\.py`[^`]*:\n\n```diff\n(.*?)^```$", section, re.M | re.S)
    assert len(blocks) == section.count("\n```") / 2 <= 4  # files
    sources = {}
    for name, change in blocks:
        source = (ROOT / "src" / f"{name}.py").read_text()
        lines = change.rstrip("\n").split("\n")
        before = "\n".join(line[1:] for line in lines if not line.startswith("+"))
        assert source.count(before) == 1
        after = "\n".join(line[1:] for line in lines)
        sources[name.replace("/", ".")] = source.replace(before, after)
    return sources


@pytest.mark.slow  # starts processes
def test_a_new_quantity_is_in_files_exports_and_the_page(tmp_path: Path) -> None:
    for name, source in changed_modules().items():
        (tmp_path / f"{name}.py").write_text(source)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    mean = sum(json.loads(done.stdout)) / 3
    with (tmp_path / "report/agents.csv").open() as file:
        [row] = csv.DictReader(file)
    assert float(row["distinct_states"]) == mean
    page = (tmp_path / "report/report.html").read_text()
    assert '"distinct_states"' in page
    assert "Mean number of states that a trajectory visits" in page
