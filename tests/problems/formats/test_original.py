import re

import numpy as np
import pytest
from hypothesis import given

from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput, StoreError
from brlbench.problems import distribution
from brlbench.problems.formats.original import format_text, parse
from helpers.strategies import priors, reproducible

CHAIN = ["1 1 0 0 0", "1 0 1 0 0", "1 0 0 1 0", "1 0 0 0 1", "1 0 0 0 1"]
HEADER = "Serializable 0 IMDPDistribution 2".split()
MIDDLE = "MDPDistribution 0 DirMultiDistribution".split()
# What the original library itself writes for GC.
GC = "\n".join(
    [
        *(*HEADER, "GChain distribution", "GC", *MIDDLE, "155", "5", "3", "0"),
        *(row.replace(" ", "\t") for row in 3 * CHAIN),
        *("0", *15 * ["2\t0\t0\t0\t10"], "0", ""),
    ]
)


def text(numbers: str) -> str:
    header = [*HEADER, "A description", "a name", *MIDDLE, str(len(numbers.split()))]
    return "\n".join([*header, *numbers.split(), ""])


def test_gc_is_written_as_the_original_library_does() -> None:
    gc = distribution("GC")
    named = FlatDirichlet(
        gc.counts, gc.rewards, gc.start, name="GC", description="GChain distribution"
    )
    assert format_text(named) == GC


def test_gc_is_read() -> None:
    gc = parse(GC, "GC.dat")
    assert gc.digest == distribution("GC").digest
    assert (gc.name, gc.description) == ("GC", "GChain distribution")


def test_rows_go_by_action_then_state() -> None:
    prior = parse(text("2 2 1  1 2 3 4 5 6 7 8  0  10 20 30 40 50 60 70 80  0"), "x.dat")
    assert prior.counts.to_dense().tolist() == [[[1, 2], [5, 6]], [[3, 4], [7, 8]]]
    assert prior.rewards.mean.to_dense()[1].tolist() == [[30, 40], [70, 80]]
    assert prior.start.tolist() == [0, 1]
    assert (prior.name, prior.description) == ("a name", "A description")


def test_gaussian_rewards() -> None:
    prior = FlatDirichlet(np.ones((2, 1, 2)), [0.5, 2], reward_variances=[0, 0.25])
    written = format_text(prior)
    assert written.split("\n")[-6:] == ["0.5\t2", "0.5\t2", "1", "0\t0.25", "0\t0.25", ""]
    assert written.split("\n")[-7] == "1"
    assert written.split("\n")[9] == "17"
    assert parse(written, "x.dat").digest == prior.digest


def test_a_start_in_any_state() -> None:
    prior = parse(text("3 1 -1" + " 1" * 9 + " 0" + " 0" * 9 + " 0"), "x.dat")
    assert prior.start.tolist() == [1 / 3] * 3
    assert format_text(prior).split("\n")[10:13] == ["3", "1", "-1"]


def test_numbers_have_the_digits_they_need() -> None:
    numbers = [0.1, 1e-7, 1 / 3, 1e22, 123456789.0, 1e-300]
    prior = FlatDirichlet(np.tile(numbers, (6, 1, 1)), 0)
    row = format_text(prior).split("\n")[13]
    assert row == "0.1\t1e-07\t0.3333333333333333\t1e+22\t123456789\t1e-300"
    assert parse(format_text(prior), "x.dat").digest == prior.digest


@reproducible
@given(priors())
def test_writing_and_reading(prior: FlatDirichlet) -> None:
    one_start = FlatDirichlet(prior.counts, prior.rewards, 1, name="a", description="b c")
    again = parse(format_text(one_start), "x.dat")
    assert (again.digest, again.name, again.description) == (one_start.digest, "a", "b c")


def test_lines_may_end_as_on_windows() -> None:
    assert parse(GC.replace("\n", "\r\n"), "GC.dat").name == "GC"


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        ("", "x.dat is damaged: line 1 is '', must be 'Serializable'"),
        ("{}", "x.dat is damaged: line 1 is '{}', must be 'Serializable'"),
        (GC[:30], "x.dat is damaged: line 3 is 'IMDPDistributio', must be 'IMDPDistribution'"),
        (GC[:55], "x.dat is damaged: it ends in the header, after line 6"),
        (GC.replace("n\n2\n", "n\n3\n", 1), "x.dat is damaged: line 4 is '3', must be '2'"),
        (GC[:-10], "x.dat is damaged: it announces '155' numbers and has 151"),
        (GC + "7", "x.dat is damaged: it announces '155' numbers and has 156"),
        (GC.replace("155", "many"), "x.dat is damaged: it announces 'many' numbers and has 155"),
        (GC.replace("10", "ten"), "x.dat is damaged: could not convert string to float: "),
        (GC.replace("\n5\n3\n", "\n6\n3\n"), "155 numbers don't fit 6 states and 3 actions"),
        (GC.replace("\n5\n3\n", "\n0\n3\n"), "it has no numbers of states and actions"),
        (GC.replace("\n5\n3\n", "\n5\n3.5\n"), "it has no numbers of states and actions"),
        (GC.replace("\n5\n3\n", "\nnan\n3\n"), "it has no numbers of states and actions"),
        (text("2 1"), "it has no numbers of states and actions"),
        (text(""), "it has no numbers of states and actions"),
        (
            text("1 1 0 1 1 0 0"),
            "the type of reward is 1, must be 0 for a file without variances",
        ),
        (
            text("1 1 0 1 0 0 1 4"),
            "the type of reward is 0, must be 1 for a file with variances",
        ),
    ],
)
def test_damaged_texts(damaged: str, message: str) -> None:
    with pytest.raises(StoreError, match=re.escape(message)):
        parse(damaged, "x.dat")


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ("1 1 1 1 0 0 0", "x.dat: start = 1: must be a state from 0 to 0"),
        ("1 1 0.5 1 0 0 0", "x.dat: start = 0.5: must be a state from 0 to 0"),
        ("1 1 nan 1 0 0 0", "x.dat: start = nan: must be a state from 0 to 0"),
        ("1 1 inf 1 0 0 0", "x.dat: start = inf: must be a state from 0 to 0"),
        ("1 1 0 0 0 0 0", "x.dat: the counts of state 0, action 0 are all zero"),
        ("1 1 0 -1 0 0 0", "x.dat: the count at (state 0, action 0, next state 0) is -1.0"),
        ("1 1 0 nan 0 0 0", "x.dat: counts[0, 0, 0] = nan: must be a finite number"),
        ("1 1 0 1 1 0 1 -1", "x.dat: reward_variances at (state 0, action 0, next state 0)"),
    ],
)
def test_wrong_values(numbers: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)):
        parse(text(numbers), "x.dat")


def test_what_the_format_cannot_say() -> None:
    ones = np.ones((2, 1, 2))
    with pytest.raises(InvalidInput, match=r"the start must be one state, or all .*: write \.toml"):
        format_text(FlatDirichlet(ones, 0, start=[0.25, 0.75]))
    with pytest.raises(InvalidInput, match=r"the name 'a\\nb' has a line break: remove it"):
        format_text(FlatDirichlet(ones, 0, name="a\nb"))
    with pytest.raises(InvalidInput, match=r"the name 'c\\r' has a line break: remove it"):
        format_text(FlatDirichlet(ones, 0, description="c\r"))
