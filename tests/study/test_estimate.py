import time
from pathlib import Path

import pytest

from brlbench.executors import Local
from brlbench.study.estimate import Estimate, estimate
from brlbench.study.folder import Folder
from brlbench.study.plan import read_study
from helpers.made_studies import run, write_study

# Sleeping takes the same time on any machine, or a little more.
SLEEPY = """
[defaults]
num_mdps = 40
horizon = 20

[[experiments]]
test = "GC"

[[experiments]]
test = "GC"
num_mdps = 80
name = "twice as many"

[[agents]]
algorithm = "test_agents:Slow"
parameters.seconds = 0.002

[[agents]]
algorithm = "test_agents:Slow"
parameters.seconds = 0.05
"""


def by_job(found: list[Estimate]) -> dict[tuple[float, str], Estimate]:
    return {(e.job.agent.parameters["seconds"], e.job.experiment_name): e for e in found}


def test_estimates_of_agents_whose_time_is_known(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, SLEEPY))
    with Local(2) as executor:
        found = by_job(estimate(study.jobs, Folder(tmp_path / "none"), executor, 0.4))
    for (seconds, name), one in found.items():
        expected = seconds * 20 * study.experiments[name].num_mdps
        assert one.playing_seconds is not None
        # Sleep may take longer, and where it did in the first decisions, the rest seem shorter.
        assert expected / 1.5 <= one.playing_seconds < 2.5 * expected + 0.3


def test_what_is_done_counts_no_more(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, SLEEPY))
    folder = Folder(tmp_path / "out")
    folder.open(study)
    for job in study.jobs:
        folder.write_part(job, (0, job.experiment.num_trajectories // 2), b"")
    folder.close()
    with Local(2) as executor:
        found = by_job(estimate(study.jobs, folder, executor, 0.4))
    half = found[0.002, "GC"].playing_seconds
    assert half is not None
    assert 0.8 / 1.5 <= half < 2.3


def test_a_search_is_watched_and_extrapolated(tmp_path: Path) -> None:
    text = """
[defaults]
num_mdps = 10
horizon = 50
[[experiments]]
test = "GC"
[[agents]]
algorithm = "opps-ds"
parameters.draws = [20_000, 200_000_000]
"""
    study = read_study(write_study(tmp_path, text))
    with Local(1) as executor:
        started = time.monotonic()
        found = estimate(study.jobs, Folder(tmp_path / "none"), executor, 0.3)
        assert time.monotonic() - started < 200  # not the hours of the training
    short, long = sorted(one.training_seconds or 0.0 for one in found)
    assert 3_000 < long / short < 30_000


def test_jobs_whose_probe_fails_are_told(tmp_path: Path) -> None:
    text = SLEEPY.replace("Slow", "Troubled", 1).replace(
        "parameters.seconds = 0.002", 'parameters.trouble = "raise"'
    )
    path = write_study(tmp_path, text)
    code, output = run("run", path, "--dry-run", "-r", tmp_path / "out")
    assert code == 0, output
    assert "not counting 2 jobs whose probe failed" in " ".join(output.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("probes", ["--probes", "--no-probes"])
def test_a_dry_run_lists_the_work(tmp_path: Path, probes: str) -> None:
    text = """
[defaults]
num_mdps = 2
horizon = 3
[[experiments]]
test = "GDL"
[[agents]]
algorithm = "random"
[[agents]]
algorithm = "opps-ds"
parameters.formulas = ["F2", "F3"]
parameters.draws = [20, 50]
"""
    path = write_study(tmp_path, text)
    run("run", path, "-r", tmp_path / "out")
    path.write_text(text.replace("[20, 50]", "[20, 50, 60]"))
    code, output = run("run", path, "--dry-run", probes, "-r", tmp_path / "out")
    assert code == 0, output
    assert "6 agents, 1 experiments, 6 jobs: 4 done, 0 failed, 2 to do" in output
    assert "skipped: opps-ds(formulas=F3, draws=20): opps-ds: draws = 20: must be at" in output
    row = next(line for line in output.splitlines() if line.startswith("GDL") and "opps" in line)
    assert row.split()[2:5] == ["5", "3", "2"]
    assert ("of one core" in output) == (probes == "--probes")
