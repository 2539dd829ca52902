"""Entries of honest people are accepted; forged ones are refused, each with its reason.

A forger seals the file again, so that its digest is right.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.entries import CHECKS, CheckedEntry, submission
from brlbench.entries.replay import Replay, Replays, has_same_returns, replay_claims
from brlbench.entries.returns import best_returns
from brlbench.entries.submission import read_submission
from brlbench.errors import InvalidInput
from brlbench.results.adjusted import Adjusted
from brlbench.results.compact import ExperimentHeader, write_summaries
from brlbench.results.learning import Learning
from brlbench.results.result import Stopped
from brlbench.results.sealed import parse_parquet
from brlbench.results.summary import Summary
from brlbench.storage.entries import read_entry
from helpers.made_entries import (
    OWN,
    SET,
    SLOW,
    TOLD,
    Change,
    changed,
    settings,
    summaries,
    write_forged,
)
from helpers.made_results import summary as made_up

pytestmark = pytest.mark.slow  # starts processes


@pytest.fixture
def parsing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries are parsed in this process, which is quicker than to start another one."""
    monkeypatch.setattr(submission, "parser_in", lambda child: parse_parquet)


def verdicts(checked: CheckedEntry) -> dict[str, str]:
    return {name: found.verdict for name, found in checked.findings.items()}


def test_an_agent_outside_the_package_is_accepted_and_played_again(made_entry: Path) -> None:
    checked = bb.check_entry(made_entry, OWN, replay=2, seed=1)
    assert checked.accepted, str(checked)
    assert verdicts(checked) == dict.fromkeys(CHECKS, "kept")
    assert checked.entry is not None and checked.entry.name == TOLD["name"]
    assert checked.findings["replay"].seen == "4 returns of 2 of 2 results, the same (seed 1)"


@pytest.mark.usefixtures("parsing_here")
def test_its_code_is_run_only_if_it_is_named(
    made_entry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evil.py").write_text("import pathlib; pathlib.Path('trace').touch()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    evil = summaries(algorithm=lambda each: "evil:Agent", label=lambda each: "evil:Agent")
    own = _only(made_entry, tmp_path / "own.entry.parquet", "helpers.made_entries:Steady")
    path = changed(own, tmp_path / "evil.entry.parquet", evil)
    checked = bb.check_entry(path)
    assert checked.findings["replay"].verdict == "unknown"
    assert "name its class with --agent to run its code" in checked.findings["replay"].seen
    assert not (tmp_path / "trace").exists()
    with pytest.raises(InvalidInput, match="can't be imported"):
        bb.check_entry(path, "evil:Agent")
    assert (tmp_path / "trace").exists()


def _only(path: Path, to: Path, algorithm: str) -> Path:
    entry, pairs = read_entry(path, parse_parquet)
    return write_forged(to, [pair for pair in pairs if pair[1].algorithm == algorithm], entry)


@pytest.mark.usefixtures("parsing_here")
def test_a_class_of_no_agent_is_told(made_entry: Path) -> None:
    with pytest.raises(InvalidInput, match="the entry has no such agent: it has helpers"):
        bb.check_entry(made_entry, "helpers.made_entries:Other", replay=0)
    with pytest.raises(InvalidInput, match="Scripted: unknown parameter"):
        bb.check_entry(made_entry, "helpers.own_agents:Scripted", replay=0)


def _more(amount: float) -> Callable[[Summary], Any]:
    return lambda summary: summary.returns + amount


def _adjusted(amount: float, width: float = 1.0) -> Callable[[Summary], Adjusted]:
    def change(summary: Summary) -> Adjusted:
        assert summary.adjusted is not None
        return Adjusted(summary.adjusted.returns + amount, width * summary.adjusted.ci95)

    return change


def _falling(summary: Summary) -> Learning:
    """A curve that ends where it should, after a peak."""
    assert summary.learning is not None
    mean = summary.learning.mean.copy()
    mean[-2] = mean[-1] + 1
    return summary.learning._replace(mean=mean)


def _consistent(amount: float) -> Change:
    """Higher returns, adjusted returns and learning curves."""
    return summaries(
        returns=_more(amount),
        adjusted=_adjusted(amount),
        learning=lambda each: None,
    )


def _seconds(**factors: float) -> Change:
    return summaries(
        seconds=lambda each: {
            name: value * factors.get(name, factors.get("every", 1.0))
            for name, value in each.seconds.items()
        }
    )


def _machine(**changes: Any) -> Change:
    return summaries(machine=lambda each: {**each.machine, **changes})


def _one_return(amount: float) -> Callable[[Summary], Any]:
    def change(summary: Summary) -> Any:
        returns = summary.returns.copy()
        returns[17] = amount
        return returns

    return change


FORGED: dict[str, tuple[str, Change, str]] = {
    "scores": ("scores", summaries(returns=_more(1.0)), "learning curve ends at"),
    "adjusted": (
        "scores",
        summaries(adjusted=_adjusted(9.0)),
        "luck does not explain that its adjusted score is",
    ),
    "interval": (
        "scores",
        summaries(adjusted=_adjusted(0.0, width=0.5)),
        "is too narrow for its returns",
    ),
    "no adjusted score": ("scores", summaries(adjusted=lambda each: None), "no adjusted score"),
    "falling curve": (
        "scores",
        summaries(learning=_falling),
        "learning curve falls, where no reward is negative",
    ),
    "too good": (
        "best",
        summaries(returns=lambda each: 0 * each.returns + 150),
        "which an agent that knows every MDP can expect",
    ),
    "above the bound": ("best", _consistent(15.0), "which no agent that has to learn can pass"),
    "one return": ("returns", summaries(returns=_one_return(1e4)), "MDP 17: the return 10000 is"),
    "negative": ("returns", summaries(returns=_one_return(-1.0)), "the return -1 is impossible"),
    "hash": ("sets", settings("0" * 64), f"{SET} has hash f1b6b5b4b210…, not 000000000000…"),
    "another set": ("sets", settings(origin="GDL/accurate/v1"), "GDL/accurate/v1 has name"),
    "no set": ("sets", settings(origin="drawn"), "GC is no frozen set of this version"),
    "seed": ("sets", settings(seed=1), f"{SET} has seed = 0, not 1"),
    "discount": ("sets", settings(discount=0.9), f"{SET} has discount = 0.95, not 0.9"),
    "name": ("sets", lambda head, each: (head._replace(name="Best"), each), "GC is called 'Best'"),
    "stopped": (
        "MDPs",
        summaries(stopped=lambda each: Stopped("race", "worse")),
        "was stopped after 500 MDPs",
    ),
    "version": ("versions", _machine(versions={}), "the version of python is not known"),
    "no machine": ("versions", summaries(machine=lambda each: {}), "its machine and its versions"),
    "calibration": (
        "versions",
        _machine(calibration_microseconds=0.0),
        "the calibration of its machine is 0.0 µs",
    ),
    "parameters": (
        "agents",
        summaries(parameters=lambda each: {"x": 1} if not each.is_own else each.parameters),
        "unknown parameter 'x'",
    ),
    "no text": (
        "agents",
        summaries(
            algorithm=lambda each: "opps-ds",
            parameters=lambda each: {"formulas": []},
            label=lambda each: "opps-ds(formulas=[])",
        ),
        "formulas = []",
    ),
    "markup": (
        "texts",
        summaries(parameters=lambda each: {**each.parameters, "x": "<img src=x>"}),
        "the text '<img src=x>' must have no HTML tags",
    ),
}


@pytest.mark.usefixtures("parsing_here")
@pytest.mark.parametrize("case", FORGED)
def test_forged_entries_are_refused(case: str, made_entry: Path, tmp_path: Path) -> None:
    check, change, sentence = FORGED[case]
    checked = bb.check_entry(changed(made_entry, tmp_path / "a.entry.parquet", change), replay=0)
    assert check in checked.refused, str(checked)
    found = checked.findings[check]
    assert sentence in found.seen
    assert found.remedy


@pytest.mark.usefixtures("parsing_here")
def test_html_in_its_name_is_refused(made_entry: Path, tmp_path: Path) -> None:
    checked = bb.check_entry(
        changed(made_entry, tmp_path / "a.entry.parquet", name="<b>Best</b>"), replay=0
    )
    assert checked.refused == ["texts"]
    assert checked.findings["texts"].seen == "name = '<b>Best</b>': must have no HTML tags"


@pytest.mark.usefixtures("parsing_here")
def test_a_label_that_hides_its_agent_is_refused(made_entry: Path, tmp_path: Path) -> None:
    own = _only(made_entry, tmp_path / "own.entry.parquet", OWN)
    path = changed(own, tmp_path / "a.entry.parquet", summaries(label=lambda each: "bamcp"))
    assert f"its label must be {OWN}" in bb.check_entry(path, replay=0).findings["agents"].seen


@pytest.mark.usefixtures("parsing_here")
def test_fewer_mdps_are_refused(made_entry: Path, tmp_path: Path) -> None:
    few = bb.frozen_set(SET, 100)
    header = ExperimentHeader(few.name, few.hash, few.settings())
    path = changed(
        made_entry, tmp_path / "a.entry.parquet", lambda _, each: (header, each.first(100))
    )
    checked = bb.check_entry(path, replay=0)
    assert "MDPs" in checked.refused and "sets" not in checked.refused
    assert "has 100 of 500 MDPs" in checked.findings["MDPs"].seen
    # As many as the set has, but only said to be.
    cut = changed(
        made_entry, tmp_path / "b.entry.parquet", summaries(returns=lambda e: e.returns[:99])
    )
    checked = bb.check_entry(cut, replay=0)
    assert checked.refused == ["file"] and checked.entry is None
    assert "is damaged" in checked.findings["file"].seen


@pytest.mark.usefixtures("parsing_here")
def test_what_only_playing_again_shows_is_refused(made_entry: Path, tmp_path: Path) -> None:
    """Slightly better scores that agree with each other."""
    slight = changed(made_entry, tmp_path / "a.entry.parquet", _consistent(0.3))
    checked = bb.check_entry(slight, replay=1, seed=2)
    assert checked.refused == ["replay"], str(checked)
    assert "(1 of 1 MDP differ)" in checked.findings["replay"].seen
    assert "which played it" in checked.findings["replay"].remedy


@pytest.mark.usefixtures("parsing_here")
def test_an_agent_that_takes_forever_is_left_out(made_entry: Path, tmp_path: Path) -> None:
    """A slow agent with the times of a quick one."""
    slow = summaries(
        algorithm=lambda each: SLOW,
        label=lambda each: each.label.replace("Steady", "Slow"),
        seconds=lambda each: {**each.seconds, "offline": 1e-3},
    )
    one = _only(made_entry, tmp_path / "a.entry.parquet", OWN)
    path = changed(one, tmp_path / "b.entry.parquet", slow)
    checked = bb.check_entry(path, SLOW, within=1)
    assert checked.unknown == ["replay"], str(checked)
    seen = f"nothing was played: {SLOW}(patience=9) on {SET}: --within was over"
    assert checked.findings["replay"].seen == seen


@pytest.mark.usefixtures("parsing_here")
def test_all_mdps_played_again_show_adjusted_returns(made_entry: Path, tmp_path: Path) -> None:
    """A forger keeps the returns, the adjusted mean and its interval."""

    def turned(summary: Summary) -> Any:
        assert summary.adjusted is not None
        return replace(summary.adjusted, returns=np.roll(summary.adjusted.returns, 1))

    one = read_submission(_only(made_entry, tmp_path / "a.entry.parquet", "beb"))
    replays = replay_claims(one, {}, number=500, seconds=600, seed=0)
    assert has_same_returns(one, replays).verdict == "kept"
    path = changed(made_entry, tmp_path / "b.entry.parquet", summaries(adjusted=turned))
    forged = read_submission(_only(path, tmp_path / "c.entry.parquet", "beb"))
    again = [replay._replace(claim=forged.claims[0]) for replay in replays.done]
    finding = has_same_returns(forged, replays._replace(done=again))
    assert finding.verdict == "broken"
    assert "the adjusted return is" in finding.seen


@pytest.mark.usefixtures("parsing_here")
def test_adjusted_returns_that_only_a_replay_has_are_not_compared(
    made_entry: Path, tmp_path: Path
) -> None:
    without = changed(
        made_entry, tmp_path / "a.entry.parquet", summaries(adjusted=lambda each: None)
    )
    entry = read_submission(without)
    mdps = list(range(500))
    done = [
        Replay(claim, mdps, claim.summary.returns.tolist(), [0.0] * 500) for claim in entry.claims
    ]
    assert has_same_returns(entry, Replays(done, [], {}, seed=0)).verdict == "kept"


@pytest.mark.usefixtures("parsing_here")
def test_no_time_to_play_is_told(made_entry: Path, tmp_path: Path) -> None:
    slow = changed(made_entry, tmp_path / "a.entry.parquet", _seconds(every=1e9))
    checked = bb.check_entry(slow)
    assert checked.unknown == ["replay"]
    assert "more than --within allows" in checked.findings["replay"].seen or (
        "name its class" in checked.findings["replay"].seen
    )


@pytest.mark.parametrize(
    "name", ["GDL/inaccurate/v1", "Chain-tied/accurate/v1", "GoalGrid/accurate/v1"]
)
def test_the_best_returns_are_those_of_solved_mdps(name: str) -> None:
    experiment = bb.frozen_set(name, 3)
    for number, value in enumerate(best_returns(experiment)):
        mdp = experiment.mdp(number)
        solved = float(mdp.start @ mdp.solve(experiment.discount).value)
        # Decisions beyond the horizon are worth less than this.
        discount, horizon = experiment.discount, experiment.horizon
        rest = discount**horizon * experiment.test.max_reward / (1 - discount)
        assert solved - rest <= value <= solved + 1e-9


@pytest.mark.usefixtures("parsing_here")
def test_a_compact_file_is_no_entry(tmp_path: Path) -> None:
    made = bb.frozen_set(SET, 2)
    header = ExperimentHeader(made.name, made.hash, made.settings())
    path = tmp_path / "a.entry.parquet"
    write_summaries(path, [(header, [made_up("random", np.ones(2))])])
    assert "no entry: make one with entry new" in bb.check_entry(path).findings["file"].seen
    with pytest.raises(InvalidInput, match=r"must end with \.entry\.parquet"):
        bb.check_entry(path.rename(tmp_path / "a.parquet"))
