"""Rules that stop agents early, small; `python -m reproduction.early_stops` has the large form."""

import math

import pytest
from reproduction.early_stops import LAWS, Law, check_until, mdps_until_dropped, wrong_drops

from brlbench.analysis.scores import guarded_ci95
from brlbench.results.score import ci95
from helpers.sizes import sizes


@pytest.mark.parametrize("law", LAWS, ids=[law.name for law in LAWS])
@pytest.mark.parametrize("studies", sizes(200, 2000))
def test_the_interval_that_stops_holds_the_true_mean(law: Law, studies: int) -> None:
    coverage = check_until(law, 100, guarded_ci95, studies).coverage
    error = math.sqrt(0.95 * 0.05 / studies)
    assert coverage >= 0.94 - 2 * error


def test_two_standard_errors_stop_too_soon() -> None:
    plain, guarded = (check_until(LAWS[-1], 300, rule, 300) for rule in (ci95, guarded_ci95))
    assert plain.coverage < 0.9 < 0.93 < guarded.coverage
    assert plain.mdps < guarded.mdps < 2.5 * plain.mdps


def test_races_need_more_mdps_for_smaller_differences() -> None:
    large, small = (mdps_until_dropped(difference, 30, 20) for difference in (1.0, 0.5))
    assert large < 75 < small < 200


def test_races_drop_agents_that_gain_in_few_mdps() -> None:
    often, seldom = (wrong_drops(share, 1, 60) for share in (0.2, 0.02))
    assert often < 0.1 < 0.25 < seldom
