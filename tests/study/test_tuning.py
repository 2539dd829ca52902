"""Tuning: the same choice for any number of workers, on other MDPs, within the budget."""

from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.study.tuning import rungs_within
from helpers.own_agents import Scripted

EXPERIMENT = bb.Experiment("uniform:GC", "GC", num_mdps=30, horizon=20)
RANGES = {"epsilon": [0.0, 0.1, 0.5, 1.0]}


def test_the_choice_is_that_of_the_trace_and_of_plays_alone() -> None:
    one, two = (bb.tune("epsilon-greedy", RANGES, EXPERIMENT, 130, workers=n) for n in (1, 2))
    assert one.trace.equals(two.trace)
    assert one.experiment.num_mdps == 48
    assert one.trajectories == 4 * 16 + 2 * 32 <= 130
    assert one.trace["played"].to_list() == [16] * 4 + [48] * 2
    last = one.trace.row(4, named=True)
    assert one.parameters == {"epsilon": last["epsilon"]}
    assert last["score"] > one.trace["score"][5]
    for row in one.trace.head(4).to_dicts():  # too few MDPs to adjust their scores
        alone = bb.evaluate(
            bb.make_agent("epsilon-greedy", epsilon=row["epsilon"]),
            one.experiment,
        )
        assert row["score"] == pytest.approx(alone.returns[:16].mean())
    assert repr(one).startswith("Tuned(epsilon-greedy(epsilon=")
    assert len(repr(one).splitlines()) == 1


def test_mdps_of_the_prior_choose_and_never_those_of_the_test() -> None:
    for source in ("GC", "uniform:GC"):
        experiment = bb.Experiment(source, "GC", num_mdps=40, horizon=5)
        tuned = bb.tune("epsilon-greedy", {"epsilon": [0.0, 1.0]}, experiment, 80)
        assert tuned.experiment.test.digest == experiment.prior.digest
        mine, theirs = (each.mdps.probability for each in (tuned.experiment, experiment))
        if source == "GC":  # the same columns
            assert not {row.tobytes() for row in mine} & {row.tobytes() for row in theirs}
        other = bb.tune("epsilon-greedy", {"epsilon": [0.0, 1.0]}, experiment, 80, seed=1)
        assert other.experiment.seed != tuned.experiment.seed


def test_it_finds_the_better_agent_and_keeps_other_parameters() -> None:
    base = bb.agents.EpsilonGreedy(epsilon=0.5)
    tuned = bb.tune(base, {"epsilon": (0.0, 1.0)}, EXPERIMENT, 600, candidates=6)
    drawn = tuned.trace.filter(tuned.trace["played"] == tuned.trace["played"].min())["epsilon"]
    assert len(drawn) == drawn.n_unique() == 6
    assert all(0 <= value <= 1 for value in drawn)
    assert tuned.parameters["epsilon"] < np.median(drawn)  # exploring at random loses reward
    assert isinstance(tuned.agent, bb.agents.EpsilonGreedy)
    kept = bb.tune(bb.agents.Bolt(eta=3.0), {"eta": (1, 4)}, EXPERIMENT, 60, candidates=3)
    assert all(isinstance(value, int) for value in kept.trace["eta"])


def test_an_agent_of_ones_own() -> None:
    scripts = [[0], [1, 2]]
    tuned = bb.tune(Scripted, {"script": scripts}, EXPERIMENT, 20)
    assert isinstance(tuned.agent, Scripted)
    assert tuned.parameters == {"script": tuned.agent.script}
    assert tuned.trace["script"].to_list() in (scripts, scripts[::-1])


@pytest.mark.parametrize("number", [2, 3, 4, 9, 10, 27, 100])
def test_rungs_use_the_budget(number: int) -> None:
    def cost(rungs: list[int]) -> int:
        left, before, total = number, 0, 0
        for rung in rungs:
            total += left * (rung - before)
            left, before = -(-left // 3), rung
        assert left == 1
        return total

    rungs = rungs_within(20_000, number)
    assert cost(rungs) <= 20_000 < cost([rung + 3**i for i, rung in enumerate(rungs)])


@pytest.mark.parametrize(
    ("agent", "ranges", "budget", "problem"),
    [
        ("epsilon-greedy", RANGES, 79, "must be at least 80 for 4 candidates"),
        ("epsilon-greedy", {"epsilom": [0, 1]}, 99, "did you mean 'epsilon'"),
        (bb.agents.EpsilonGreedy, {"epsilom": [0, 1]}, 99, "did you mean 'epsilon'"),
        ("epsilon-greedy", {"epsilon": (0, 0.5, 1)}, 99, "must be a list of values, or a tuple"),
        ("epsilon-greedy", {"epsilon": [0.1]}, 99, "ranges give 1 candidates"),
        ("epsilon-greedy", {"replan": ["step", "episode"]}, 99, "the experiment has no episodes"),
        ("epsilon-greedy", {}, 99, "ranges = {}: must be a table of lists"),
        ("epsilon-greedy", RANGES, 1.5, "budget = 1.5: must be a whole number"),
        (3, RANGES, 99, "agent = 3: must be a name, a class, or an agent"),
    ],
)
def test_refused_arguments(agent: Any, ranges: Any, budget: Any, problem: str) -> None:
    with pytest.raises(bb.InvalidInput) as caught:
        bb.tune(agent, ranges, EXPERIMENT, budget)
    assert problem in str(caught.value)
