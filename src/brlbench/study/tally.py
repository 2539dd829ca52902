"""The progress of a run: its numbers of jobs, and the score so far of those that are running."""

from typing import NamedTuple

import numpy as np

from ..mdps.sparse import Floats
from ..protocol.experiment import Experiment
from ..protocol.playing import Part
from ..results.score import Score
from ..values import Flag, Index, Number, Text


class Running(NamedTuple):
    """A training or a job that is running, and the job's score so far."""

    what: Text
    mean: Number | None = None  # None: of less than 2 MDPs, or while training
    ci95: Number | None = None
    num_mdps: Index = 0


class Progress(NamedTuple):
    """The state of a run, for progress bars and `now.json`."""

    done: Index = 0  # jobs
    failed: Index = 0
    trajectories_left: Index = 0  # without a file
    seconds_left: Number | None = None
    running: list[Running] = []  # noqa: RUF012 (never changed)
    stopping: Flag = False  # interrupted: running trajectories are finished first
    at: Number = 0.0  # seconds since 1970


class Tally:
    """Returns and seconds of the parts of a job that have been played."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._returns: Floats | None = None  # [trajectories]; NaN where not played
        self.score: Score | None = None  # None: fewer than 2 MDPs
        self.num_mdps = 0  # all of whose trajectories have been played
        self.seconds = 0.0

    def add(self, part: Part, returns: Floats, seconds: float) -> None:
        """Add a part with its returns [n]."""
        if self._returns is None:
            self._returns = np.full(self._experiment.num_trajectories, np.nan)
        self._returns[part.first : part.end] = returns
        self.seconds += seconds
        # NaN unless all trajectories of the MDP have been played.
        of_mdps = self._returns.reshape(-1, self._experiment.trajectories_per_mdp).mean(axis=1)
        complete = np.asarray(of_mdps[~np.isnan(of_mdps)])
        self.score = Score.of(complete) if len(complete) >= 2 else None
        self.num_mdps = len(complete)
