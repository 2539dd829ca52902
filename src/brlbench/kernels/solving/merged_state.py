"""The arrays of a merged MDP: the MDP of the best rows, and all rows in memory.

See `merged` for the algorithm. A region is a set of rows of high value, see `tail`.
"""

from typing import NamedTuple

from ..arrays import at
from ..jit import inlined
from ..types import Booleans, Floats, Integers, Words
from .sampled import Sampled, entries_of

MAX_REGIONS = 8
TWO_ROWS = 4  # probabilities of two rows with two outcomes


class Sample(NamedTuple):
    """Rows sampled for each pair, in `rows.probability` of the MDP.

    That array begins with one row per pair, at the place of its entries in the posterior's pool.
    Then come a spare row, room for two rows of two outcomes per pair, and all rows of the other
    pairs: [pool + S + TWO_ROWS * P + room].
    """

    end: Integers  # [1]; end of the rows in memory
    is_single: Booleans  # [P]; whether one row is all that the pair has
    first_row: Integers  # [P]; where the pair's rows in memory begin
    number: Integers  # [P]; rows in memory
    left: Integers  # [P]; rows not in memory
    redrawn: Booleans  # [P]; whether the rows not in memory are drawn again whenever needed
    key: Words  # [P]; of the stream of a pair whose rows are redrawn
    stream: Words  # [4]; work space: that stream


class Regions(NamedTuple):
    """The regions of each pair: all rows inside are in memory."""

    number: Integers  # [P]
    region: Floats  # [MAX_REGIONS * pool]; the regions of a pair, one after the other
    chance: Floats  # [MAX_REGIONS * P]; probability of proposing a row there
    distance: Floats  # [P]; see `find_region`


class Merged(NamedTuple):
    """An MDP of best rows, and the rows from which they are chosen."""

    mdp: Sampled  # its row of a pair is the best one known
    num_rows: Integers  # [P]; number of rows to sample, K
    sample: Sample
    regions: Regions
    worth: Floats  # [S]; work space: what each outcome of a pair is worth


@inlined
def regions_of(merged: Merged, pair: int, number: int) -> slice:
    """The slice of `region` for the pair's first regions."""
    start = MAX_REGIONS * merged.mdp.rows.first_entry[pair]
    return slice(start, start + number * merged.mdp.rows.length[pair])


@inlined
def set_worth(merged: Merged, pair: int, worth: Floats) -> None:
    """Compute what each outcome of the pair is worth."""
    mdp = merged.mdp
    value, entries = mdp.optimum.value, entries_of(mdp.rows, pair)
    following = mdp.posterior.entry_next[entries]
    rewards = mdp.entry_reward[entries]
    for i in range(len(worth)):
        worth[i] = rewards[i] + mdp.discount * value[at(following[i])]
