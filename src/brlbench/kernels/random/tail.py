"""Of many rows of one Dirichlet distribution, those of high value, without drawing the others.

A row p is G / sum(G), with independent gamma variates G(y) of shapes a(y). A region is the rows
with a positive sum of c(y) p(y), for some c(y) < 1; call e the sum of c(y) G(y). If the variates
are drawn with other scales, G(y) = g(y) / (1 - c(y)), g(y) being of scale 1, then the density of
the Dirichlet variates relative to theirs is M exp(-e), with M the product of (1 - c(y))^-a(y). In
the region this is less than M. So, if each of K rows is proposed with chance M, and accepted with
chance exp(-e) if it is in the region, those accepted are the ones of K Dirichlet rows that are in
the region: their number and their probabilities have the exact law. For several regions at once,
each row is proposed with the sum of the chances, for one of the regions, and accepted with chance
1 / sum(exp(e)), the sum being over all regions, if it is in any.

Rows with a value, the sum of p(y) w(y), above a level t are the region c = h (w - t), for any h.
The least M for a level has h = 1 / (s - t) for some s above all w(y), and it is simplest to choose
s: then h is the mean of 1 / (s - w), weighted by a, and 1 - c = h (s - w).
"""

import math

from ..jit import cold, inlined
from ..types import Floats, Words
from .gamma import exponential, gamma
from .rng import uniform

_CLOSE = 0.2  # how far the logarithm of a chance may be from the one asked for
_MAX_STEPS = 100
_LONGEST_STEP = 5.0
_LEAST_DISTANCE = 1e-9


@cold
def find_region(
    shapes: Floats, worth: Floats, chance: float, distance: float, region: Floats
) -> tuple[float, float]:
    """Set c to a region of high values, in which rows are proposed with about this chance.

    Return the chance, and the distance of s from the greatest worth, in parts of their range.
    Newton's method in the logarithm of the distance, of which log M is an increasing and concave
    function, begins at the distance given. The worths can't be all the same.
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
    """Draw those of a number of rows that are in the last region; return how many.

    The rows are known to be in none of the other regions: where one would be, it is drawn again.
    """
    length, last = len(shapes), len(chances) - 1
    total_chance = chances.sum()
    gap = -1 / math.log1p(-total_chance)
    end, drawn, at = 0, 0, -1
    while end + length <= len(rows):
        at += 1 + int(min(exponential(rng) * gap, float(number)))  # the next row proposed
        if at >= number:
            break
        which, chance = 0, uniform(rng) * total_chance if last > 0 else 0.0
        while which < last and chance >= chances[which]:
            chance -= chances[which]
            which += 1
        row, region = rows[end : end + length], regions[which * length : (which + 1) * length]
        total = 0.0
        for i in range(length):
            shape = shapes[i]
            g = exponential(rng) if shape == 1.0 else gamma(rng, shape)
            row[i] = g / (1 - region[i])
            total += row[i]
        ratio, highest, highest_other = 0.0, 0.0, 0.0
        for j in range(last + 1):
            e = 0.0
            for i in range(length):
                e += regions[j * length + i] * row[i]
            ratio += math.exp(e)
            highest = max(highest, e)
            if j < last:
                highest_other = max(highest_other, e)
        if highest > 0 and uniform(rng) * ratio < 1:
            if highest_other > 0:
                number += 1
            else:
                for i in range(length):
                    row[i] /= total
                end += length
                drawn += 1
    return drawn
