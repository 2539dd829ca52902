"""Tied priors, sets of hypotheses and distributions of users in files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.errors import InvalidInput
from brlbench.problems import formats
from helpers.own_problems import river, tied_river

TIED = """
format = 1
name = "two"
num_states = 2
num_actions = 2
groups = [[8, 2]]
pairs = [
  ["*", 0, 0, 0, 1],
  [0, 1, 0, 1, 0],
  [1, 1, 0, 1, 0],
]
rewards = [["*", "*", 1, 3.0]]
"""
SET = """
format = 1
num_states = 2
num_actions = 1
rewards = [["*", "*", 1, 1.0]]

[[mdps]]
weight = 3
transitions = [["*", "*", 0, 0.5], ["*", "*", 1, 0.5]]

[[mdps]]
start = "uniform"
transitions = [["*", "*", 1, 1.0]]
rewards = [["*", "*", 1, 2.0, 0.0]]
"""


def read(text: str, tmp_path: Path) -> Any:
    path = tmp_path / "file.toml"
    path.write_text(text)
    return bb.distribution(path)


def test_a_tied_prior(tmp_path: Path) -> None:
    tied = read(TIED, tmp_path)
    assert isinstance(tied, bb.TiedDirichlet)
    assert tied.name == "two"
    expected = [[[0.8, 0.2], [0.2, 0.8]], [[0.8, 0.2], [0.2, 0.8]]]
    np.testing.assert_allclose(tied.mean().transitions.to_dense(), expected)
    seen = tied.posterior([(0, 0, 1)]).mean().transitions.to_dense()
    np.testing.assert_allclose(seen[1, 1], [3 / 11, 8 / 11])


def test_a_set_of_hypotheses(tmp_path: Path) -> None:
    made = read(SET, tmp_path)
    assert isinstance(made, bb.Hypotheses)
    assert made.weights.tolist() == [0.75, 0.25]
    assert made.mdps.mdp(1).start.tolist() == [0.5, 0.5]
    assert made.mdps.mdp(0).rewards.mean.to_dense()[0, 0].tolist() == [0, 1]
    assert made.mdps.mdp(1).rewards.mean.to_dense()[0, 0].tolist() == [0, 2]


def priors() -> dict[str, Any]:
    noisy = bb.MDP(river(0.3).transitions, 2, "uniform", 0.5)
    third = bb.MDP(river(1 / 3).transitions, 2, 1, 0.5)
    return {
        "tied": tied_river(),
        "shared": bb.Hypotheses([river(0.1), river(1 / 3)], [1, 2], "set", "a description"),
        "differing": bb.Hypotheses([noisy, third, noisy], [0.1, 0.2, 0.7]),
    }


@pytest.mark.parametrize("kind", priors())
@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_written_and_read_again(kind: str, suffix: str, tmp_path: Path) -> None:
    made = priors()[kind]
    formats.write(made, tmp_path / f"p{suffix}")
    again = bb.distribution(tmp_path / f"p{suffix}")
    assert type(again) is type(made)
    assert again.digest == made.digest
    assert again.description == made.description


def test_a_distribution_of_a_user_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = bb.distribution("helpers.own_problems:River:slips=3.0,particles=9")
    assert made.source.slips == 3
    formats.write(made, tmp_path / "own.json")
    again = bb.distribution(tmp_path / "own.json")
    assert (again.digest, again.particles, again.path) == (made.digest, 9, made.path)
    monkeypatch.setattr("helpers.own_problems.River.sample", lambda self, rng: river(rng.random()))
    with pytest.raises(InvalidInput, match="draws other MDPs than when this was written"):
        bb.distribution(tmp_path / "own.json")


@pytest.mark.parametrize("kind", ["tied", "shared"])
def test_the_original_library_has_flat_priors_only(kind: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="format can't hold all priors"):
        formats.write(priors()[kind], tmp_path / "p.dat")


@pytest.mark.parametrize(
    ("text", "before", "after", "message"),
    [
        (TIED, '["*", 0, 0, 0, 1],', '[0, 0, 0, 0, 1],', "no line for state 1, action 0: add it"),
        (TIED, "[0, 1, 0, 1, 0]", "[0, 1, 0, 1]", r"pairs\[1\] = \[0, 1, 0, 1\]: must be \[state"),
        (TIED, "[0, 1, 0, 1, 0]", "[0, 2, 0, 1, 0]", r'action 2 must be 0 to 1 or "\*"'),
        (TIED, "[0, 1, 0, 1, 0]", "[0, 1, 0, 1, 0.5]", "must be whole numbers"),
        (TIED, "[0, 1, 0, 1, 0]", "[0, 1, 1, 1, 0]", "group 1 is out of range: must be 0 to 0"),
        (TIED, "[[8, 2]]", "[8, 2]", "groups and pairs must be lists of lists"),
        (TIED, "[[8, 2]]", '[["a", 2]]', "counts must be an array of numbers"),
        (TIED, "rewards", "reward", "unknown key 'reward'"),
        (SET, "weight = 3", "weight = -3", r"weights\[0\] = -3.0: must be a finite number"),
        (SET, "weight = 3", "wait = 3", r"mdps\[0\]: unknown key 'wait': must be one of weight"),
        (SET, "0, 0.5]", "0, 0.6]", r"mdps\[0\]: the transition probabilities .* must sum to 1"),
        (SET, 'rewards = [["*", "*", 1, 1.0]]', "", r"mdps\[0\]: rewards are missing: add them"),
        (SET, "transitions = [[", "transition = [[", "must be a table with transitions"),
    ],
)  # fmt: skip
def test_refused(text: str, before: str, after: str, message: str, tmp_path: Path) -> None:
    assert before in text
    with pytest.raises(InvalidInput, match=message):
        read(text.replace(before, after, 1), tmp_path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("helpers.own_problems:Creek", "has no attribute 'Creek'"),
        ("helpers.own_problems:River:slope=2", "River: unknown parameter 'slope'"),
        ("helpers.own_problems:STATES", "is neither a distribution nor makes one: it must have"),
        ("helpers.own_problems:river:slip=0.5", "MDP has no sample: a distribution has num_states"),
        (
            "uniform:helpers.own_problems:River",
            "changes flat Dirichlet counts, and helpers",
        ),
    ],
)
def test_names_of_no_distribution(name: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        bb.distribution(name)
