import numpy as np
import pytest
import scipy.stats

from brlbench.kernels.types import Words
from brlbench.mdps.sparse import Floats, Integers
from helpers.compiled import (
    draw_below,
    draw_two_below,
    draw_uniform,
    draw_words,
    keyed_words,
    new_rng,
    units,
)

MASK = 2**64 - 1
NUMBER = 200_000

# The first outputs of the authors' C code with the state 1, 2, 3, 4.
PUBLISHED = [
    41943041,
    58720359,
    3588806011781223,
    3591011842654386,
    9228616714210784205,
    9973669472204895162,
    14011001112246962877,
    12406186145184390807,
    15849039046786891736,
    10450023813501588000,
]


def rotated(word: int, places: int) -> int:
    return (word << places | word >> (64 - places)) & MASK


def xoshiro(state: list[int], number: int) -> list[int]:
    """xoshiro256++ with Python's integers."""
    a, b, c, d = state
    words = []
    for _ in range(number):
        words.append((rotated((a + d) & MASK, 23) + a) & MASK)
        shifted = (b << 17) & MASK
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = rotated(d, 45)
    return words


def mixed(word: int) -> int:
    """The last part of splitmix64 with Python's integers."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
    return word ^ word >> 31


def keyed(keys: object, rows: object, columns: object) -> Words:
    """The keyed words of all combinations, in the shape that the arguments broadcast to."""
    key, row, column = np.broadcast_arrays(
        np.asarray(keys, np.uint64), np.asarray(rows, np.int64), np.asarray(columns, np.int64)
    )
    out = np.zeros(key.size, np.uint64)
    keyed_words(key.ravel(), row.ravel(), column.ravel(), out)
    return out.reshape(key.shape)


def in_unit(words: Words) -> Floats:
    out = np.zeros(words.size)
    units(words.ravel(), out)
    return out.reshape(words.shape)


def chi_square(observed: Integers) -> float:
    return float(scipy.stats.chisquare(observed).pvalue)


@pytest.mark.parametrize(
    "state",
    [[1, 2, 3, 4], [MASK, 0, MASK, 1], [0x0123456789ABCDEF, 1 << 63, 7, 0xFEDCBA9876543210]],
)
def test_the_generator_is_xoshiro(state: list[int]) -> None:
    words = np.zeros(1000, np.uint64)
    draw_words(np.array(state, np.uint64), words)
    assert words.tolist() == xoshiro(state, 1000)


def test_the_published_vector() -> None:
    words = np.zeros(10, np.uint64)
    draw_words(np.array([1, 2, 3, 4], np.uint64), words)
    assert words.tolist() == PUBLISHED


def test_the_keyed_hash_mixes_as_splitmix64() -> None:
    golden = 0x9E3779B97F4A7C15
    for key in (0, 1, 2**63 + 11, MASK):
        for row, column in ((0, 0), (0, 1), (1, 0), (99, 12_345)):
            first = mixed((key + row * golden) & MASK)
            expected = mixed((first + (column + 1) * golden) & MASK)
            assert int(keyed(key, row, column)) == expected


def test_unit_covers_0_to_1_without_1() -> None:
    words = np.array([0, 1 << 11, 1 << 63, MASK], np.uint64)
    assert in_unit(words).tolist() == [0, 2.0**-53, 0.5, 1 - 2.0**-53]


def test_every_bit_of_a_word_is_fair() -> None:
    words = np.zeros(NUMBER, np.uint64)
    draw_words(new_rng(), words)
    keys = keyed(17, np.arange(400)[:, None], np.arange(500)).ravel()
    for sample in (words, keys):
        ones = [int((sample >> np.uint64(bit) & np.uint64(1)).sum()) for bit in range(64)]
        assert np.abs(np.array(ones) - NUMBER / 2).max() < 5 * np.sqrt(NUMBER) / 2


def test_uniform_numbers() -> None:
    numbers = np.zeros(NUMBER)
    draw_uniform(new_rng(), numbers)
    assert scipy.stats.kstest(numbers, "uniform").pvalue > 1e-3
    assert 0 <= numbers.min() < numbers.max() < 1
    pairs = np.histogram2d(numbers[::2], numbers[1::2], bins=16, range=[[0, 1], [0, 1]])[0]
    assert chi_square(pairs.ravel().astype(np.int64)) > 1e-3


@pytest.mark.parametrize("end", [1, 2, 3, 7, 1000])
def test_whole_numbers_below(end: int) -> None:
    numbers = np.zeros(NUMBER, np.int64)
    draw_below(new_rng(), end, numbers)
    observed = np.bincount(numbers, minlength=end)
    assert len(observed) == end
    assert end == 1 or chi_square(observed) > 1e-3


@pytest.mark.parametrize("end", [1, 2, 3, 25, 64, 1000])
def test_two_numbers_below(end: int) -> None:
    numbers = np.zeros(NUMBER, np.int64)
    draw_two_below(new_rng(), end, numbers)
    for half in (numbers[::2], numbers[1::2]):
        observed = np.bincount(half, minlength=end)
        assert len(observed) == end
        assert end == 1 or chi_square(observed) > 1e-3
    repeated = int(np.count_nonzero(numbers[::2] == numbers[1::2]))
    assert scipy.stats.binomtest(repeated, NUMBER // 2, 1 / end).pvalue > 1e-3


def test_no_number_is_favoured_by_the_size_of_a_word() -> None:
    """If all words were used, a half of these numbers would be of the form 3n."""
    numbers = np.zeros(NUMBER, np.int64)
    draw_two_below(new_rng(), 3 << 30, numbers)
    assert chi_square(np.bincount(numbers % 3)) > 1e-3
    assert chi_square(np.bincount(numbers >> 30)) > 1e-3


@pytest.mark.parametrize("varying", ["key", "row", "column"])
def test_keyed_numbers_are_uniform_in_each_argument(varying: str) -> None:
    """Consecutive arguments, which are those that occur: pairs, visits, and any key."""
    arguments = {"key": np.array(5), "row": np.array(3), "column": np.array(8)}
    arguments[varying] = np.arange(NUMBER)
    numbers = in_unit(keyed(arguments["key"], arguments["row"], arguments["column"]))
    assert scipy.stats.kstest(numbers, "uniform").pvalue > 1e-3
    for first in (0, 1):  # pairs that overlap would not be independent of each other
        pairs = np.histogram2d(
            numbers[first:-1:2], numbers[first + 1 :: 2], bins=16, range=[[0, 1], [0, 1]]
        )[0]
        assert chi_square(pairs.ravel().astype(np.int64)) > 1e-3


def test_keyed_numbers_of_different_places_are_independent() -> None:
    """The numbers of visits, of pairs and of keys next to each other are uncorrelated."""
    numbers = in_unit(
        keyed(
            np.arange(40)[:, None, None] * 977 + 1, np.arange(30)[:, None], np.arange(200)[None, :]
        )
    )
    for axis in range(3):
        moved = np.moveaxis(numbers, axis, 0)
        for lag in (1, 2, 3):
            one, other = moved[:-lag].ravel(), moved[lag:].ravel()
            assert abs(np.corrcoef(one, other)[0, 1]) < 4 / np.sqrt(len(one))


def test_keyed_words_do_not_collide() -> None:
    words = keyed(np.arange(20)[:, None, None], np.arange(100)[:, None], np.arange(300)[None, :])
    assert len(np.unique(words)) == words.size
