"""What has been played of a job so far: its running score, and the time it took."""

from typing import NamedTuple

import numpy as np

from ..mdps.sparse import Floats
from ..protocol.experiment import Experiment
from ..protocol.playing import Part
from ..protocol.score import Score


class Running(NamedTuple):
    """A unit that is performed, and what its job has scored so far."""

    what: str
    mean: float | None = None  # None: of less than 2 MDPs, or while training
    ci95: float | None = None
    num_mdps: int = 0


class Tally:
    """Returns and seconds of the parts of a job that have been played."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._returns: Floats | None = None  # [trajectories]; NaN where not played
        self._known: tuple[Score | None, int] | None = (None, 0)  # None: has to be computed
        self.seconds = 0.0

    def add(self, part: Part, returns: Floats, seconds: float) -> None:
        """Add a part with its returns [n]."""
        if self._returns is None:
            self._returns = np.full(self._experiment.num_trajectories, np.nan)
        self._returns[part.first : part.end] = returns
        self.seconds += seconds
        self._known = None

    @property
    def score(self) -> Score | None:
        """The score in the MDPs played; None of less than 2."""
        return self._computed()[0]

    @property
    def num_mdps(self) -> int:
        """How many MDPs have been played."""
        return self._computed()[1]

    def _computed(self) -> tuple[Score | None, int]:
        if self._known is None:
            played = self._played_mdps()
            self._known = Score.of(played) if len(played) >= 2 else None, len(played)
        return self._known

    def _played_mdps(self) -> Floats:
        """The return in each MDP whose trajectories have all been played."""
        assert self._returns is not None
        # NaN unless all trajectories of the MDP have been played.
        of_mdps = self._returns.reshape(-1, self._experiment.trajectories_per_mdp).mean(axis=1)
        return np.asarray(of_mdps[~np.isnan(of_mdps)])

    def forget(self) -> None:
        """Free the memory, once the job is finished."""
        self._returns, self._known = None, (None, 0)
