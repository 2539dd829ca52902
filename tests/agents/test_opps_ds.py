"""OPPS-DS: its practice against MDPs drawn from the prior, its UCB1 against a plain one."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from brlbench.agents import make_agent
from brlbench.agents.base import CompiledAgent, Task
from brlbench.agents.epsilon_greedy import EpsilonGreedy
from brlbench.agents.formula import FormulaAgent, build_agent, build_models
from brlbench.agents.opps_ds import OppsDs
from brlbench.agents.opps_ds import kernel as kernels
from brlbench.agents.opps_ds.search import best_arm, build_arms
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.builders.planning import build_practice
from brlbench.errors import InvalidInput
from brlbench.formulas import FEATURES, SETS, formula_set
from brlbench.kernels.practice import mean_return
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.training import Training, load, save, train
from brlbench.storage import read_agent, write_agent

TASK = Task(0.95, 30)


def trained(prior: str = "GC", task: Task = TASK, workers: int = 2, **given: Any) -> Any:
    agent = OppsDs(**given)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("brlbench.agents.opps_ds.num_cores", lambda: workers)
        agent.train(distribution(prior), task, np.random.default_rng(6))
    return agent


def practised(agent: CompiledAgent, prior: FlatDirichlet, task: Task, times: int) -> Floats:
    """Returns of trajectories on urns."""
    agent.train(prior, task, np.random.default_rng(0))
    practice = build_practice(prior, task, np.random.default_rng(7))
    return np.array([mean_return(agent.arrays, practice, i, 1) for i in range(times)])


def spread_start() -> FlatDirichlet:
    """Rows with a background and rows without, rewards of both signs, and any start state."""
    rng = np.random.default_rng(1)
    counts = rng.uniform(0.1, 2, (4, 2, 4)) * (rng.random((4, 2, 4)) < 0.6)
    counts[:, :, 0] += 0.3
    counts[2] = 0.4
    return FlatDirichlet(counts, rng.normal(size=counts.shape), [0.1, 0.2, 0.3, 0.4], name="own")


@pytest.mark.parametrize("agent", [EpsilonGreedy(0.2), FormulaAgent("Qself + Qmean*Quniform")])
@pytest.mark.parametrize("name", ["GC", "GDL", "uniform:GC", "own"])
def test_practice_has_the_law_of_drawn_mdps(agent: CompiledAgent, name: str) -> None:
    """The urn against drawing an MDP from the prior, then playing it."""
    prior = spread_start() if name == "own" else distribution(name)
    experiment = Experiment(prior, prior, num_mdps=3000, horizon=30, seed=2)
    drawn = evaluate(agent, experiment).returns
    urn = practised(agent, prior, experiment.task, 3000)
    errors = [r.std(ddof=1) / math.sqrt(len(r)) for r in (drawn, urn)]
    z = (urn.mean() - drawn.mean()) / math.hypot(*errors)
    # Rounded, because equal returns are summed in different ways.
    law = scipy.stats.ks_2samp(urn.round(9), drawn.round(9))
    told = f"urn {urn.mean():.3f}, MDPs {drawn.mean():.3f}, z {z:.2f}, p {law.pvalue:.3f}"
    print(f"{name}, {agent}: {told}")
    assert abs(z) < 3.5
    assert law.pvalue > 1e-3


def test_trajectories_depend_on_their_number_alone() -> None:
    prior = distribution("GC")
    agent = FormulaAgent("Qmean")
    agent.train(prior, TASK, np.random.default_rng(0))
    practice = build_practice(prior, TASK, np.random.default_rng(7))
    every = np.array([mean_return(agent.arrays, practice, i, 1) for i in range(20)])
    assert len(np.unique(every)) > 10
    assert mean_return(agent.arrays, practice, 13, 1) == every[13]
    assert mean_return(agent.arrays, practice, 5, 10) == pytest.approx(every[5:15].mean())


def ucb1(
    results: dict[int, float], arms: int, draws: int, exploration: float, batch: int
) -> tuple[list[int], list[int], list[float], set[int]]:
    """A plain UCB1, given the return of each draw: choices, draws and means of arms, discarded."""
    chosen: list[int] = list(range(arms))
    known: list[list[float]] = [[results[i + 1]] for i in range(arms)]
    discarded = {arm for arm in range(arms) if math.isnan(results[arm + 1])}
    while len(chosen) < draws:
        batch_chosen: list[int] = []
        for _ in range(min(batch, draws - len(chosen))):
            b = len(chosen) + len(batch_chosen) + 1
            best, highest = -1, -math.inf
            for arm in range(arms):
                if arm not in discarded:
                    n = chosen.count(arm) + batch_chosen.count(arm)
                    mean = sum(known[arm]) / len(known[arm])
                    bound = mean + exploration * math.sqrt(math.log(b) / n)
                    if bound > highest + 1e-12:
                        best, highest = arm, bound
            batch_chosen.append(best)
        for arm in batch_chosen:
            chosen.append(arm)
            if math.isnan(results[len(chosen)]):
                discarded.add(arm)
            known[arm].append(results[len(chosen)])
    counts = [chosen.count(arm) for arm in range(arms)]
    means = [sum(r) / len(r) if a not in discarded else 0.0 for a, r in enumerate(known)]
    return chosen, counts, means, discarded


def spied(monkeypatch: pytest.MonkeyPatch) -> tuple[dict[int, float], dict[int, int]]:
    """The return and the arm of each draw that is going to be made, by its number."""
    results: dict[int, float] = {}
    choices: dict[int, int] = {}
    draw = kernels.draw

    def spy(*arguments: Any) -> None:
        draw(*arguments)
        done, chosen, returned = arguments[3:6]
        for i in range(len(chosen)):
            results[done + i + 1], choices[done + i + 1] = float(returned[i]), int(chosen[i])

    monkeypatch.setattr(kernels, "draw", spy)
    return results, choices


@pytest.mark.parametrize(
    ("prior", "formulas", "draws", "exploration", "batch"),
    [
        ("GC", "F2", 600, 25.0, 1), ("GC", "F3", 300, 3.0, 1), ("GDL", "F3", 300, 2.0, 1),
        ("GDL", "F2", 12, 3.0, 1), ("GC", "F2", 200, 0.0, 1), ("GC", "F2", 200, 660.0, 7),
        ("GDL", "F3", 250, 2.0, 64), ("uniform:GC", "F2", 100, 25.0, 1000),
    ],
)  # fmt: skip
def test_ucb1_against_a_plain_one(
    monkeypatch: pytest.MonkeyPatch,
    prior: str,
    formulas: str,
    draws: int,
    exploration: float,
    batch: int,
) -> None:
    results, choices = spied(monkeypatch)
    agent = trained(prior, formulas=formulas, draws=draws, exploration=exploration, batch=batch)
    assert sorted(results) == list(range(1, draws + 1))
    chosen, counts, means, discarded = ucb1(results, SETS[formulas], draws, exploration, batch)
    assert [choices[i + 1] for i in range(draws)] == chosen
    outcome = agent.outcome
    assert outcome["draws"].tolist() == counts
    assert set(np.flatnonzero(outcome["discarded"])) == discarded
    assert outcome["means"] == pytest.approx(means, rel=1e-9)
    best = max(
        (arm for arm in range(len(counts)) if arm not in discarded),
        key=lambda arm: (counts[arm], means[arm], -arm),
    )
    assert outcome["formula"] == str(formula_set(formulas)[best])


@pytest.mark.parametrize(
    ("exploration", "number", "expected"),
    [
        (2.0, 2, 0),  # 2 + 2 sqrt(ln 2 / 4) = 2.83 > 1 + 2 sqrt(ln 2) = 2.67
        (2.0, 3, 1),  # 2 + 2 sqrt(ln 3 / 4) = 3.05 < 1 + 2 sqrt(ln 3) = 3.10
        (0.5, 8_886_110, 0),  # the indices cross at ln b = 16, b = 8,886,110.5
        (0.5, 8_886_111, 1),
        (0.0, 8_886_111, 0),
        (660.0, 2, 1),  # the means hardly count
    ],
)
def test_the_index_against_values_by_hand(exploration: float, number: int, expected: int) -> None:
    """Two arms, of mean 2 after 4 draws and of mean 1 after 1: they cross at c sqrt(ln b) = 2."""
    arms = build_arms(formula_set("F2"), {feature: i for i, feature in enumerate(FEATURES)}, 3)
    arms.mean[:] = kernels.DISCARDED
    arms.mean[:2], arms.draws[:2], arms.width[:2] = [2, 1], [4, 1], [1 / 2, 1]
    chosen = np.empty(1, np.int64)
    kernels.choose_all(arms, exploration, number - 1, chosen)
    assert chosen[0] == expected


@pytest.mark.parametrize(("prior", "expected"), [("GC", {"1/Qself"}), ("Grid", {"1/Qself"})])
def test_arms_that_are_undefined_are_discarded(prior: str, expected: set[str]) -> None:
    """Where "self" expects nothing, at first, 1/Qself has no value; 1/Qmean always has one."""
    outcome = trained(prior, draws=400).outcome
    names = outcome["formulas"].split("\n")
    assert {names[arm] for arm in np.flatnonzero(outcome["discarded"])} == expected
    assert (outcome["draws"][outcome["discarded"]] == 1).all()
    assert outcome["draws"].sum() == 400
    assert outcome["formula"] not in expected


def test_the_number_of_cores_does_not_matter() -> None:
    for batch in (2, 50):
        one, *more = [
            trained("GC", workers=workers, formulas="F3", draws=333, batch=batch)
            for workers in (1, 2, 3)
        ]
        for other in more:
            for key, value in one.outcome.items():
                np.testing.assert_array_equal(value, other.outcome[key])


def test_the_best_arm() -> None:
    formulas, slots = formula_set("F2"), {feature: i for i, feature in enumerate(FEATURES)}
    arms = build_arms(formulas, slots, 3)
    arms.draws[:] = [5, 9, 9, 9, 9, 1, 1, 1, 1, 1, 1, 99]
    arms.mean[:] = [9, 1, 3, 3, 2, 0, 0, 0, 0, 0, 0, -np.inf]
    assert best_arm(arms) == 2


def test_what_is_discarded_stays_discarded() -> None:
    """A batch may draw an arm again after the draw that is going to discard it."""
    arms = build_arms(formula_set("F2"), {feature: i for i, feature in enumerate(FEATURES)}, 3)
    kernels.learn_all(arms, np.array([0, 1, 0, 1]), np.array([1.0, np.nan, 3.0, 5.0]))
    assert arms.mean[:2].tolist() == [2.0, -np.inf]
    assert arms.returns[:2].tolist() == [2, 0]


def test_the_formula_found_is_among_the_best() -> None:
    """The formulas of F_2 are played on drawn MDPs; the one found is as good as any of them."""
    agent = OppsDs(draws=6000)
    train(agent, distribution("GC"), Task(0.95, 100), seed=3)
    experiment = Experiment("GC", "GC", num_mdps=500, horizon=100, seed=8)
    scores = {
        str(f): evaluate(FormulaAgent(str(f)), experiment) for f in formula_set("F2")
    }  # fmt: skip
    best = max(scores.values(), key=lambda result: result.mean)
    difference = best.returns - scores[agent.outcome["formula"]].returns
    assert difference.mean() <= 3 * difference.std(ddof=1) / math.sqrt(len(difference)) + 1e-9
    worst = min(scores.values(), key=lambda result: result.mean)
    assert worst.mean < best.mean - 10


def test_running_best() -> None:
    outcome = trained(draws=2500).outcome
    after = outcome["best_after"].tolist()
    assert after[0] == SETS["F2"]
    assert after[-1] == 2500
    assert after == sorted(set(after))
    assert len(outcome["best"]) == len(after)
    assert outcome["formulas"].split("\n")[outcome["best"][-1]] == outcome["formula"]


def test_progress() -> None:
    for batch, draws in ((1, 1300), (100, 300)):
        told: list[tuple[int, int]] = []
        agent = OppsDs(draws=draws, batch=batch).with_progress(
            lambda done, total: told.append((done, total))  # noqa: B023
        )
        agent.train(distribution("GC"), TASK, np.random.default_rng(0))
        assert [total for _, total in told] == [draws] * len(told)
        numbers = [done for done, _ in told]
        assert numbers == sorted(set(numbers))
        assert numbers[-1] == draws
        assert len(told) >= 3


def test_fewer_draws_than_formulas() -> None:
    with pytest.raises(InvalidInput, match=r"draws = 42: must be at least 43, one for .* of F3"):
        make_agent("opps-ds", formulas="F3", draws=42)
    assert make_agent("opps-ds", formulas="F3", draws=43)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"formulas": "F7"}, 'formulas = \'F7\': must be "F2" or "F3"'),
        ({"formulas": "f2"}, "formulas = 'f2'"),
        ({"draws": 0}, "draws = 0: must be a whole number"),
        ({"exploration": -1}, "exploration = -1: must be a number at least 0"),
        ({"batch": 0}, "batch = 0: must be a whole number at least 1"),
    ],
)
def test_values_that_are_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make_agent("opps-ds", **given)
    assert complaint in str(caught.value)


def test_extreme_values_are_accepted() -> None:
    """Batches larger than all draws, no exploration or nothing else, one decision."""
    for given in ({"batch": 10**9}, {"exploration": 0}, {"exploration": 1e300}):
        agent = trained(task=Task(0.95, 1), draws=50, **given)
        assert agent.outcome["draws"].sum() == 50


def test_save_and_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = Experiment("uniform:GC", "GC", num_mdps=5, horizon=30, seed=1)
    agent = OppsDs(formulas="F3", draws=100)
    kept = train(agent, experiment.prior, experiment.task, experiment.seed)
    write_agent(tmp_path / "agent.json", save(kept))
    monkeypatch.setattr(OppsDs, "search", None)  # nobody searches again
    loaded = load(read_agent(tmp_path / "agent.json"))
    assert isinstance(loaded.agent, OppsDs)
    for key, value in agent.outcome.items():
        np.testing.assert_array_equal(value, loaded.agent.outcome[key])
        assert type(value) is type(loaded.agent.outcome[key])
    one = evaluate(agent, experiment, training=kept.training)
    other = evaluate(loaded.agent, experiment, training=Training(0, 0))
    np.testing.assert_array_equal(one.actions, other.actions)


def test_what_is_played_is_the_formula_found() -> None:
    agent = trained(draws=100)
    twin = FormulaAgent(agent.outcome["formula"])
    twin.train(distribution("GC"), TASK, np.random.default_rng(0))
    for mine, theirs in zip(agent.arrays, twin.arrays, strict=True):
        if isinstance(mine, np.ndarray):
            np.testing.assert_array_equal(mine, theirs)


def test_models_that_an_arm_does_not_use_are_left_alone() -> None:
    prior = distribution("GC")
    models, slots = build_models(prior, TASK, FEATURES)
    agent = build_agent(models, slots, formula_set("F3")[-1])
    arms = build_arms(formula_set("F3"), slots, len(models.q))
    practice = build_practice(prior, TASK, np.random.default_rng(0))
    before = agent.models.q.copy()
    results = np.empty(1)
    kernels.draw(agent, practice, arms, 0, np.array([slots["Qself"]]), results, 0.0, False)
    changed = (agent.models.q != before).any(axis=1)
    assert changed.tolist() == [False, True, False]
    assert results[0] >= 0
