"""Values that workers return are checked before they are used."""

from typing import Any

import numpy as np
import pytest

from brlbench.executors import wire
from brlbench.protocol.playing import Part
from brlbench.results.sealed import pack_table
from brlbench.study.worker import PartFile, WrongValue

FILE = pack_table("part", {"returns": [1.0, 2.0]}, {})
RETURNS = np.array([1.0, 2.0])


def test_a_played_part_comes_back() -> None:
    played = PartFile(Part(3, 5), 0.5, FILE, False, RETURNS.tobytes())
    read = PartFile.read(wire.unpack(wire.pack(played)), Part(3, 9))
    assert read == played
    np.testing.assert_array_equal(read.returns, RETURNS)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("a lot of money", "no played part"),
        (([3, 5], 0.5, FILE, False), "no played part"),
        (([3, 5], 0.5, FILE, False, "12"), "no played part"),
        (([3, 5], 0.5, FILE, False, b"12345"), "no played part"),
        (([3, 5], 0.5, b"no file", False, RETURNS.tobytes()), "a damaged file"),
        (([3, 5], 0.5, FILE, False, RETURNS[:1].tobytes()), "times or returns"),
        (
            ([3, 5], 0.5, FILE, False, (RETURNS * np.inf).tobytes()),
            "times or returns",
        ),
        (([3, 5], float("nan"), FILE, False, RETURNS.tobytes()), "times or returns"),
        (([3, 5], -1.0, FILE, False, RETURNS.tobytes()), "times or returns"),
        (([4, 6], 0.5, FILE, False, RETURNS.tobytes()), "another part than"),
    ],
)
def test_anything_else_is_refused(value: Any, message: str) -> None:
    with pytest.raises(WrongValue, match=message):
        PartFile.read(value, Part(3, 9))
