import math
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from brlbench.errors import InvalidInput
from brlbench.results.result import Result, join
from helpers import made_results


def build(rewards: Any, discount: float = 0.5, **changes: Any) -> Result:
    table = np.array(rewards, dtype=np.float64)
    algorithm = changes.pop("algorithm", "beb")
    return made_results.result(algorithm, table, **{"settings": {"discount": discount}, **changes})


def test_returns_are_discounted_sums() -> None:
    result = build([[[1, 2, 4]], [[0, 0, 8]]])
    assert result.trajectory_returns.tolist() == [[3], [2]]
    assert result.returns.tolist() == [3, 2]
    assert result.mean == 2.5


def test_returns_average_the_trajectories_of_an_mdp() -> None:
    result = build([[[1, 0], [3, 0]], [[5, 2], [0, 0]], [[0, 0], [0, 2]]])
    assert result.trajectory_returns.tolist() == [[1, 3], [6, 0], [0, 1]]
    assert result.returns.tolist() == [2, 3, 0.5]


def test_the_interval_is_two_standard_errors_over_mdps() -> None:
    result = build([[[1], [1]], [[2], [4]], [[3], [7]], [[4], [10]]])
    assert result.returns.tolist() == [1, 3, 5, 7]
    assert result.ci95 == pytest.approx(2 * math.sqrt(20 / 3) / 2)


def test_one_mdp_has_no_interval() -> None:
    result = build([[[1, 2], [2, 2]]])
    assert math.isnan(result.ci95)
    assert result.mean == 2.5


def test_decision_times_are_seconds_an_mdp_and_a_decision() -> None:
    nanoseconds = np.array([[[1000, 3000], [3000, 5000]], [[10, 20], [30, 40]]])
    result = build(np.zeros((2, 2, 2)), nanoseconds=nanoseconds)
    assert result.decision_seconds == pytest.approx(np.array([[2e-6, 4e-6], [2e-8, 3e-8]]))


def test_returns_do_not_depend_on_how_many_mdps_there_are() -> None:
    rewards = np.random.default_rng(0).normal(size=(33, 2, 250))
    every = build(rewards, 0.95).returns
    for i in range(33):
        assert build(rewards[i : i + 1], 0.95).returns[0] == every[i]


@pytest.mark.parametrize(
    ("parameters", "label"),
    [
        ({}, "beb"),
        ({"beta": 2.5}, "beb(beta=2.5)"),
        ({"beta": 0.5, "ties": "first"}, "beb(beta=0.5)"),
        ({"beta": 1, "bonus": "pair"}, "beb"),
        ({"beta": [1, 2], "bonus": None}, "beb(beta=[1, 2], bonus=None)"),
        ({"delta": None}, "beb"),
        ({"sigma": 1.0, "delta": None}, "beb(sigma=1.0)"),
    ],
)
def test_labels(parameters: dict[str, Any], label: str) -> None:
    assert build([[[1.0]]], parameters=parameters).label == label


def test_results_with_a_deadline() -> None:
    settings = {"discount": 0.5, "deadline": 2e-6}
    nanoseconds = np.array([[[1999, 2000]], [[2001, 9999]], [[1, 1]], [[1, 2500]]])
    result = build(np.zeros((4, 1, 2)), settings=settings, nanoseconds=nanoseconds)
    assert result.deadline == 2e-6
    assert result.overruns == 3 / 8
    assert not result.reproducible
    assert result.label == "beb within 2 µs"
    named = build([[[1.0]]], settings=settings | {"deadline": 0.005}, parameters={"beta": 2})
    assert named.label == "beb(beta=2) within 5 ms"


@pytest.mark.parametrize("settings", [{"discount": 0.5}, {"discount": 0.5, "deadline": None}])
def test_results_without_a_deadline(settings: dict[str, Any]) -> None:
    result = build([[[1.0]]], settings=settings)
    assert (result.deadline, result.overruns, result.label) == (None, None, "beb")
    assert result.reproducible


def named(**changes: Any) -> Result:
    """A result of two MDPs with two trajectories each."""
    settings = {"discount": 0.5, "name": "GC", "seed": 3}
    given = {"settings": settings, "nanoseconds": np.full((2, 2, 2), 708_000)}
    return build([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], **{**given, **changes})


def test_a_result_in_one_line() -> None:
    result = named(algorithm="mbie:MBIE", parameters={"beta": 5})
    said = "Result(mbie:MBIE(beta=5) on GC: mean return 6.50 ± 6.00, 2 MDPs, 708 µs per decision)"
    assert repr(result) == str(result) == said


@pytest.mark.parametrize(("share", "said"), [
    (0.09, "per decision)"), (0.314, "per decision, machine overloaded: 31% waiting)"),
])  # fmt: skip
def test_a_result_says_that_the_machine_was_overloaded(share: float, said: str) -> None:
    result = named(machine={"waiting_share": share})
    assert repr(result).endswith(said)
    assert ("<td>overloaded: 31% waiting</td>" in result._repr_html_()) == (share > 0.1)


def test_parts_wait_for_their_mean_share_of_time() -> None:
    parts = [
        named(machine={"waiting_share": share}, playing_seconds=seconds)
        for share, seconds in ((0.9, 1.0), (0.1, 3.0))
    ]
    assert join(parts).machine["waiting_share"] == 0.3


def test_a_notebook_shows_a_table_with_escaped_names() -> None:
    shown = named(algorithm="<b>", offline_seconds=0.25)._repr_html_()
    assert shown.startswith("<table>")
    assert "<td>&lt;b&gt;</td>" in shown
    assert "<td>6.50 ± 6.00</td>" in shown
    assert "<td>250 ms</td>" in shown


def test_a_table_has_one_row_per_trajectory() -> None:
    table = named(states=np.zeros((2, 2, 3), np.int64), actions=np.ones((2, 2, 2), np.int64))
    frame = table.to_polars()
    assert frame.select("mdp", "trajectory", "return").rows() == [
        (0, 0, 2), (0, 1, 5), (1, 0, 8), (1, 1, 11)
    ]  # fmt: skip
    assert frame["rewards"].to_list() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert frame["states"].to_numpy().shape == (4, 3)
    assert "actions" not in named().to_polars().columns


def test_a_table_for_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InvalidInput, match=r"^pandas is not installed: pip install pandas$"):
        named().to_pandas()
    # pandas is no dependency: any DataFrame stands in for its own.
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    table = named().to_pandas()
    assert table["return"] == [2, 5, 8, 11]
    assert table["rewards"][1].tolist() == [3, 4]
