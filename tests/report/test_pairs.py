"""Two agents against each other, in Python and on the command line."""

import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import brlbench as bb
from brlbench import cli
from brlbench.analysis.significance import cautious_p_value, paired_z_test, probability_better
from brlbench.report.answers import Question, answer
from brlbench.report.pairs import find_agent, make_pair
from helpers.made_results import experiment, summary, write_study

RNG = np.random.default_rng(3)
SHARED = RNG.normal(10, 4, 200)


def returns(gain: float) -> np.ndarray:
    return np.asarray(SHARED + gain + RNG.normal(0, 1, 200))


MADE = experiment(
    [
        summary("beb", returns(0.0)),
        summary("beb", returns(0.4), online=1e-3, beta=2.5),
        summary("psrl", returns(0.3)),
        summary("bamcp", returns(-1.0), simulations=100),
        summary("mine:Thompson", returns(0.6), every=10),
        summary("mine:Thompson", returns(-0.1), every=50),
        summary("optimal", returns(9.0)),
    ]
)
FOUND = answer(MADE)


@pytest.mark.parametrize(("name", "label"), [
    ("beb", "beb"),  # the label of an agent with defaults, though another one is better
    ("beb(beta=2.5)", "beb(beta=2.5)"),
    ("mine:Thompson", "mine:Thompson(every=10)"),  # an algorithm: its best agent
    ("thompson", "mine:Thompson(every=10)"),
    ("every=50", "mine:Thompson(every=50)"),
    ("ps", "psrl"),
    ("BAMCP", "bamcp(simulations=100)"),
    ("optimal", "optimal"),
])  # fmt: skip
def test_agents_are_found_by_their_names(name: str, label: str) -> None:
    assert find_agent(FOUND, name).label == label


def test_an_algorithm_stands_for_its_best_agent_within_the_bounds() -> None:
    other = experiment([*MADE.summaries[1:], summary("beb", returns(-3.0), beta=9.0)])
    assert find_agent(answer(other), "beb").label == "beb(beta=2.5)"
    assert find_agent(answer(other, Question(online=1e-4)), "beb").label == "beb(beta=9.0)"


@pytest.mark.parametrize(("name", "said"), [
    ("bep", r"no agent 'bep' on GC \(did you mean 'beb'\?\): name one of beb, beb\(beta=2\.5\), "),
    ("b", r"agent 'b' on GC can mean several: name one of beb, beb\(beta=2\.5\), bamcp"),
])  # fmt: skip
def test_unknown_and_unclear_names(name: str, said: str) -> None:
    with pytest.raises(bb.InvalidInput, match=said):
        FOUND.pair(name, "psrl")


def test_an_agent_against_itself() -> None:
    with pytest.raises(bb.InvalidInput, match="both agents are psrl: name two different ones"):
        FOUND.pair("psrl", "ps")


@pytest.mark.parametrize("honest", [False, True])
def test_the_numbers_of_a_pair(honest: bool) -> None:
    pair = make_pair(answer(MADE, Question(honest=honest)), "bamcp", "psrl")
    mdps = slice(len(MADE.summaries[0].returns) // 4 if honest else 0, None)
    one, other = MADE.summaries[3].returns[mdps], MADE.summaries[2].returns[mdps]
    test = paired_z_test(one, other)
    assert pair.num_mdps == len(one)
    assert pair.test.z == test.z
    assert pair.test.difference == pytest.approx((one - other).mean())
    assert pair.test.low < pair.test.difference < pair.test.high
    assert pair.test.p_value == pytest.approx(2 * (1 - test.p_value))
    assert pair.test.p_cautious == 2 * cautious_p_value(other - one)
    assert pair.probability == probability_better(one, other)
    assert pair.table["probability_better"][0] == pair.probability.value


def test_a_pair_has_the_same_interval_everywhere() -> None:
    """Pairs share resamples, whichever others are computed with them."""
    best, *others = FOUND.rows
    assert len(others) > 1
    for row in others:
        pair = FOUND.pair(best.summary.label, row.summary.label)
        mirrored = FOUND.pair(row.summary.label, best.summary.label)
        assert row.test is not None
        assert (pair.test.low, pair.test.high) == (row.test.low, row.test.high)
        assert (-mirrored.test.high, -mirrored.test.low) == pytest.approx(pair.test[1:3])


def test_a_pair_in_words() -> None:
    said = repr(FOUND.pair("bamcp", "psrl"))
    assert said.startswith("GC: psrl is better than bamcp(simulations=100), by 1.")
    assert "two-sided: p < 0.001" in said
    assert "On a drawn MDP, psrl has the higher return with probability " in said
    assert "equal returns count one half" in said
    same = experiment([summary("a", np.arange(40.0)), summary("b", np.arange(40.0))])
    said = repr(answer(same).pair("a", "b"))
    assert "a is not significantly better than b, by 0.00" in said
    assert "p = 1.000" in said
    assert "with probability 50%" in said


def run(*arguments: object) -> int:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(sys, "argv", ["brlbench", *map(str, arguments)])
        cli.main()
    return int(ended.value.code or 0)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write_study(tmp_path, ("random", "beb", "optimal", "mine:Agent"))
    return tmp_path


def test_compare_two_agents(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare", "mine", "beb", results) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for name in ("GC", "Grid"):
        assert f"{name}: mine:Agent(value=3) is better than beb(value=1), by " in shown
    assert "random" not in shown
    assert run("compare", "--agents", "random", "mine", results, "--experiment", "GC",
               "--format", "csv") == 0  # fmt: skip
    table = pl.read_csv(capsys.readouterr().out.encode())
    assert table["first"].to_list() == ["random"]
    assert (table["difference"] < 0).all()
    assert run("compare", results, "random", "mine", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)["experiments"]
    assert [each["experiment"] for each in found] == ["GC", "Grid"]
    assert found[0]["answer"].startswith("GC: mine:Agent(value=3) is better")


def test_two_files_are_two_agents(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare", results / "GC-0.parquet", results / "GC-1.parquet") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "GC: beb(value=1) is better than random, by " in shown


@pytest.mark.parametrize(("names", "said"), [
    (("nowhere",), "there is no nowhere: give folders or files with results, and before them two"),
    (("mine", "bep"), "there is no agent 'bep' on GC (did you mean 'beb'?)"),
])  # fmt: skip
def test_names_that_are_neither_files_nor_agents(
    results: Path, names: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("compare", *names, results) == 1
    assert said in capsys.readouterr().err
