"""Each rule for distributions of users is broken by a class that breaks no other one."""

from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.testing.priors import PRIOR_RULES, check_source
from helpers.own_problems import KnownRiver, River, RiverBelief, river
from helpers.shell import Shell


class Belief(RiverBelief):
    """The base of beliefs that lie."""


def with_belief(kind: type[RiverBelief]) -> Any:
    class Own(KnownRiver):
        def belief(self) -> Any:
            return kind(self.slips, self.swims)

    return Own()


class WrongMean(Belief):
    def mean(self) -> bb.MDP:
        return river(0.5)

    def predictive(self, state: int, action: int) -> tuple[Any, float]:
        row = self.mean().transitions.to_dense()[state, action]
        return row, float(row[2])


class WrongPay(Belief):
    def mean(self) -> bb.MDP:
        return river(self.slips / (self.slips + self.swims), 2.0)


class WrongStart(Belief):
    def mean(self) -> bb.MDP:
        mean = super().mean()
        return bb.MDP(mean.transitions, mean.rewards, 1)


class Noisy(Belief):
    def sample(self, rng: np.random.Generator) -> bb.MDP:
        drawn = super().sample(rng)
        return bb.MDP(drawn.transitions, drawn.rewards, 0, 0.5)


class Begun(Belief):
    """Learns from start states, and does not take them back."""

    def begin(self, state: int) -> None:
        self.begun = state + 1

    def mean(self) -> bb.MDP:
        mean = super().mean()
        start = getattr(self, "begun", 0) / 4
        return bb.MDP(mean.transitions, mean.rewards, [1 - start, start, 0])

    def sample(self, rng: np.random.Generator) -> bb.MDP:
        return bb.MDP(super().sample(rng).transitions, [0, 0, 1], self.mean().start)


class NoSum(Belief):
    def predictive(self, state: int, action: int) -> tuple[Any, float]:
        row, reward = super().predictive(state, action)
        return 2 * row, reward


class OtherReward(Belief):
    def predictive(self, state: int, action: int) -> tuple[Any, float]:
        row, reward = super().predictive(state, action)
        return row, reward + 1


class Deaf(Belief):
    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        pass


class NoUndo(Belief):
    def undo(self, mark: Any) -> None:
        pass


class NoMarks(Belief):
    mark = property()


class Unsummed(Belief):
    def mean(self) -> bb.MDP:
        return bb.MDP(np.full((3, 2, 3), 0.5), 0)


class Small(Belief):
    def mean(self) -> bb.MDP:
        return bb.MDP([[[1.0]]], 0)


class Shared(KnownRiver):
    def __init__(self) -> None:
        super().__init__()
        self.only = RiverBelief(self.slips, self.swims)

    def belief(self) -> Any:
        return self.only


class Elsewhere(KnownRiver):
    def belief(self) -> Any:
        return RiverBelief(8, 2)


def test_a_prior_that_keeps_all_rules() -> None:
    findings = check_source(KnownRiver())
    assert {finding.verdict for finding in findings.values()} == {"kept"}
    assert findings.keys() == PRIOR_RULES.keys()


def test_draws_alone_are_enough() -> None:
    findings = check_source(River())
    assert [finding.verdict for finding in findings.values()] == ["kept", "unknown"]


@pytest.mark.parametrize("family", ["GDL", "hypotheses"])
def test_the_built_in_families_keep_the_rules(family: str) -> None:
    made = bb.Hypotheses([river(0.1), river(0.3)]) if family == "hypotheses" else "GDL"
    findings = check_source(bb.distribution(made))
    assert {finding.verdict for finding in findings.values()} == {"kept"}


@pytest.mark.parametrize(
    ("source", "rule", "verdict", "seen"),
    [
        (with_belief(WrongMean), "mean", "broken", "at first, mean() gives 0.5 to state"),
        (with_belief(WrongPay), "mean", "broken", "gives 1.6 as the reward to state 2 after"),
        (with_belief(WrongStart), "mean", "broken", "gives 0 to a start in state 0, the draws 1"),
        (with_belief(Noisy), "begins", "doubtful", "as the variance to state 0 after action 0"),
        (with_belief(Begun), "undo", "broken", "undo(mark) leaves another mean or other draws"),
        (with_belief(Unsummed), "mean", "broken", "must sum to 1"),
        (with_belief(Small), "mean", "broken", "mean() returned an MDP of 1 state and"),
        (with_belief(NoSum), "predictive", "broken", "has 3 probabilities that sum to 2"),
        (with_belief(OtherReward), "predictive", "broken", "expects 1.0, mean() 0.0"),
        (with_belief(Deaf), "observes", "doubtful", "12 transitions change neither mean() nor"),
        (with_belief(NoUndo), "undo", "broken", "undo(mark) leaves another mean or other draws"),
        (with_belief(NoMarks), "belief", "broken", "which has no mark"),
        (Shared(), "observes", "broken", "what one belief observes changes another"),
        (Elsewhere(), "begins", "doubtful", "draws of the distribution 0."),
    ],
)
def test_the_rule_that_is_broken_is_named(source: Any, rule: str, verdict: str, seen: str) -> None:
    finding = check_source(source)[rule]
    assert finding.verdict == verdict
    assert seen in finding.seen


@pytest.mark.parametrize("name", ["GoalGrid:size=3", "Chain:prior=tied", "uniform:GDL"])
def test_the_command_checks_built_in_problems(name: str, shell: Shell) -> None:
    done = shell("check", name)
    assert (done.code, "keeps the rules" in done.out) == (0, True)


def test_the_command(shell: Shell) -> None:
    done = shell("check", "helpers.own_problems:KnownRiver", "--set", "slips=3.0")
    assert done.code == 0
    assert "KnownRiver:slips=3.0 keeps the rules" in done.out
