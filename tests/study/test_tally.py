import numpy as np
import pytest

from brlbench.protocol.experiment import Experiment
from brlbench.protocol.playing import Part
from brlbench.study.tally import Tally


def test_the_score_of_what_has_been_played() -> None:
    tally = Tally(Experiment("GC", num_mdps=9, horizon=3))
    assert (tally.score, tally.num_mdps, tally.seconds) == (None, 0, 0.0)
    tally.add(Part(4, 5), np.array([8.0]), 0.25)
    assert (tally.score, tally.num_mdps) == (None, 1)  # one MDP has no interval
    tally.add(Part(0, 3), np.array([2.0, 4.0, 10.0]), 0.5)
    assert tally.score is not None
    assert (tally.score.mean, tally.num_mdps, tally.seconds) == (6.0, 4, 0.75)
    deviation = np.sqrt((4.0 + 16.0 + 4.0 + 16.0) / 3)
    assert tally.score.ci95 == pytest.approx(2 * deviation / np.sqrt(4))


def test_an_mdp_counts_once_all_its_trajectories_have_been_played() -> None:
    tally = Tally(Experiment("GC", num_mdps=4, horizon=3, trajectories_per_mdp=2))
    tally.add(Part(1, 4), np.array([6.0, 1.0, 3.0]), 0.0)  # half of MDP 0, all of MDP 1
    assert (tally.score, tally.num_mdps) == (None, 1)
    tally.add(Part(0, 1), np.array([4.0]), 0.0)
    assert tally.num_mdps == 2
    assert tally.score is not None
    assert tally.score.mean == 3.5
    assert tally.score.ci95 == pytest.approx(2 * np.sqrt(4.5) / np.sqrt(2))
