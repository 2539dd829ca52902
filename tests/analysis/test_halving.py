"""Halving: who goes on, whom the ladder leaves out, and how often the champion stops an equal."""

import math

import numpy as np
import pytest

from brlbench.analysis.halving import (
    ERROR_PER_LOOK,
    Halving,
    Level,
    going_on,
    run_halving,
    rungs_within,
)
from helpers.sizes import sizes


def test_numbers_of_agents_and_mdps() -> None:
    assert [going_on(number, is_last=False) for number in (12, 4, 3, 2, 1, 0)] == [4, 2, 1, 1, 1, 0]
    assert [going_on(number, is_last=True) for number in (12, 1, 0)] == [1, 1, 0]
    assert rungs_within(500) == [10, 25, 75]
    assert rungs_within(299) == [10, 25]  # 75 are more than a quarter
    assert rungs_within(39) == []
    assert Halving([], 500, [10, 25, 75]).looks == [0, 10, 25, 75, 150, 200, 300, 400]


def test_the_best_of_a_level_goes_on_and_ties_keep_their_order() -> None:
    returns = np.repeat([[3.0], [1.0], [5.0], [5.0], [2.0], [4.0], [0.0]], 400, axis=1)
    played, halving = run_halving(returns, [Level(list(range(7)), [""] * 7)], [])
    assert played.tolist() == [10, 10, 400, 25, 10, 25, 10]
    assert halving.ranking[0] == [2, 3, 5, 0, 4, 1, 6]
    assert halving.champion is None  # nobody stops the best


def test_the_ladder_leaves_out_what_was_not_good_below() -> None:
    """A setting that the level below does not have plays; so does all above a level that failed."""
    low = Level([0, 1, 2, 3, 4], list("abcde"))
    high = Level([5, 6, 7, 8], ["d", "e", "a", "new"], below=0, on_ladder=True)
    returns = np.repeat([[1.0], [5.0], [4.0], [3.0], [2.0], [0.0], [0.0], [0.0], [0.0]], 400, 1)
    played, halving = run_halving(returns, [low, high], [])
    assert halving.ranking[0][:3] == [1, 2, 3]
    assert played[5:].tolist() == [400, 0, 0, 10]
    assert halving.expected_mdps()[0] == pytest.approx((5 * 10 + 2 * 15 + 1 * 375) / 5)
    assert halving.expected_mdps()[5] == pytest.approx((3 * 10 + 1 * 390) / 4)
    nobody = Halving([low, high], 400, [10, 25])
    nobody.begin(0)
    nobody.begin(1)
    assert not nobody.dropped


def test_only_mdps_that_chose_nothing_stop_an_agent() -> None:
    rng = np.random.default_rng(0)
    returns = rng.standard_normal((2, 500))
    returns[0, :125] -= 50
    level = [Level([0], [""])]
    assert run_halving(returns, level, cheap=[1])[0].tolist() == [500, 500]
    returns[0, 125:] -= 2
    played, halving = run_halving(returns, level, cheap=[1])
    assert played.tolist() == [150, 500]
    assert (halving.dropped[0].rule, halving.dropped[0].rival) == ("beaten", 1)
    assert halving.dropped[0].p_value < ERROR_PER_LOOK


@pytest.mark.parametrize("studies", sizes(400, 10_000))
def test_an_agent_as_good_as_the_champion_is_seldom_stopped(studies: int) -> None:
    """Twelve agents of a level, ten cheap ones, all alike: choosing the champion flatters none."""
    stopped, rng = 0, np.random.default_rng(0)
    for _ in range(studies):
        shared = 3 * rng.standard_normal(500)  # generous MDPs
        returns = shared + rng.standard_normal((22, 500))
        level = [Level(list(range(12)), [str(i) for i in range(12)])]
        _, halving = run_halving(returns, level, cheap=list(range(12, 22)))
        stopped += any(drop.rule == "beaten" for drop in halving.dropped.values())
    # Four looks at the same MDPs: less than four times the error, and more than one of it.
    spread = 3 * math.sqrt(studies * ERROR_PER_LOOK)
    assert studies * ERROR_PER_LOOK - spread <= stopped <= 4 * studies * ERROR_PER_LOOK + spread
