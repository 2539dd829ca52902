import re

import numpy as np
from reproduction.page import RESULTS
from reproduction.waiting import number_waiting, waited, who_waited

from brlbench.report.loading import load
from brlbench.results.summary import Summary


def summary(algorithm: str, share: float | None) -> Summary:
    machine = {} if share is None else {"waiting_share": share}
    return Summary(algorithm, {}, algorithm, np.zeros(2), {"mean": 1e-6}, machine)


def test_the_list_is_that_of_results_that_waited() -> None:
    played = [
        summary("bolt", 0.7),
        summary("bolt", 0.2),
        summary("beb", 0.05),
        summary("bfs3", 0.11),
        summary("bfs3", None),
        summary("opps-ds", 0.5),
    ]
    assert who_waited(played) == "all of bolt and opps-ds; 1 of 2 of bfs3"
    assert [number_waiting(played), number_waiting(played, 0.5)] == [4, 1]
    assert who_waited(played[2:3]) == "none"


def test_no_other_shipped_agents_waited() -> None:
    """Those that the page names by algorithm are all, and all of theirs."""
    played = [each for e in load(RESULTS).experiments for each in e.summaries]
    listed = who_waited(played)
    names = re.findall(r"[a-z][a-z0-9-]*", listed)
    for algorithm in {each.algorithm for each in played}:
        of = [waited(each) for each in played if each.algorithm == algorithm]
        assert (algorithm in names) == any(of)
        assert (f"of {len(of)} of {algorithm}" in listed) == (any(of) and not all(of))
