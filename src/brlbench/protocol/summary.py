"""What reports need from a result: returns per MDP and time features, no single decisions."""

from dataclasses import dataclass
from typing import Any

from ..mdps.sparse import Floats
from .score import Score


@dataclass(frozen=True, eq=False)
class Summary:
    """One agent in one experiment."""

    algorithm: str
    parameters: dict[str, Any]
    label: str
    returns: Floats  # [N]
    seconds: dict[str, float]  # by time feature; "offline" is one of them
    machine: dict[str, Any]
    overruns: float | None = None  # share of decisions past the deadline, if there was one

    @property
    def score(self) -> Score:
        """The mean return and its 95% interval."""
        return Score.of(self.returns)
