"""Which of several best values is taken.

The original library compares floating-point numbers exactly. Rounding then decides between values
that are equal on paper, because they were summed in different orders. With a tolerance of 0 the
functions below do the same; with a larger one, such values are ties again.
"""

from brlbench.kernels.jit import inlined
from brlbench.kernels.random.rng import below
from brlbench.kernels.types import Floats, Words


@inlined
def highest(values: Floats) -> float:
    """The highest value."""
    best = values[0]
    for i in range(1, len(values)):
        best = max(best, values[i])
    return best


@inlined
def random_best(values: Floats, tolerance: float, rng: Words) -> int:
    """A random one of the values that are at most `tolerance` below the highest."""
    least = highest(values) - tolerance
    ties = 0
    for i in range(len(values)):
        ties += values[i] >= least
    skip = below(rng, ties) if ties > 1 else 0
    for i in range(len(values)):
        if values[i] >= least:
            if skip == 0:
                return i
            skip -= 1
    return 0


@inlined
def first_best(values: Floats, tolerance: float) -> int:
    """The first of the values that are at most `tolerance` below the highest."""
    least = highest(values) - tolerance
    for i in range(len(values)):
        if values[i] >= least:
            return i
    return 0
