import json
import os
import re
import reprlib
import tempfile
import tomllib
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput, StoreError
from brlbench.problems import distribution, read, write
from helpers.strategies import priors, reproducible

EXAMPLE = """
format = 1
name = "example"
description = "An example"
num_states = 3
num_actions = 2
start = [0.5, 0.25, 0.25]
counts = [["*", "*", "*", 1], [2, "*", "*", 0], [2, "*", 2, 0.5], [0, 1, 2, 7]]
rewards = [["*", 1, 0, 10.0, 4.0], [1, 1, 0, 3], [0, 0, "*", -1]]
"""
VALID: dict[str, Any] = {
    "format": 1,
    "num_states": 3,
    "num_actions": 2,
    "counts": [["*", "*", "*", 1]],
    "rewards": [],
}
SUFFIXES = ["toml", "json", "dat", "dat.z", "dat.zz"]


def save(folder: Path, text: str | bytes, name: str = "my.toml") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def save_json(folder: Path, **changes: Any) -> Path:
    document = {k: v for k, v in {**VALID, **changes}.items() if v is not None}
    return save(folder, json.dumps(document), "my.json")


def test_stars_and_later_lines(tmp_path: Path) -> None:
    prior = read(save(tmp_path, EXAMPLE))
    counts = np.ones((3, 2, 3))
    counts[2] = [0, 0, 0.5]
    counts[0, 1, 2] = 7
    means = np.zeros((3, 2, 3))
    means[:, 1, 0], means[1, 1, 0], means[0, 0] = 10, 3, -1
    variances = np.zeros((3, 2, 3))
    variances[[0, 2], 1, 0] = 4
    np.testing.assert_array_equal(prior.counts.to_dense(), counts)
    np.testing.assert_array_equal(prior.rewards.mean.to_dense(), means)
    np.testing.assert_array_equal(prior.rewards.variance.to_dense(), variances)
    assert prior.start.tolist() == [0.5, 0.25, 0.25]
    assert (prior.name, prior.description) == ("example", "An example")


def test_toml_and_json_have_the_same_keys(tmp_path: Path) -> None:
    as_json = save(tmp_path, json.dumps(tomllib.loads(EXAMPLE)), "my.json")
    assert read(as_json).digest == read(save(tmp_path, EXAMPLE)).digest


def test_what_may_be_left_out(tmp_path: Path) -> None:
    prior = read(save_json(tmp_path))
    assert (prior.name, prior.description) == ("my", "")
    assert prior.start.tolist() == [1, 0, 0]
    assert not prior.rewards.mean.to_dense().any()


@settings(reproducible, max_examples=15)
@given(priors(), st.text(st.characters(codec="utf-8"), max_size=20))
def test_exact_round_trips(prior: FlatDirichlet, name: str) -> None:
    named = FlatDirichlet(
        prior.counts, prior.rewards, prior.start, name=name, description=f'"{name}\\'
    )
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("toml", "json"):
            write(named, f"{folder}/a.{suffix}")
            again = read(f"{folder}/a.{suffix}")
            assert again.digest == named.digest
            assert (again.name, again.description) == (named.name, named.description)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", ["GC", "GDL", "Grid", "uniform:GC"])
def test_problems_in_every_format(tmp_path: Path, name: str, suffix: str) -> None:
    problem, path = distribution(name), tmp_path / f"a.{suffix}"
    write(problem, path)
    again = read(path)
    assert (again.digest, again.name) == (problem.digest, problem.name)
    assert again.description == problem.description


def test_extreme_numbers(tmp_path: Path) -> None:
    counts = np.full((2, 1, 2), 1e-300)
    prior = FlatDirichlet(counts, [0.1 + 0.2, -9.999999999999999e99], [1 / 3, 2 / 3], [1e22, 0])
    for suffix in ("toml", "json"):
        write(prior, tmp_path / f"a.{suffix}")
        assert read(tmp_path / f"a.{suffix}").digest == prior.digest


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_any_character_in_a_name(tmp_path: Path, suffix: str) -> None:
    name = "\x00\x1b\x7f\r\n\t\"'\\ é \u2028 🎲"
    path = tmp_path / f"a.{suffix}"
    write(FlatDirichlet(np.ones((2, 1, 2)), 0, name=name), path)
    assert read(path).name == name


def test_compression_is_told_by_the_content(tmp_path: Path) -> None:
    plain, compressed = tmp_path / "a.dat", tmp_path / "b.dat.z"
    write(distribution("GC"), plain)
    write(distribution("GC"), compressed)
    assert zlib.decompress(compressed.read_bytes()) == plain.read_bytes()
    swapped = [
        save(tmp_path, compressed.read_bytes(), "c.dat"),
        save(tmp_path, plain.read_bytes(), "d.dat.z"),
    ]
    # As the original library writes them: one stream of zlib, at its best level or uncompressed.
    for level in (9, 0):
        data = zlib.compress(plain.read_bytes(), level)
        swapped.append(save(tmp_path, data, f"e{level}.dat.zz"))
    for path in (plain, compressed, *swapped):
        assert read(path).digest == distribution("GC").digest


def test_a_damaged_compressed_file(tmp_path: Path) -> None:
    write(distribution("GC"), tmp_path / "a.dat.z")
    path = save(tmp_path, (tmp_path / "a.dat.z").read_bytes()[:-20], "b.dat.z")
    with pytest.raises(StoreError, match=r"b\.dat\.z is damaged: it can't be decompressed"):
        read(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_are_not_overwritten_by_accident(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    write(distribution("GC"), path)
    with pytest.raises(StoreError, match=rf"a\.{re.escape(suffix)} exists already: choose another"):
        write(distribution("GDL"), path)
    assert read(path).name == "GC"
    write(distribution("GDL"), path, overwrite=True)
    assert read(path).name == "GDL"
    assert os.listdir(tmp_path) == [path.name]


def test_what_a_format_cannot_say_names_the_file(tmp_path: Path) -> None:
    prior = FlatDirichlet(np.ones((2, 1, 2)), 0, start=[0.25, 0.75])
    with pytest.raises(InvalidInput, match=r"a\.dat: the start must be one state"):
        write(prior, tmp_path / "a.dat")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["a.txt", "a", "a.z"])
def test_unknown_suffixes(tmp_path: Path, name: str) -> None:
    message = rf"{name}: the name must end in one of \.toml, \.json, \.dat, \.dat\.z"
    with pytest.raises(InvalidInput, match=message):
        write(distribution("GC"), tmp_path / name)
    with pytest.raises(InvalidInput, match=message):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("my.toml", "format = 1\nname = \n", r"my.toml: not valid TOML: .*line 2"),
        ("my.toml", "x = 1\nx = 2", "my.toml: not valid TOML: Cannot overwrite a value"),
        ("my.toml", b"format = 1\n# \xff", "my.toml: line 2 is not UTF-8 text"),
        ("my.json", '{"format": 1,\n"name" 2}', r"my.json: not valid JSON: .*line 2 column 8"),
        ("my.json", "[" * 100_000, "my.json: not valid JSON: "),
        ("my.json", "[1]", "my.json: must be an object with the keys format, num_states"),
        ("my.toml", "x = 1", "my.toml: unknown key 'x': must be one of format, num_states"),
    ],
)
def test_wrong_syntax(tmp_path: Path, name: str, text: str | bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read(save(tmp_path, text, name))


@pytest.mark.parametrize("key", VALID)
def test_missing_keys(tmp_path: Path, key: str) -> None:
    with pytest.raises(InvalidInput, match=f"my.json: the key '{key}' is missing: add it"):
        read(save_json(tmp_path, **{key: None}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_state": 3}, "unknown key 'num_state' (did you mean 'num_states'?): must be one of"),
        ({"Rewards": []}, "unknown key 'Rewards' (did you mean 'rewards'?)"),
        ({"format": 2}, "format = 2: must be 1"),
        ({"num_states": 0}, "num_states = 0: must be a whole number at least 1"),
        ({"num_states": 2.0}, "num_states = 2.0: must be a whole number at least 1"),
        ({"num_actions": True}, "num_actions = True: must be a whole number at least 1"),
        ({"name": 3}, "name = 3: must be a text"),
        ({"description": []}, "description = []: must be a text"),
        ({"start": 3}, 'start = 3: must be a state from 0 to 2, "uniform", or probabilities'),
        ({"start": "0"}, "start = '0': must be a state from 0 to 2"),
        ({"start": [0.5, 0.5]}, "start has 2 probabilities: must have one for each of the 3"),
        ({"start": [0.5, 0.6, 0]}, "start sums to 1.1: must sum to 1"),
        ({"start": [[1], [0, 1]]}, "start must be an array of numbers"),
        ({"counts": 1}, "counts = 1: must be a list of lists"),
        ({"counts": []}, "the counts of state 0, action 0 are all zero"),
        ({"counts": [["*", 0, 0, 1]]}, "the counts of state 0, action 1 are all zero"),
        ({"rewards": {"a": 1}}, "rewards = {'a': 1}: must be a list of lists"),
        ({"rewards": [5]}, "rewards[0] = 5: must be [state, action, next_state, mean] or [state, "),
        ({"rewards": [[0, 0, 0, 1, 1, 1]]}, "rewards[0] = [0, 0, 0, 1, 1, 1]: must be [state, "),
        ({"rewards": [[0, 0, 0, 1, -1]]}, "[0, 0, 0, 1, -1]: variance -1 must not be negative"),
        ({"rewards": [[0, 0, 0, float("nan")]]}, "mean nan must be a finite number"),
    ],
)
def test_wrong_values(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(message)) as caught:
        read(save_json(tmp_path, **changes))
    assert str(caught.value).startswith(f"{tmp_path / 'my.json'}: ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ([0, 9, 1, 2.0], "action 9 is out of range, must be 0 to 1"),
        ([3, 0, 1, 2.0], "state 3 is out of range, must be 0 to 2"),
        ([0, 0, -1, 2.0], "next_state -1 is out of range, must be 0 to 2"),
        (["**", 0, 0, 1], "state '**' must be a whole number or \"*\""),
        ([0, 0.0, 0, 1], 'action 0.0 must be a whole number or "*"'),
        ([0, 0, True, 1], 'next_state True must be a whole number or "*"'),
        ([0, 0, 0], "must be [state, action, next_state, count]"),
        ([0, 0, 0, 1, 1], "must be [state, action, next_state, count]"),
        ("0001", "must be [state, action, next_state, count]"),
        ([0, 0, 0, -1.5], "count -1.5 must not be negative"),
        ([0, 0, 0, "1"], "count '1' must be a finite number"),
        ([0, 0, 0, None], "count None must be a finite number"),
        ([0, 0, 0, float("inf")], "count inf must be a finite number"),
        (
            [0, 0, 0, 10**400],
            "count 100000000000000000...0000000000000000000 must be a finite number",
        ),
        ([0, 0, 0, False], "count False must be a finite number"),
    ],
)
def test_wrong_lines(tmp_path: Path, line: Any, message: str) -> None:
    path = save_json(tmp_path, counts=[["*", "*", "*", 1], line])
    with pytest.raises(InvalidInput, match=re.escape(f": {message}")) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: counts[1] = {reprlib.repr(line)}: ")


def test_large_files(tmp_path: Path) -> None:
    counts = [
        [s, a, (s + a + k) % 500, 0.5] for s in range(500) for a in range(2) for k in range(4)
    ]
    prior = read(save_json(tmp_path, num_states=500, counts=counts, rewards=[["*", "*", 0, 1]]))
    assert len(prior.counts.values) == 4000
    assert len(prior.rewards.mean.values) == 1000
