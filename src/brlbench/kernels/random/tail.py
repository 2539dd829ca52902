"""Draw only the rows of high value among many rows of one Dirichlet distribution.

A row p is G / sum(G), with independent gamma variates G(y) of shapes a(y). A region is the set of
rows with a positive sum of c(y) p(y), for some c(y) < 1. Call e the sum of c(y) G(y). Draw the
variates with other scales: G(y) = g(y) / (1 - c(y)), where g(y) has scale 1. The density of the
Dirichlet's variates relative to these is M exp(-e), where M is the product of (1 - c(y))^-a(y). In
the region this is less than M.

So propose each of K rows with chance M, and accept it with chance exp(-e) if it is in the region.
The accepted rows have exactly the law, in number and probabilities, of those in the region among K
Dirichlet rows. With several regions, propose each row with the sum of the chances, for one of the
regions. If it is in any, accept it with chance 1 / sum(exp(e)), where the sum is over all regions.

Rows with a value, the sum of p(y) w(y), above a level t are the region c = h (w - t), for any h.
The least M for a level has h = 1 / (s - t) for some s above all w(y). It is simplest to choose s:
then h is the mean of 1 / (s - w), weighted by a, and 1 - c = h (s - w).
"""

import math

from ..jit import cold, inlined
from ..types import Floats, Words
from .gamma import exponential, gamma
from .rng import uniform

_CLOSE = 0.2  # allowed error of the logarithm of a chance
_MAX_STEPS = 100
_LONGEST_STEP = 5.0
_LEAST_DISTANCE = 1e-9


@cold
def find_region(
    shapes: Floats, worth: Floats, chance: float, distance: float, region: Floats
) -> tuple[float, float]:
    """Set `region`, the c(y), to rows of high value with about the given chance M.

    `shapes` are the a(y), `worth` the w(y). Return the chance, and the distance of s from the
    greatest worth as a fraction of the worths' range, which must not be empty. Newton's method in
    the logarithm of the distance starts from the given one; log M is an increasing and concave
    function of it.
    """
    least, greatest, n = worth[0], worth[0], 0.0
    for i in range(len(worth)):
        least, greatest = min(least, worth[i]), max(greatest, worth[i])
        n += shapes[i]
    s, h, log_chance = 0.0, 0.0, 0.0
    for _ in range(_MAX_STEPS):
        s = greatest + distance * (greatest - least)
        inverses, squares, logs = 0.0, 0.0, 0.0
        for i in range(len(worth)):
            inverse = 1 / (s - worth[i])
            inverses += shapes[i] * inverse
            squares += shapes[i] * inverse * inverse
            logs += shapes[i] * math.log(inverse)
        h = inverses / n
        log_chance = logs - n * math.log(h)
        excess = log_chance - math.log(chance)
        if abs(excess) < _CLOSE:
            break
        slope = (squares / h - inverses) * (s - greatest)
        step = max(-_LONGEST_STEP, min(_LONGEST_STEP, -excess / slope))
        last, distance = distance, max(distance * math.exp(step), _LEAST_DISTANCE)
        if distance == last:
            break
    for i in range(len(worth)):
        region[i] = 1 - h * (s - worth[i])
    return math.exp(log_chance), distance


@inlined
def is_in(region: Floats, row: Floats) -> bool:
    """Whether a row is in a region."""
    total = 0.0
    for i in range(len(row)):
        total += region[i] * row[i]
    return total > 0


@cold
def draw_region(
    rng: Words, shapes: Floats, regions: Floats, chances: Floats, number: int, rows: Floats
) -> int:
    """Draw those among `number` rows that are in the last region; return their number.

    `regions` holds the c(y) of one region after the other, `chances` their M; `rows` receives one
    row after the other. The rows are known to be in none of the other regions: a row that would be
    in one is drawn again.
    """
    length = len(shapes)
    total_chance = chances.sum()
    gap = -1 / math.log1p(-total_chance)
    drawn, proposed = 0, -1  # rows drawn, and the number of the last row proposed
    while (drawn + 1) * length <= len(rows):
        proposed += 1 + int(min(exponential(rng) * gap, float(number)))
        if proposed >= number:
            break
        row = rows[drawn * length : (drawn + 1) * length]
        which = choose_region(rng, chances, total_chance)
        total = propose(rng, shapes, regions[which * length : (which + 1) * length], row)
        ratio, highest, highest_other = exponents(regions, row, len(chances))
        if highest > 0 and uniform(rng) * ratio < 1:
            if highest_other > 0:
                number += 1
            else:
                for i in range(length):
                    row[i] /= total
                drawn += 1
    return drawn


@inlined
def choose_region(rng: Words, chances: Floats, total: float) -> int:
    """A region, with probability proportional to its chance."""
    last = len(chances) - 1
    which, chance = 0, uniform(rng) * total if last > 0 else 0.0
    while which < last and chance >= chances[which]:
        chance -= chances[which]
        which += 1
    return which


@inlined
def propose(rng: Words, shapes: Floats, region: Floats, row: Floats) -> float:
    """Draw gamma variates scaled for a region; return their sum."""
    total = 0.0
    for i in range(len(row)):
        shape = shapes[i]
        g = exponential(rng) if shape == 1.0 else gamma(rng, shape)
        row[i] = g / (1 - region[i])
        total += row[i]
    return total


@inlined
def exponents(regions: Floats, row: Floats, number: int) -> tuple[float, float, float]:
    """The sum of exp(e) over all regions; the highest e, or 0; the same without the last region."""
    ratio, highest, highest_other = 0.0, 0.0, 0.0
    for j in range(number):
        highest_other = highest
        e = 0.0
        for i in range(len(row)):
            e += regions[j * len(row) + i] * row[i]
        ratio += math.exp(e)
        highest = max(highest, e)
    return ratio, highest, highest_other
