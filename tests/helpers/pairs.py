"""Returns to compare."""

from brlbench.mdps.sparse import Floats
from brlbench.streams import generator


def pair(number: int = 200, better: float = 0.0, *names: object) -> tuple[Floats, Floats]:
    """Returns of two agents on the same MDPs, which differ more than the agents do."""
    rng = generator("test statistics", number, *names)
    mdps = rng.normal(50, 20, number)
    return mdps + rng.normal(better, 1, number), mdps + rng.normal(0, 1, number)
