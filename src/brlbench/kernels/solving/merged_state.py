"""What is kept of rows sampled from a posterior and of the MDP that they make: see `merged`."""

from typing import NamedTuple

import numpy as np

from ..counts import Counts
from ..jit import inlined
from ..types import Booleans, Floats, Integers, Words

ONE = -1
MAX_REGIONS = 8


class Merged(NamedTuple):
    """A posterior, rows sampled from it, and the solution of the MDP that they make.

    Rows have their probabilities in the order of the posterior's entries at the sampling. First in
    `rows` is one row for each pair, where its entries lie in the posterior's pool; then follow a
    spare row, two rows for each pair with two outcomes, and all the rows of other pairs.
    """

    posterior: Counts  # has an entry for every possible next state, and no background
    discount: float
    entry_reward: Floats  # [pool]; of the posterior's entries
    num_rows: Integers  # [P]; how many rows to draw, K
    first_entry: Integers  # [P]; where the entries of a pair were at the sampling
    length: Integers  # [P]; how many they were
    rows: Floats  # [pool + S + 4 P + room]
    end: Integers  # [1]; of the rows kept
    several: Integers  # [P]; where several rows of a pair begin; or ONE
    kept: Integers  # [P]; how many they are
    left: Integers  # [P]; how many others there are
    regions: Integers  # [P]; in how many regions all rows are kept
    region: Floats  # [MAX_REGIONS * pool]; the regions of a pair, one after the other
    chance: Floats  # [MAX_REGIONS * P]; with which rows are proposed there
    distance: Floats  # [P]; see `find_region`
    redrawn: Booleans  # [P]; whether the others are drawn each time that they are looked at
    best: Integers  # [P]; where the best row is
    row_reward: Floats  # [P]; the expected reward of the best row
    key: Words  # [P]; of the stream of a pair whose rows are redrawn
    stream: Words  # [4]; work space: that stream
    worth: Floats  # [S]; work space: what each outcome of a pair is worth
    policy: Integers  # [S]
    matrix: Floats  # [S, S], or [0, 0]; work space
    value: Floats  # [S]
    scale: Floats  # [1]; the largest absolute value
    q: Floats  # [P]


class Initial(NamedTuple):
    """Where every trajectory begins."""

    counts: Counts  # the prior's
    value: Floats  # [S]; the values of the prior's mean MDP


@inlined
def best_of(merged: Merged, pair: int) -> slice:
    """Where in `rows` the best row known of a pair is."""
    return slice(merged.best[pair], merged.best[pair] + merged.length[pair])


@inlined
def entries_of(merged: Merged, pair: int) -> slice:
    """Where in the posterior's pool the outcomes of a pair were at the sampling."""
    return slice(merged.first_entry[pair], merged.first_entry[pair] + merged.length[pair])


@inlined
def set_row_reward(merged: Merged, pair: int) -> None:
    """The expected reward of the best row known of a pair."""
    merged.row_reward[pair] = 0.0
    if merged.posterior.reward_start[pair] < merged.posterior.reward_start[pair + 1]:
        row = merged.rows[best_of(merged, pair)]
        merged.row_reward[pair] = dot(row, merged.entry_reward[entries_of(merged, pair)])


@inlined
def row_value(merged: Merged, pair: int) -> float:
    """The value of the best row known of a pair."""
    row = merged.rows[best_of(merged, pair)]
    following = merged.posterior.entry_next[entries_of(merged, pair)]
    total = 0.0
    for i in range(len(row)):
        total += row[i] * merged.value[np.uint64(following[i])]
    return merged.row_reward[pair] + merged.discount * total


@inlined
def set_worth(merged: Merged, pair: int, worth: Floats) -> None:
    """What each outcome of a pair is worth."""
    following = merged.posterior.entry_next[entries_of(merged, pair)]
    rewards = merged.entry_reward[entries_of(merged, pair)]
    for i in range(len(worth)):
        worth[i] = rewards[i] + merged.discount * merged.value[np.uint64(following[i])]


@inlined
def dot(row: Floats, numbers: Floats) -> float:
    """The expectation of some numbers under the probabilities of a row."""
    total = 0.0
    for i in range(len(row)):
        total += row[i] * numbers[i]
    return total
