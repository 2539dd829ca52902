"""Agents that keep the rules pass, and each that breaks one is told which, and what to do."""

import json
from pathlib import Path
from typing import Any

import pytest

from brlbench.errors import InvalidInput
from brlbench.protocol.experiment import Experiment
from brlbench.testing import RULES, check_rules
from brlbench.testing.trial import Trial
from helpers import rule_breakers as agents
from helpers.shell import Shell, assert_error

IN_THIS_PROCESS = [rule for rule in RULES if rule != "workers"]

# The agent, the rule that it breaks, a part of what is seen, and a part of the remedy.
ONE_ACTION = "can't play problems with one action, one state and one action; with one action:"
ALL_LATE = "100% of its decisions end after a deadline of 2"
BREAKERS: list[tuple[type, str, str, str]] = [
    (agents.Fractional, "plays", "on MDP 0 at step 0: act returned 0.5: must be a", "valid"),
    (agents.HidesParameter, "parameters", "its constructor takes weight, which", "self.weight"),
    (agents.DoublesParameter, "parameters", "made from {'share': 0.5}, it shows", "as they are"),
    (agents.LearnsParameter, "parameters", "before it plays and", "leave parameters"),
    (agents.SharesWithCopies, "copies", "share self.visits, which playing changes", "__deepcopy__"),
    (agents.LosesTraining, "copies", "a copy plays differently than the agent", "__deepcopy__"),
    (agents.Uncopyable, "copies", "can't be copied (TypeError: cannot pickle", "out of the object"),
    (agents.CompiledForgetful, "copies", "differently than in the compiled loop", "in reset"),
    (agents.SavesHalf, "saves", "saved and loaded, it plays differently (MDP ", "take it over"),
    (agents.OnlySaves, "saves", "it has save but no load", "add load, or leave save out"),
    (agents.NeedsTwoActions, "odd problems", ONE_ACTION, "num_actions"),
    (agents.NeedsPositiveRewards, "odd problems", "with Gaussian rewards: ", "of the prior"),
    (agents.NeedsReachableStates, "odd problems", "with unreachable states", "of the prior"),
    (agents.ChangesPrior, "given", "it changes the prior", "change a copy instead"),
    (agents.ChangesTask, "given", "it changes the task", "change a copy instead"),
    (agents.IgnoresDeadlines, "deadlines", ALL_LATE, "look at the clock"),
]


def verdicts(agent: Any, rules: list[str]) -> dict[str, str]:
    return {rule: found.verdict for rule, found in check_rules(agent, rules=rules).findings.items()}


@pytest.mark.parametrize("make", [agents.Good, agents.Saving])
def test_good_agents_keep_all_rules(make: Any) -> None:
    checked = check_rules(make(share=0.25), rules=IN_THIS_PROCESS)
    assert {found.verdict for found in checked.findings.values()} == {"kept"}
    assert checked.broken == []
    assert checked.findings["parameters"].seen == "share=0.25"
    assert str(checked).startswith(f"helpers.rule_breakers:{make.__name__}(share=0.25):\n  plays: ")
    assert 0 < checked.seconds["median"] <= checked.seconds["p95"]
    assert "95% less than" in str(checked)


@pytest.mark.parametrize(("make", "rule", "seen", "remedy"), BREAKERS)
def test_each_broken_rule_is_named_with_a_remedy(
    make: Any, rule: str, seen: str, remedy: str
) -> None:
    quick = [each for each in IN_THIS_PROCESS if make is not agents.IgnoresDeadlines]
    checked = check_rules(make(), rules=quick or ["plays", "deadlines"])
    assert checked.broken == [rule]
    assert seen in checked.findings[rule].seen
    assert remedy in checked.findings[rule].remedy
    assert "doubtful" not in {found.verdict for found in checked.findings.values()}


@pytest.mark.slow  # new processes tell chance from memory
def test_chance_and_memory_are_told_apart_by_new_processes() -> None:
    where = Experiment("GC", num_mdps=2, horizon=10)
    assert Trial(agents.Unseeded(), where).is_random
    assert not Trial(agents.TrainsOnAndOn(), where).is_random


@pytest.mark.parametrize(
    ("make", "is_random", "rule", "seen", "remedy"),
    [
        (agents.Unseeded, True, "repeats", "two agents with one seed play", "only from the"),
        (agents.TrainsOnAndOn, False, "repeats", "a second time in one process", "let train"),
        (agents.Remembers, False, "independent", "alone than after others", "in the object"),
        pytest.param(
            *(agents.KnowsItsProcess, False, "workers", "two workers play differently", "hash()"),
            marks=pytest.mark.slow,  # starts processes
        ),
    ],
)
def test_memory_chance_and_processes_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, make: Any, is_random: bool, rule: str, seen: str, remedy: str
) -> None:
    monkeypatch.setattr(Trial, "is_random", is_random)
    checked = check_rules(make())
    assert checked.broken == [rule]
    assert seen in checked.findings[rule].seen
    assert remedy in checked.findings[rule].remedy


@pytest.mark.slow  # starts processes
def test_an_agent_that_other_processes_can_not_have() -> None:
    class Local(agents.Good):
        """Can't be found by its name."""

    checked = check_rules(Local(), rules=["parameters", "workers"])
    assert checked.broken == ["workers"]
    assert "can't be sent to other processes" in checked.findings["workers"].seen

    class Random(agents.Unseeded):
        """Nor can this one."""

    assert check_rules(Random(), rules=["repeats", "workers"]).broken == ["repeats"]


def test_the_remedy_for_a_changed_prior() -> None:
    class Changes(agents.Good):
        def train(self, prior: Any, task: Any, rng: Any) -> None:
            prior.counts.values[:] = 1

    rules = ["plays", "repeats", "copies"]
    begun: list[str] = []
    findings = check_rules(Changes(), rules=rules, on_rule=begun.append).findings
    assert begun == rules
    assert "read-only" in findings["plays"].seen
    assert "change a copy instead" in findings["plays"].remedy
    assert [findings[rule].waits for rule in rules] == [False, True, True]


def test_a_command_ends_with_the_first_cause(shell: Shell) -> None:
    done = shell("check", "helpers.rule_breakers:Fractional")
    assert done.code == 1
    assert "can't be judged: look at" not in done.out
    first, remedy = done.out.splitlines()[-2:]
    assert "breaks 1 of 11 rules; 10 can't be judged before. First: " in first
    assert "act returned 0.5" in first
    assert remedy == "→ let it raise no error, and return valid actions"


def test_what_changes_no_result_is_doubtful() -> None:
    found = check_rules(agents.SharesUnchanged(), rules=["copies"]).findings["copies"]
    assert (found.verdict, found.seen) == (
        "doubtful",
        "copies share self.preferred, self.visits, which playing did not change here",
    )
    checked = check_rules(agents.DrawsGlobally(), rules=IN_THIS_PROCESS)
    assert checked.broken == []
    assert checked.findings["random"].verdict == "doubtful"
    assert "it uses numpy.random in act" in checked.findings["random"].seen


def test_a_deadline_that_is_kept() -> None:
    """A busy machine can make this doubtful, but never broken."""
    found = check_rules(agents.KeepsDeadlines(), rules=["deadlines"]).findings["deadlines"]
    assert found.verdict in ("kept", "doubtful")
    assert "of its decisions end after a deadline of " in found.seen


def test_rules_that_can_not_be_judged_name_the_one_to_look_at() -> None:
    checked = check_rules(agents.Fractional(), rules=IN_THIS_PROCESS)
    unknown = {rule for rule, found in checked.findings.items() if found.verdict == "unknown"}
    assert unknown == set(IN_THIS_PROCESS) - {"plays"}
    first = RULES["plays"].statement
    assert checked.findings["given"].seen == f'can\'t be judged: look at "{first}" first'
    uncopyable = check_rules(agents.Uncopyable(), rules=["plays"]).findings["plays"]
    assert RULES["copies"].statement in uncopyable.seen
    assert checked.seconds == {}
    assert checked.times == ""


def test_other_experiments() -> None:
    """A rule may be broken only there."""
    where = Experiment("Chain", num_mdps=2, horizon=5)
    checked = check_rules(agents.Good(), where, rules=["plays"])
    assert checked.findings["plays"].seen == "10 decisions in 2 MDPs"


def test_wrong_arguments() -> None:
    with pytest.raises(InvalidInput, match="the agent is the class Good: must be an object"):
        check_rules(agents.Good)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"no rule 'copy' \(did you mean 'copies'\?\): must be"):
        check_rules(agents.Good(), rules=["copy"])


# As tests of another project.

OTHER_PROJECT = """
from brlbench.testing import keeps_rules
from helpers import rule_breakers as agents

test_good = keeps_rules(agents.Good, share=0.25)
test_doubtful = keeps_rules(agents.DrawsGlobally)
test_half_saved = keeps_rules(agents.SavesHalf)
test_fractional = keeps_rules(agents.Fractional)
"""


def test_one_test_per_rule_in_other_projects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_mine.py").write_text(OTHER_PROJECT)
    monkeypatch.chdir(tmp_path)
    options = ("-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(tmp_path), "-rA")
    code = pytest.main([*options, "-W", "default", "-k", "not workers", str(tmp_path)])
    told = capsys.readouterr().out
    number = len(IN_THIS_PROCESS)
    assert code == 1
    assert told.count("PASSED test_mine.py::test_good[") == number
    assert told.count("PASSED test_mine.py::test_doubtful[") == number
    assert "UserWarning: it uses numpy.random in act" in told
    assert told.count("FAILED") == 2
    assert "FAILED test_mine.py::test_half_saved[saves] - Failed: saved and loaded, it" in told
    assert f"{number - 1} skipped" in told


# From the command line.


def test_the_command(shell: Shell) -> None:
    good = ("helpers.rule_breakers:Good", "--set", "share=0.25")
    done = shell("check", *good, "--mdps", 2, "--horizon", 10)
    assert done.code == 0, done.out + done.err
    for rule in RULES.values():
        assert rule.statement in done.out
    assert "helpers.rule_breakers:Good(share=0.25) keeps the rules" in done.out
    assert "half of the decisions take less than" in done.out


@pytest.mark.slow  # starts processes
def test_the_command_on_an_agent_that_breaks_a_rule(shell: Shell) -> None:
    done = shell("check", "helpers.rule_breakers:SavesHalf")
    assert done.code == 1
    assert "saved and loaded, it plays differently" in done.out
    assert "→ save all that training makes" in done.out
    assert "helpers.rule_breakers:SavesHalf breaks 1 of 11 rules" in done.out


def test_the_command_prints_json(shell: Shell) -> None:
    done = shell("check", "helpers.rule_breakers:OnlySaves", "--json", "--mdps", 2, "--horizon", 10)
    content = json.loads(done.out)
    assert done.code == 1
    assert content["agent"] == "helpers.rule_breakers:OnlySaves"
    assert list(content["findings"]) == list(RULES)
    assert content["findings"]["plays"] == {
        "verdict": "kept",
        "seen": "20 decisions in 2 MDPs",
        "remedy": "",
    }
    assert set(content["seconds"]) == {"offline", "median", "p95"}
    assert content["broken"] == ["saves"]


def test_errors_of_the_command(shell: Shell) -> None:
    assert_error(shell("check", "nobody"), 'unknown agent "nobody"')
    assert_error(shell("check", "psrl", "--set", "z=1"), "psrl: unknown parameter 'z'")
