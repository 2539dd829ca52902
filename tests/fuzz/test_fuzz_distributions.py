"""Distribution files of every format: random bytes, damaged ones, other values, types and sizes."""

import json
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from brlbench.errors import BrlbenchError
from brlbench.problems import distribution, read, write
from brlbench.problems.formats import SUFFIXES, from_json, to_json
from helpers.fuzzing import changed, damaged, fuzzing, numbers, outcome, toml

DOCUMENT: dict[str, Any] = {
    "format": 1,
    "name": "two-rooms",
    "description": "Two rooms",
    "num_states": 3,
    "num_actions": 2,
    "start": [0.5, 0.25, 0.25],
    "counts": [["*", "*", "*", 1], [2, "*", "*", 0], [2, "*", 2, 0.5], [0, 1, 2, 7]],
    "rewards": [["*", 1, 0, 10.0, 4.0], [1, 1, 0, 3], [0, 0, "*", -1]],
    "transitions": [["*", "*", 2, 0.5], [0, "*", 0, 0.5], [1, "*", 1, 0.5], [2, "*", 2, 1.0]],
}


def used(content: bytes, suffix: str) -> Any:
    """Read a file, and use what was read: every way ends in a result or in an error on purpose."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a{suffix}")
        path.write_bytes(content)
        made = outcome(lambda: read(path))
        if isinstance(made, BrlbenchError):
            assert str(path) in str(made)
            return made
        assert from_json(to_json(made)).digest == made.digest
        outcome(made.mean)
        outcome(made.uniform)
        outcome(lambda: made.around(20))
        outcome(lambda: made.mixed(0.25))
        outcome(lambda: made.scaled(10))
        drawn = outcome(lambda: made.sample(np.random.default_rng(0)))
        if made.num_states < 100 and not isinstance(drawn, BrlbenchError):
            assert np.isfinite(drawn.transitions.values).all()
        outcome(lambda: write(made, path, overwrite=True))
        return made


@fuzzing(80)
@given(changed(DOCUMENT), st.sampled_from(["toml", "json"]))
def test_other_values(document: Any, suffix: str) -> None:
    text = toml(document) if suffix == "toml" else json.dumps(document)
    used(text.encode(), f".{suffix}")


@fuzzing(60)
@given(st.data(), st.sampled_from(SUFFIXES), st.sampled_from(["GC", "uniform:GDL"]))
def test_damaged_files(data: st.DataObject, suffix: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a{suffix}")
        write(distribution(name), path)
        content = path.read_bytes()
    if suffix in (".dat.z", ".dat.zz") and data.draw(st.booleans()):
        content = zlib.compress(data.draw(damaged(zlib.decompress(content))))
    else:
        content = data.draw(damaged(content))
    used(content, suffix)


@fuzzing(40)
@given(st.binary(max_size=200), st.sampled_from(SUFFIXES))
def test_random_bytes(content: bytes, suffix: str) -> None:
    used(content, suffix)
    used(zlib.compress(content), suffix)


@fuzzing(60)
@given(st.data())
def test_other_numbers_in_the_original_format(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.dat")
        write(distribution("GC"), path)
        header, words = _split(path.read_text())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, 4) | st.integers(0, len(words) - 1))
        words[at] = str(data.draw(numbers))
    header[-1] = data.draw(st.sampled_from([header[-1], str(len(words) + 1), "1e9", "x"]))
    used("\n".join([*header, *words]).encode(errors="replace"), ".dat")


def _split(text: str) -> tuple[list[str], list[str]]:
    lines = text.split("\n")
    return lines[:10], " ".join(lines[10:]).split()


SOURCES = st.lists(
    st.sampled_from(
        [
            "GC",
            "Dense",
            "Sparse",
            "DeepSea",
            "Maze",
            "uniform",
            "around",
            "gym",
            "FrozenLake-v1",
            "states=3",
            "states=0",
            f"states={10**12}",
            "actions=2",
            f"actions={10**9}",
            "size=3",
            f"size={10**10}",
            "successors=2",
            "20",
            "1e400",
            "nan",
            "-1",
            "map_name=8x8",
            "counts=2",
            "counts=nan",
            "terminal=absorb",
            "terminal=x",
            "desc=1",
            "x=1",
            "=",
            "",
            "é",
            "\x00",
        ]
    )
    | st.text(max_size=5),
    max_size=4,
)


@fuzzing(80)
@given(SOURCES, st.sampled_from([":", ",", "::"]))
def test_names_with_parameters(parts: list[str], separator: str) -> None:
    outcome(lambda: distribution(separator.join(parts)))
