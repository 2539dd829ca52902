"""Estimates of what a study takes, on a clock that only the tests move."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from brlbench.executors.local import Local
from brlbench.protocol import playing as playing_module
from brlbench.protocol import training
from brlbench.protocol.machine import Waiting
from brlbench.protocol.playing import Part
from brlbench.study.estimate import JobEstimate, estimate
from brlbench.study.folder import Folder
from brlbench.study.plan import read_study
from helpers import timed_agent
from helpers.inline import Inline
from helpers.made_studies import write_study
from helpers.shell import Shell

STUDY = """
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
algorithm = "helpers.timed_agent:Timed"
"""


@pytest.fixture
def estimated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Estimates for an agent with some parameters, by experiment; half of the work may be done."""

    def find(parameters: str, is_half_done: bool = False) -> dict[str, JobEstimate]:
        study = read_study(write_study(tmp_path, STUDY + parameters))
        folder = Folder(tmp_path / "out")
        if is_half_done:
            folder.open()
            for job in study.jobs:
                folder.write_part(job, Part(0, job.experiment.num_trajectories // 2), b"")
            folder.close()
        for module in (time, playing_module, training):
            monkeypatch.setattr(module, "perf_counter", lambda: timed_agent.NOW[0])
        monkeypatch.setattr(Waiting, "seconds", lambda self: 0.0)
        found = estimate(study.jobs, folder, Inline(), probe_seconds=0.4)
        return dict(sorted((one.job.experiment_name, one) for one in found))

    return find


def playing(found: Iterable[JobEstimate]) -> list[float]:
    return [one.playing_seconds or 0.0 for one in found]


@pytest.mark.parametrize("seconds", [1e-4, 0.002, 0.05, 7.0])
def test_playing_is_extrapolated_from_some_decisions(estimated: Any, seconds: float) -> None:
    """A few decisions of agents that take long, several trajectories of others."""
    found = estimated(f"parameters.act_seconds = {seconds}")
    once = 20 * 40 * seconds
    assert playing(found.values()) == pytest.approx([once, 2 * once])


@pytest.mark.parametrize("seconds", [1e-4, 0.05])
def test_the_beginning_of_a_trajectory_counts_once(estimated: Any, seconds: float) -> None:
    found = estimated(f"parameters.act_seconds = {seconds}\nparameters.start_seconds = 0.1")
    once = 40 * (20 * seconds + 0.1)
    assert playing(found.values()) == pytest.approx([once, 2 * once])


def test_what_is_done_counts_no_more(estimated: Any) -> None:
    found = estimated("parameters.act_seconds = 0.002", is_half_done=True)
    once = 20 * 40 * 0.002 / 2
    assert playing(found.values()) == pytest.approx([once, 2 * once])


def test_a_search_is_watched_and_extrapolated(estimated: Any) -> None:
    """It is cut short, long before its training would end."""
    found = estimated("parameters.step_seconds = 0.125\nparameters.steps = 1_000_000_000")
    assert timed_agent.NOW[0] < 10**6
    assert sorted(one.training_seconds for one in found.values()) == [0.0, 0.125e9]
    # In a search, each step plays one trajectory.
    assert playing(found.values()) == pytest.approx([40 * 0.125, 80 * 0.125])


def test_a_training_that_ends_in_time_is_what_it_took(estimated: Any) -> None:
    found = estimated("parameters.step_seconds = 0.125\nparameters.steps = 3")
    assert sorted(one.training_seconds for one in found.values()) == [0.0, 0.375]


@pytest.mark.slow
def test_a_real_search_tells_how_far_it_is(tmp_path: Path) -> None:
    """So that no more of it is made than there is time for, in processes of their own."""
    text = """
[defaults]
num_mdps = 10
horizon = 50
[[experiments]]
test = "GC"
[[agents]]
algorithm = "opps-ds"
parameters.draws = 200_000_000_000
"""
    study = read_study(write_study(tmp_path, text))
    with Local(1) as executor:
        [found] = estimate(study.jobs, Folder(tmp_path / "none"), executor, 0.3)
    assert found.failure == ""
    assert found.training_seconds is not None and found.training_seconds > 1000
    assert found.playing_seconds is not None and found.playing_seconds > 0


@pytest.mark.usefixtures("in_process")
def test_jobs_whose_probe_fails_are_told(tmp_path: Path, shell: Shell) -> None:
    text = (
        STUDY
        + """
[[agents]]
algorithm = "study_agents:Troubled"
parameters.trouble = "raise"
"""
    )
    path = write_study(tmp_path, text.replace("helpers.timed_agent:Timed", "random"))
    code, output, _ = shell("run", path, "--dry-run", "-r", tmp_path / "out")
    assert code == 0, output
    assert "not counting 2 jobs whose probe failed" in " ".join(output.split()), output
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("in_process")
def test_a_dry_run_lists_the_work(tmp_path: Path, shell: Shell) -> None:
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
    shell("run", path, "-r", tmp_path / "out")
    path.write_text(text.replace("[20, 50]", "[20, 50, 60]"))
    for probes in ("--probes", "--no-probes"):
        code, output, _ = shell("run", path, "--dry-run", probes, "-r", tmp_path / "out")
        assert code == 0, output
        assert "6 agents, 1 experiment, 6 jobs: 4 done, 0 failed, 2 to do" in output
        assert "skipped: opps-ds(formulas=F3, draws=20): opps-ds: draws = 20: must be at" in output
        [row] = [line for line in output.splitlines() if line.startswith("GDL") and "opps" in line]
        assert row.split()[2:5] == ["5", "3", "2"]
        assert ("of one core" in output) == (probes == "--probes")
        assert ("probing 2 jobs takes about " in output) == (probes == "--probes")
