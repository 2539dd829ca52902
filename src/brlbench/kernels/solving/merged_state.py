"""What is kept of a merged MDP: its posterior, the rows sampled from it, and its solution.

See `merged` for the algorithm. A region is a set of rows of high value, see `tail`.
"""

from typing import NamedTuple

from ..arrays import at
from ..counts import Counts
from ..jit import inlined
from ..types import Booleans, Floats, Integers, Words

MAX_REGIONS = 8
TWO_ROWS = 4  # probabilities of two rows with two outcomes


class Sample(NamedTuple):
    """Rows sampled for each pair.

    A row's probabilities have the order of the posterior's entries at the sampling. `rows` begins
    with one row per pair, at the place of its entries in the posterior's pool. Then come a spare
    row, room for two rows of two outcomes per pair, and all rows of the other pairs.
    """

    first_entry: Integers  # [P]; where the pair's entries were at the sampling
    length: Integers  # [P]; their number
    rows: Floats  # [pool + S + TWO_ROWS * P + room]
    end: Integers  # [1]; end of the rows kept
    is_single: Booleans  # [P]; whether one row is all that the pair has
    first_row: Integers  # [P]; where the pair's kept rows begin
    kept: Integers  # [P]; how many rows are kept
    left: Integers  # [P]; how many rows are not kept
    redrawn: Booleans  # [P]; whether the rows not kept are drawn again whenever they are needed
    key: Words  # [P]; of the stream of a pair whose rows are redrawn
    stream: Words  # [4]; work space: that stream
    best: Integers  # [P]; where the best row is
    best_reward: Floats  # [P]; expected reward of the best row


class Regions(NamedTuple):
    """The regions of each pair: all rows inside are kept."""

    number: Integers  # [P]
    region: Floats  # [MAX_REGIONS * pool]; the regions of a pair, one after the other
    chance: Floats  # [MAX_REGIONS * P]; probability of proposing a row there
    distance: Floats  # [P]; see `find_region`


class Solution(NamedTuple):
    """The optimal solution of the merged MDP."""

    policy: Integers  # [S]
    value: Floats  # [S]
    scale: Floats  # [1]; the largest absolute value
    q: Floats  # [P]
    matrix: Floats  # [S, S], or [0, 0] where sweeps take its place; work space


class Merged(NamedTuple):
    """A posterior, rows sampled from it, and the solution of the MDP that they make."""

    posterior: Counts  # has an entry for every possible next state, and no background
    discount: float
    entry_reward: Floats  # [pool]; reward of each of the posterior's entries
    num_rows: Integers  # [P]; how many rows to sample, K
    sample: Sample
    regions: Regions
    solution: Solution
    worth: Floats  # [S]; work space: what each outcome of a pair is worth


class Initial(NamedTuple):
    """Where every trajectory begins."""

    counts: Counts  # the prior's
    value: Floats  # [S]; the values of the prior's mean MDP


@inlined
def best_of(sample: Sample, pair: int) -> slice:
    """The slice of `rows` that is the pair's best known row."""
    return slice(sample.best[pair], sample.best[pair] + sample.length[pair])


@inlined
def entries_of(sample: Sample, pair: int) -> slice:
    """The slice of the posterior's pool where the pair's outcomes were at the sampling."""
    return slice(sample.first_entry[pair], sample.first_entry[pair] + sample.length[pair])


@inlined
def regions_of(merged: Merged, pair: int, number: int) -> slice:
    """The slice of `region` for the pair's first regions."""
    start = MAX_REGIONS * merged.sample.first_entry[pair]
    return slice(start, start + number * merged.sample.length[pair])


@inlined
def set_best_reward(merged: Merged, pair: int) -> None:
    """Compute the expected reward of the pair's best known row."""
    posterior, sample = merged.posterior, merged.sample
    sample.best_reward[pair] = 0.0
    if posterior.reward_start[pair] < posterior.reward_start[pair + 1]:
        row = sample.rows[best_of(sample, pair)]
        sample.best_reward[pair] = dot(row, merged.entry_reward[entries_of(sample, pair)])


@inlined
def best_value(merged: Merged, pair: int) -> float:
    """The value of the pair's best known row."""
    sample, value = merged.sample, merged.solution.value
    row = sample.rows[best_of(sample, pair)]
    following = merged.posterior.entry_next[entries_of(sample, pair)]
    total = 0.0
    for i in range(len(row)):
        total += row[i] * value[at(following[i])]
    return sample.best_reward[pair] + merged.discount * total


@inlined
def set_worth(merged: Merged, pair: int, worth: Floats) -> None:
    """Compute what each outcome of the pair is worth."""
    value, entries = merged.solution.value, entries_of(merged.sample, pair)
    following = merged.posterior.entry_next[entries]
    rewards = merged.entry_reward[entries]
    for i in range(len(worth)):
        worth[i] = rewards[i] + merged.discount * value[at(following[i])]


@inlined
def dot(row: Floats, numbers: Floats) -> float:
    """The expectation of some numbers under a row's probabilities."""
    total = 0.0
    for i in range(len(row)):
        total += row[i] * numbers[i]
    return total
