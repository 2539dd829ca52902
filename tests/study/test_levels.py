"""Studies that halve: decisions as computed by hand from full results, however they are run."""

import json
import math
import shutil
import sys
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import brlbench as bb
from brlbench.mdps.sparse import Floats
from brlbench.results.result import Result
from brlbench.storage import read_result
from brlbench.study.folder import Folder
from brlbench.study.levels import expected_mdps
from brlbench.study.plan import Job, read_study
from brlbench.study.run import StudyRun
from brlbench.study.status import read_status
from helpers.inline import Inline, in_this_process
from helpers.made_studies import assert_same_results, write_study
from helpers.shared import made_once
from helpers.shell import Shell
from helpers.sizes import sizes
from helpers.ways_to_run import EXECUTORS, run_killed, run_on

NUM_MDPS, CHOOSING, RUNGS, LATER = 120, 30, (4, 12), (50, 75, 100)
HALVING = """
[halving]
levels = ["sigma"]
mdps = [4, 12]
ladder = 5
"""
FULL = f"""
[defaults]
num_mdps = {NUM_MDPS}
horizon = 40

[[experiments]]
test = "GC"

[[agents]]
algorithm = "random"

[[agents]]
algorithm = "optimal"

[[agents]]
algorithm = "epsilon-greedy"
parameters.epsilon = [0.0, 0.2]

[[agents]]
algorithm = "opps-ds"
parameters.draws = 20

[[agents]]
algorithm = "vdbe"
parameters.sigma = [10, 0.1, 1]
parameters.delta = [0.1, 0.9]
parameters.initial_epsilon = [0.0, 0.5, 1.0]
"""
STUDY = HALVING + FULL
CHAMPIONS = ("random", "epsilon-greedy")  # cheap, and not trained offline
SIGMAS = (0.1, 1, 10)
MORE = """
[[agents]]
algorithm = "vdbe"
parameters.sigma = 0.1
parameters.delta = 0.5
parameters.initial_epsilon = 0.0

[[agents]]
algorithm = "beb"
"""


def run(folder: Path, text: str = STUDY) -> Path:
    bb.run(write_study(folder, text), folder / "out", workers=1)
    return folder / "out"


@pytest.fixture(scope="session")
def halved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a study that has halved with one worker; only for reading."""
    with pytest.MonkeyPatch.context() as patch:
        in_this_process(patch)
        return made_once(tmp_path_factory, "halved", run) / "out"


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same agents, which all play all MDPs; only for reading."""
    with pytest.MonkeyPatch.context() as patch:
        in_this_process(patch)
        return made_once(tmp_path_factory, "not-halved", partial(run, text=FULL)) / "out"


def results_in(out: Path) -> dict[str, Result]:
    results = [read_result(path) for path in out.glob("results/*/*.parquet")]
    return {result.label: result for result in results}


def numbers_in(out: Path) -> dict[str, int]:
    return {label: len(result.returns) for label, result in results_in(out).items()}


def decisions(out: Path) -> dict[str, Any]:
    [path] = out.glob("decisions/*.json")
    record: dict[str, Any] = json.loads(path.read_text())
    del record["looked"]  # nobody looks at agents that were complete before
    return {**record, "dropped": sorted(record["dropped"])}  # levels take their turns


def score(result: Result, at: int) -> Floats:
    first = result.first(at)
    return first.adjusted.returns if first.can_be_adjusted else first.returns


def by_hand(results: dict[str, Result]) -> dict[str, int]:
    """The MDPs that each agent plays, from results of all MDPs."""
    numbers = dict.fromkeys(results, NUM_MDPS)
    cheap = [each for each in results.values() if each.algorithm in CHAMPIONS]
    champion = max(cheap, key=lambda each: score(each, CHOOSING).mean())
    settings = list(product((0.1, 0.9), (0.0, 0.5, 1.0)))
    for sigma in SIGMAS:
        of_setting = {
            (each.parameters["delta"], each.parameters["initial_epsilon"]): each
            for each in results.values()
            if each.parameters.get("sigma") == sigma
        }
        if sigma > 5:
            numbers |= {of_setting[each].label: 0 for each in settings[3:]}
            settings = settings[:3]
        for at, number in zip(RUNGS, (math.ceil(len(settings) / 3), 1), strict=True):
            left = [each for each in settings if numbers[of_setting[each].label] > at]
            left.sort(key=lambda each: -score(of_setting[each], at).mean())
            settings = left + [each for each in settings if each not in left]
            numbers |= {of_setting[each].label: at for each in left[number:]}
        best = of_setting[settings[0]]
        for at in LATER:
            worse = score(champion, at)[CHOOSING:] > score(best, at)[CHOOSING:]
            test = stats.ttest_rel(score(champion, at)[CHOOSING:], score(best, at)[CHOOSING:])
            if worse.any() and test.statistic > 0 and test.pvalue / 2 < 0.01:
                numbers[best.label] = at
                break
    return numbers


def test_decisions_are_those_made_by_hand(halved: Path, full: Path) -> None:
    expected = by_hand(results_in(full))
    assert {0, 4, 12, NUM_MDPS} < {*expected.values()}
    assert {*expected.values()} & {*LATER}  # one is worse than the champion
    assert numbers_in(halved) == {label: at for label, at in expected.items() if at}
    for label, result in results_in(halved).items():
        whole = results_in(full)[label]
        np.testing.assert_array_equal(result.rewards, whole.rewards[: len(result.returns)])
    status = read_status(halved)
    assert (status.done, status.left) == (len(expected), 0)
    assert status.num_played == sum(expected.values())
    assert {job.agent for job in status.stopped} == {
        label for label, at in expected.items() if at < NUM_MDPS
    }


@pytest.mark.slow
@pytest.mark.parametrize("executor", EXECUTORS)
def test_workers_and_clusters_do_not_change_decisions(
    halved: Path, tmp_path: Path, executor: str, shell: Shell, request: pytest.FixtureRequest
) -> None:
    run_on(executor, tmp_path, STUDY, shell, request)
    assert decisions(tmp_path / "out") == decisions(halved)
    assert_same_results(tmp_path / "out", halved)


@pytest.mark.slow
@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("moments", sizes((60,), (5, 40, 80, 120, 160)))
def test_killed_and_resumed_it_decides_the_same(
    moments: tuple[int, ...], halved: Path, tmp_path: Path, shell: Shell
) -> None:
    run_killed(moments, tmp_path, STUDY, shell)
    assert decisions(tmp_path / "out") == decisions(halved)
    assert_same_results(tmp_path / "out", halved)


@pytest.mark.usefixtures("in_process")
def test_what_a_kill_or_damage_left_is_made_again(halved: Path, tmp_path: Path) -> None:
    out = shutil.copytree(halved, tmp_path / "out")
    lost = [min(out.glob(f"results/*/*.{end}")) for end in ("halving.json", "halving.parquet")]
    for path in lost:
        path.unlink()
    run(tmp_path)
    assert all(path.exists() for path in lost)
    # Without its record, it begins anew with what has been played.
    [record] = out.glob("decisions/*.json")
    record.write_text('{"terms": {}}')
    run(tmp_path)
    assert decisions(out) == decisions(halved)
    assert_same_results(out, halved)


@pytest.mark.usefixtures("in_process")
def test_a_study_that_is_edited_decides_as_if_it_were_new(halved: Path, tmp_path: Path) -> None:
    """An agent joins a level, and a cheap one the others; then the rule is left out and back."""
    new = run(tmp_path / "new", STUDY + MORE)
    shutil.copytree(halved, tmp_path / "out")
    edited = run(tmp_path, STUDY + MORE)
    assert decisions(edited) == decisions(new)
    assert (
        numbers_in(edited).items()
        >= {
            label: at for label, at in numbers_in(new).items() if label not in numbers_in(halved)
        }.items()
    )
    path = write_study(tmp_path, FULL)
    status = bb.run(path, edited, workers=1)
    assert (status.left, status.stopped) == (0, [])
    assert all(numbers_in(edited)[job.label] == NUM_MDPS for job in read_study(path).jobs)
    # Among complete results nobody stops.
    assert bb.run(write_study(tmp_path, STUDY), edited, workers=1).stopped == []


@pytest.mark.usefixtures("in_process")
def test_the_ladder_begins_above_levels_that_are_complete(full: Path, tmp_path: Path) -> None:
    out = shutil.copytree(full, tmp_path / "out")
    for path in out.glob("results/*/vdbe*"):
        if read_result(path).parameters["sigma"] == 10:
            path.unlink()
    expected = by_hand(results_in(full))
    found = numbers_in(run(tmp_path))
    assert len(found) == len(expected) - 3
    assert all(found[label] == at for label, at in expected.items() if at and "sigma=10" in label)


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("where", ["cheap", "level"])
def test_failed_agents_hold_up_nobody(halved: Path, tmp_path: Path, where: str) -> None:
    text = STUDY.replace('["sigma"]', '["sigma", "luck"]' if where == "level" else '["sigma"]')
    text += '\n[[agents]]\nalgorithm = "study_agents:Troubled"\nparameters.trouble = "raise"\n'
    status = bb.run(write_study(tmp_path, text), tmp_path / "out", workers=1)
    assert (len(status.failures), status.left) == (1, 0)
    assert numbers_in(tmp_path / "out") == numbers_in(halved)


def test_what_status_and_reports_say(halved: Path, tmp_path: Path, shell: Shell) -> None:
    said = shell("status", halved).out
    assert "left after 4 MDPs: others of vdbe with sigma=0.1 were better" in said
    assert "stopped after 75 MDPs: worse than epsilon-greedy(epsilon=0.0), the best cheap" in said
    assert "not played: its other parameters are not among the best of vdbe with sigma=1" in said
    found = bb.compare(halved)
    assert "stopped before they had played all 120 MDPs" in str(found.notes)
    assert "12 of them left by halving, and can't win" in str(found.notes)
    candidates = {row.summary.label for row in found.rows}
    numbers = numbers_in(halved)
    assert all(numbers[label] > CHOOSING for label in candidates)
    assert "[4 MDPs]" in shell("compare", halved, "--all").out
    bb.report(halved, tmp_path / "report", formats=["html"])
    assert "[4 MDPs]" in (tmp_path / "report/report.html").read_text()


SLOW = """
from dataclasses import dataclass
from pathlib import Path

from study_agents import Plain


@dataclass
class Slow(Plain):
    simulations: int = 1

    def act(self, state):
        if self.luck == LATE and not READY.exists():
            raise ValueError("not ready")
        return super().act(state)
"""
HALVING_OWN = "[halving]\n"
OWN = """
[defaults]
num_mdps = 40
horizon = 5

[[experiments]]
test = "GC"

[[agents]]
algorithm = "slow_agents:Slow"
parameters.simulations = [5000, 1]
parameters.luck = [1, 2, 3, 4]

[[agents]]
algorithm = "random"
"""


def write_slow_agents(folder: Path, late: int = -1) -> Path:
    """Agents of a user, one of which raises until a file is there."""
    ready = folder / "ready"
    text = SLOW.replace("LATE", str(late)).replace("READY", f"Path({str(ready)!r})")
    (folder / "slow_agents.py").write_text(text)
    sys.modules.pop("slow_agents", None)
    return ready


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("late", [2, 4])
def test_agents_that_are_late_count_as_all(tmp_path: Path, late: int) -> None:
    """After a failure that is mended, decisions are those of a run without it."""
    path, out = write_study(tmp_path, HALVING_OWN + OWN), tmp_path / "out"
    ready = write_slow_agents(tmp_path, late)
    assert len(bb.run(path, out, workers=1).failures) == 1  # its setting is not carried
    before = decisions(out)
    assert len(bb.run(path, out, workers=1).failures) == 1
    assert decisions(out) == before
    ready.touch()
    assert bb.run(path, out, workers=1, retry_failed=True).left == 0
    bb.run(path, tmp_path / "new", workers=1)
    after, new = decisions(out), decisions(tmp_path / "new")
    assert (after["ranking"], after["dropped"]) == (new["ranking"], new["dropped"])
    assert after["ranking"] != before["ranking"]
    assert numbers_in(out).items() >= numbers_in(tmp_path / "new").items()


@pytest.mark.usefixtures("in_process")
def test_the_command_line_halves_agents_of_users(tmp_path: Path, shell: Shell) -> None:
    path, out = write_study(tmp_path, OWN), tmp_path / "out"
    write_slow_agents(tmp_path)
    done = shell("run", path, "-r", out, "--halving", "--workers", 1)
    assert done.code == 0, done
    assert "6 of them stopped early" in done.out
    assert (out / "study.toml").read_text().startswith("# run with halving = True\n")
    assert sorted(numbers_in(out).values()) == [10] * 5 + [40] * 3
    assert len(list(out.glob("results/*/*.halving.json"))) == 1
    both = shell("run", path, "-r", out, "--halving", "--race")
    assert (both.code, both.out) == (1, "")
    assert "can't have both halving and racing" in both.err


def test_expected_numbers_are_those_of_the_plan(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, STUDY))
    expected = expected_mdps(study.jobs, study.table.rule)
    number: dict[float, float] = {}
    for job in study.jobs:
        if job.level is not None:
            number[job.level.value] = number.get(job.level.value, 0) + expected[job]
    six, three = 6 * 4 + 2 * 8 + 108, 3 * 4 + 1 * 8 + 108
    assert number == pytest.approx({0.1: six, 1: six, 10: three})
    assert expected.keys() == {job for job in study.jobs if job.level}
    assert expected_mdps(study.jobs, None) == {}
    # The time left counts on it: here a second per trajectory, and nothing has been played.
    begun = StudyRun(study.jobs, Folder(tmp_path / "out"), Inline(), 1.0, rule=study.table.rule)
    for open_job in begun.open_jobs.values():
        open_job.seconds_each = 1.0
    cheap = len(study.jobs) - len(expected)
    assert begun._seconds_left() == pytest.approx(2 * six + three + cheap * NUM_MDPS)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("levels = []", "halving.levels = []: give it at least one value"),
        ('levels = ["simulation"]', "no agent has such a parameter"),
        ('levels = ["formulas"]', "formulas = 'F2' sets a level: must be a number"),
        ("mdps = [12, 4]", "halving can't have mdps = [12, 4]: they must increase"),
        ("mdps = [31]", "only the first 30 of the 120 MDPs of GC may choose agents"),
        ("ladder = 0", "halving.ladder = 0: must be a number above 0"),
        ("rungs = 3", "unknown key 'rungs'"),
        ('[defaults]\nuntil = "±1"', "can't have both halving and until"),
        ("[racing]", "can't have both halving and racing"),
    ],
)
def test_impossible_settings_are_refused(tmp_path: Path, line: str, said: str) -> None:
    head = line if line.startswith("[") else f"[halving]\n{line}"
    own = HALVING if line.startswith("[") else ""
    table = FULL.replace("[defaults]", "") if "[defaults]" in line else FULL
    levels = "" if "levels" in line or own else 'levels = ["sigma"]\n'
    text = f"{own}\n{head}\n{levels}{table}"
    with pytest.raises(bb.InvalidInput) as error:
        read_study(write_study(tmp_path, text))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_levels_of_jobs(tmp_path: Path) -> None:
    jobs: dict[str, Job] = {job.label: job for job in read_study(write_study(tmp_path, STUDY)).jobs}
    folder = Folder(tmp_path / "out")
    one, other = (jobs[f"vdbe(sigma={sigma}, delta=0.9)"] for sigma in (0.1, 10.0))
    assert one.level is not None
    assert other.level is not None
    assert one.level.setting == other.level.setting
    assert str(other.level) == "vdbe with sigma=10"
    assert one.rules == ["halving", "beaten"]
    assert jobs["optimal"].rules == jobs["random"].rules == []
    assert folder.left_out(one).name.endswith(".halving.json")
