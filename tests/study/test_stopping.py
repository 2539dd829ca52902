"""Studies that stop early: the same decisions however they are run, and nothing is lost."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.analysis.scores import guarded_ci95
from brlbench.results.result import Result
from brlbench.storage import read_result
from brlbench.study.plan import read_study
from brlbench.study.schema import read_tables
from brlbench.study.status import read_status
from helpers.inline import in_this_process
from helpers.made_studies import returns_in, write_study
from helpers.shared import made_once
from helpers.shell import Shell
from helpers.sizes import sizes
from helpers.ways_to_run import EXECUTORS, run_killed, run_on

# All times are within the bounds, so that only returns decide.
RACE = """
[defaults]
num_mdps = 60
horizon = 40

[racing]
offline = ["1h"]
online = ["1h"]

[[experiments]]
test = "GC"

[[agents]]
algorithm = "random"

[[agents]]
algorithm = "optimal"

[[agents]]
algorithm = "epsilon-greedy"
parameters.epsilon = [0.0, 1.0]
"""
FULL = RACE.replace('[racing]\noffline = ["1h"]\nonline = ["1h"]\n', "")
UNTIL = """
[defaults]
num_mdps = 120
horizon = 40

[[experiments]]
test = "GC"
until = "±3"

[[agents]]
algorithm = "epsilon-greedy"
parameters.epsilon = 0.0

[[agents]]
algorithm = "random"
until = 0.01
"""
GREEDY, WANDERING = "epsilon-greedy(epsilon=0.0)", "epsilon-greedy(epsilon=1.0)"


def decisions(out: Path) -> dict[str, Any]:
    """The decisions of a study's race, without times, which may differ."""
    [path] = out.glob("decisions/*.json")
    record: dict[str, Any] = json.loads(path.read_text())
    return {name: record[name] for name in ("terms", "rivals", "dropped")}


def played(out: Path) -> dict[str, Result]:
    results = [read_result(path) for path in out.glob("results/*/*.parquet")]
    return {result.label: result for result in results}


def adjusted_ci95(result: Result, number: int) -> float:
    """The adjusted interval's half-width after some MDPs, without regard to what stopped it."""
    return replace(result.first(number), stopped=None).adjusted.ci95


def run_race(folder: Path) -> None:
    bb.run(write_study(folder, RACE), folder / "out", workers=1)


@pytest.fixture(scope="session")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a study that has raced with one worker; only for reading."""
    with pytest.MonkeyPatch.context() as patch:
        in_this_process(patch)
        return made_once(tmp_path_factory, "raced", run_race) / "out"


def copied(raced: Path, folder: Path) -> tuple[Path, Path]:
    """A copy of the raced study, which the test may change: its file and its results."""
    return write_study(folder, RACE), shutil.copytree(raced, folder / "out")


@pytest.mark.usefixtures("in_process")
def test_the_worse_stop_early_and_the_others_do_not(raced: Path, tmp_path: Path) -> None:
    found = played(raced)
    numbers = {label: len(result.returns) for label, result in found.items()}
    assert numbers["random"] < 60
    assert numbers[WANDERING] < 60
    assert numbers["optimal"] == numbers[GREEDY] == 60
    status = read_status(raced)
    assert (status.done, status.total, status.left) == (4, 4, 0)
    assert status.num_played == sum(numbers.values()) < status.num_trajectories
    assert {job.agent for job in status.stopped} == {"random", WANDERING}
    assert "dropped after" in status.stopped[0].reason
    # What was played is what is played without a race, which finds the same winners.
    bb.run(write_study(tmp_path, FULL), tmp_path / "out", workers=1)
    for label, result in played(tmp_path / "out").items():
        assert result.stopped is None
        np.testing.assert_array_equal(found[label].rewards, result.rewards[: numbers[label]])
    answers = [bb.compare(out) for out in (raced, tmp_path / "out")]
    assert [each.label for each in answers[0].winners] == [
        each.label for each in answers[1].winners
    ]
    assert "2 of 4 agents on GC stopped before they had played all 60" in str(answers[0].notes)


@pytest.mark.slow
@pytest.mark.parametrize("executor", EXECUTORS)
def test_workers_and_clusters_do_not_change_decisions(
    raced: Path, tmp_path: Path, executor: str, shell: Shell, request: pytest.FixtureRequest
) -> None:
    done = run_on(executor, tmp_path, RACE, shell, request)
    assert "2 of them stopped early" in done.out
    assert decisions(tmp_path / "out") == decisions(raced)
    expected = played(raced)
    for label, result in played(tmp_path / "out").items():
        np.testing.assert_array_equal(result.rewards, expected[label].rewards)


@pytest.mark.slow
@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("moments", sizes((8,), (3, 20, 40)))
def test_killed_and_resumed_it_decides_the_same(
    moments: tuple[int, ...], raced: Path, tmp_path: Path, shell: Shell
) -> None:
    done = run_killed(moments, tmp_path, RACE, shell)
    assert "2 of them stopped early" in done.out
    assert decisions(tmp_path / "out") == decisions(raced)
    assert returns_in(tmp_path / "out").keys() == returns_in(raced).keys()


@pytest.mark.usefixtures("in_process")
def test_what_a_kill_or_damage_left_is_made_again(raced: Path, tmp_path: Path) -> None:
    path, out = copied(raced, tmp_path)
    before = decisions(out)
    # Killed between the decision and the result that follows from it, and a part is damaged.
    [lost, damaged] = sorted(out.glob("results/*/*.race.parquet"))
    lost.unlink()
    damaged.unlink()
    last = max(out.glob(f"parts/{damaged.name.split('.')[0].rsplit('-', 1)[1]}/*"))
    last.write_bytes(b"damaged")
    bb.run(path, out, workers=1)
    assert lost.exists() and damaged.exists()
    assert decisions(out) == before
    # A damaged record is replaced from what has been played.
    [record] = out.glob("decisions/*.json")
    record.write_text('{"terms": {}, "seconds": 3}')
    lost.unlink()
    bb.run(path, out, workers=1)
    assert decisions(out)["dropped"] == before["dropped"]  # later looks had nobody to drop
    assert returns_in(out).keys() == returns_in(raced).keys()


@pytest.mark.usefixtures("in_process")
def test_without_the_race_all_is_played_and_a_new_agent_begins_a_new_race(
    raced: Path, tmp_path: Path
) -> None:
    path, out = copied(raced, tmp_path)
    before = decisions(out)
    more = '\n[[agents]]\nalgorithm = "epsilon-greedy"\nparameters.epsilon = 0.2\n'
    write_study(tmp_path, RACE + more)
    bb.run(path, out, workers=1)
    assert len(decisions(out)["terms"]["agents"]) == len(before["terms"]["agents"]) + 1
    write_study(tmp_path, FULL)
    status = bb.run(path, out, workers=1)
    assert (status.done, status.stopped) == (4, [])
    results = played(out)
    assert all(len(results[job.label].returns) == 60 for job in read_study(path).jobs)
    # A race among complete results has nothing left to stop.
    assert bb.run(path, out, workers=1, race=True).stopped == []


@pytest.mark.usefixtures("in_process")
def test_failed_agents_hold_up_nobody(tmp_path: Path) -> None:
    text = (
        RACE + '\n[[agents]]\nalgorithm = "study_agents:Troubled"\nparameters.trouble = "raise"\n'
    )
    status = bb.run(write_study(tmp_path, text), tmp_path / "out", workers=1)
    assert (status.done, len(status.failures), status.left) == (4, 1, 0)
    assert len(status.stopped) == 2


@pytest.mark.usefixtures("in_process")
def test_agents_play_until_their_interval_is_narrow(tmp_path: Path) -> None:
    path, out = write_study(tmp_path, UNTIL), tmp_path / "out"
    status = bb.run(path, out, workers=1)
    results = played(out)
    greedy, number = results[GREEDY], len(results[GREEDY].returns)
    # Two standard errors are within ±3 after 50 MDPs. Their interval does not hold at such a time.
    assert adjusted_ci95(greedy, 50) < 3 < guarded_ci95(greedy.first(50).adjusted.returns)
    assert number == 75
    assert adjusted_ci95(greedy, 75) < guarded_ci95(greedy.adjusted.returns) <= 3
    assert greedy.adjusted.ci95 == 3
    assert "± 3.00" in str(bb.compare(out))
    assert len(results["random"].returns) == 120  # ±0.01 takes more
    assert [(job.agent, job.experiment) for job in status.stopped] == [(GREEDY, "GC")]
    assert f"stopped after {number} MDPs: its guarded interval of ±" in status.stopped[0].reason
    # Narrower: it goes on from where it was.
    write_study(tmp_path, UNTIL.replace("±3", "±0.02"))
    assert bb.run(path, out, workers=1).stopped == []
    more = played(out)[GREEDY]
    assert len(more.returns) == 120
    np.testing.assert_array_equal(more.rewards[:number], greedy.rewards)


@pytest.mark.usefixtures("in_process")
def test_the_command_line_races_and_says_so(tmp_path: Path, shell: Shell) -> None:
    path, out = write_study(tmp_path, FULL), tmp_path / "out"
    done = shell("run", path, "-r", out, "--race", "--workers", 1)
    assert done.code == 0, done
    assert "4 of 4 jobs done" in done.out
    assert (out / "study.toml").read_text().startswith("# run with racing = True\n")
    status = shell("status", out).out
    dropped = [line for line in status.splitlines() if "dropped after" in line]
    assert len(dropped) == len(list(out.glob("results/*/*.race.parquet")))
    if dropped:  # which classes agents are in depends on their times
        assert " MDPs]" in shell("compare", out, "--all").out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "[racing]\nerror = 1.5",
            "racing.error = 1.5: must be a number between 0 and 1, both excluded",
        ),
        ('[racing]\nonline = ["soon"]', "racing.online[1] = 'soon': must be"),
        ("[racing]\nonline = []", "racing.online = []: give it at least one value"),
        ("[racing]\nlooks = 3", "unknown key 'looks'"),
        ('[defaults]\nuntil = "narrow"', "defaults.until = 'narrow': must be half the width"),
        ("[defaults]\nuntil = -1.0", "defaults.until = -1.0: must be half the width"),
    ],
)
def test_wrong_values_are_refused(tmp_path: Path, line: str, said: str) -> None:
    text = f'{line}\n[[experiments]]\ntest = "GC"\n[[agents]]\nalgorithm = "random"\n'
    with pytest.raises(bb.InvalidInput, match=said.replace("[", r"\[").replace(".", r"\.")):
        read_tables(write_study(tmp_path, text))


def test_rules_of_jobs(tmp_path: Path) -> None:
    text = UNTIL + "\n[racing]\n\n[[agents]]\nalgorithm = 'optimal'\n"
    jobs = {job.label: job for job in read_study(write_study(tmp_path, text)).jobs}
    assert jobs[GREEDY].rules == ["race", "until-3"]
    assert jobs["random"].rules == ["race", "until-0.01"]
    assert jobs["optimal"].rules == ["until-3"]  # the reference never races
