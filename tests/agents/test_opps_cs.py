"""OPPS-CS and StoSOO: against a plain StoSOO and functions whose maxima are known."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench.agents import describe, make_agent
from brlbench.agents.ann import Ann
from brlbench.agents.base import Task
from brlbench.agents.opps_cs import OppsCs, _return_bounds
from brlbench.agents.opps_cs.stosoo import USUAL, Settings, stosoo
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.training import Training, load, save, train
from brlbench.storage import read_agent, write_agent

TASK = Task(0.95, 30)
WEIGHTED = "w*Qmean + (1 - w)*Qself"


def noisy(function: Callable[[Floats], float], noise: float, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return lambda point: function(point) + noise * rng.uniform(-1, 1)


def two_sines(point: Floats) -> float:
    """The maximum is at 0.8675; a second one, at 0.39, is a little lower."""
    return float((math.sin(13 * point[0]) * math.sin(27 * point[0]) + 1) / 2)


def garland(point: Floats) -> float:
    """A rough function with many local maxima; the global one is at 0.5236."""
    x = float(point[0])
    return 4 * x * (1 - x) * (0.75 + 0.25 * (1 - math.sqrt(abs(math.sin(60 * x)))))


def hill(point: Floats) -> float:
    return 1 - float(np.sum((point - [0.3, 0.8]) ** 2))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("function", "noise"), [(two_sines, 0.1), (garland, 0.05), (garland, 0.0)])
def test_maximum_of_a_noisy_function(
    function: Callable[[Floats], float], noise: float, seed: int
) -> None:
    maximum = max(function(np.array([x])) for x in np.linspace(0, 1, 50_001))
    found = stosoo(noisy(function, noise, seed), 1, 2000)
    assert function(found.best) > maximum - 0.03


@pytest.mark.parametrize("seed", range(5))
def test_maximum_of_a_noisy_function_of_two_variables(seed: int) -> None:
    found = stosoo(noisy(hill, 0.1, seed), 2, 3000)
    assert hill(found.best) > 1 - 0.05


def plain_stosoo(
    function: Callable[[Floats], float], d: int, n: int, settings: Settings = USUAL
) -> tuple[Floats, list[Any]]:
    """The paper's pseudo-code as it stands, but for the middle part, which inherits."""
    delta = settings.delta or 1 / math.sqrt(n)
    k = settings.k or math.ceil(n / math.log(n) ** 3)
    h_max = settings.max_depth or math.ceil(math.sqrt(n / k))
    branching = settings.branching
    nodes: list[dict[str, Any]] = [
        {"h": 0, "low": np.zeros(d), "high": np.ones(d), "values": [], "leaf": True}
    ]
    points: list[Floats] = []
    while len(points) < n and any(node["leaf"] and node["h"] <= h_max for node in nodes):
        b_max = -math.inf
        for h in range(h_max + 1):
            leaves = [node for node in nodes if node["h"] == h and node["leaf"]]
            if not leaves or len(points) == n:
                continue
            b_values = [
                np.mean(values) + math.sqrt(math.log(n * k / delta) / (2 * len(values)))
                if values else math.inf
                for values in (node["values"] for node in leaves)
            ]  # fmt: skip
            best = int(np.argmax(b_values))
            node = leaves[best]
            if b_values[best] < b_max:
                continue
            if len(node["values"]) < k:
                points.append((node["low"] + node["high"]) / 2)
                node["values"].append(function(points[-1]))
            else:
                node["leaf"] = False
                b_max = b_values[best]
                dimension, width = h % d, (node["high"] - node["low"])[h % d] / branching
                for part in range(branching):
                    low, high = node["low"].copy(), node["high"].copy()
                    low[dimension] += part * width
                    high[dimension] = low[dimension] + width
                    inherits = 2 * part + 1 == branching
                    values = list(node["values"]) if inherits else []
                    child = {"h": h + 1, "low": low, "high": high, "values": values, "leaf": True}
                    nodes.append(child)
    expanded = [node for node in nodes if not node["leaf"]]
    depth = max(node["h"] for node in expanded)
    deepest = [node for node in expanded if node["h"] == depth]
    winner = max(deepest, key=lambda node: float(np.mean(node["values"])))
    return (winner["low"] + winner["high"]) / 2, points


SETTINGS = [
    USUAL, Settings(k=1), Settings(k=7, delta=0.01), Settings(branching=2), Settings(branching=5),
    Settings(max_depth=2), Settings(k=2, branching=4, max_depth=9, delta=1.0),
]  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize(("dimensions", "evaluations"), [(1, 10), (1, 100), (2, 150), (3, 200)])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_same_points_as_a_plain_stosoo(
    dimensions: int, evaluations: int, noise: float, settings: Settings
) -> None:
    def slope(point: Floats) -> float:  # without symmetries, whose ties could be broken otherwise
        numbers = np.arange(1, dimensions + 1)
        return float(np.sum(np.sin((3 + numbers / 7) * point + numbers))) / dimensions

    best, points = plain_stosoo(noisy(slope, noise, 1), dimensions, evaluations, settings)
    found = stosoo(noisy(slope, noise, 1), dimensions, evaluations, settings)
    np.testing.assert_allclose(found.points, points, atol=1e-9)
    np.testing.assert_allclose(found.best, best, atol=1e-9)


@pytest.mark.parametrize("evaluations", [1, 2, 3, 4, 10, 100])
def test_the_budget_is_kept(evaluations: int) -> None:
    calls: list[Floats] = []

    def count(point: Floats) -> float:
        calls.append(point)
        return 0.5

    found = stosoo(count, 2, evaluations)
    assert len(calls) == len(found.values) == len(found.points) == evaluations
    assert ((found.points > 0) & (found.points < 1)).all()
    assert ((found.best > 0) & (found.best < 1)).all()


def test_a_shallow_search_ends_early() -> None:
    """The root and its three parts, of which the middle one is known already."""
    found = stosoo(lambda point: float(point[0]), 1, 100, Settings(k=1, max_depth=1))
    assert sorted(found.points.ravel()) == pytest.approx([1 / 6, 1 / 2, 5 / 6])
    assert found.best == pytest.approx(5 / 6)


def test_settings_of_the_search_reach_it() -> None:
    given: dict[str, Any] = {"k": 2, "branching": 5, "max_depth": 1, "delta": 0.5}
    agent = trained(evaluations=30, mdps_per_evaluation=1, **given)
    points = agent.outcome["points"].ravel()
    assert sorted(points) == pytest.approx(sorted([0.1, 0.3, 0.5, 0.7, 0.9] * 2))
    usual = describe(OppsCs())[1]
    assert describe(agent)[1] == {**usual, "evaluations": 30, "mdps_per_evaluation": 1, **given}
    assert not usual.keys() & given.keys()  # results from before have none of them


def trained(prior: str = "GC", task: Task = TASK, **given: Any) -> OppsCs:
    agent = OppsCs(**given)
    agent.train(distribution(prior), task, np.random.default_rng(2))
    return agent


@pytest.mark.parametrize(
    ("strategy", "names", "kind"),
    [
        ("epsilon-greedy", ["epsilon"], "EpsilonGreedy"),
        # What searches with these takes long to compile.
        pytest.param("soft-max", ["tau"], "SoftMax", marks=pytest.mark.exhaustive),
        pytest.param("vdbe", ["sigma", "delta", "initial_epsilon"], "Vdbe", marks=pytest.mark.slow),
        pytest.param("bonus", ["beta", "spread", "decay"], "Bonus", marks=pytest.mark.exhaustive),
        pytest.param(WEIGHTED, ["w"], "Formula", marks=pytest.mark.slow),
    ],
)
def test_the_strategy_found_is_played(strategy: str, names: list[str], kind: str) -> None:
    agent = trained(strategy=strategy, evaluations=6, mdps_per_evaluation=3)
    assert agent.outcome["parameters"].split(", ") == names
    assert agent.outcome["points"].shape == (6, len(names))
    assert type(agent.arrays).__name__ == kind
    values = dict(zip(names, agent.outcome["values"], strict=True))
    if kind == "Formula":
        assert values["w"] in agent.arrays.program.numbers
    else:
        for name, value in values.items():
            assert getattr(agent.arrays, name) == value


def test_evaluations_are_mean_returns() -> None:
    """Each against the same strategy, played on MDPs that are drawn."""
    agent = trained(evaluations=3, mdps_per_evaluation=2000)
    experiment = Experiment("GC", "GC", num_mdps=2000, horizon=30, seed=4)
    for (epsilon,), mean in zip(agent.outcome["points"], agent.outcome["means"], strict=True):
        result = evaluate(make_agent("epsilon-greedy", epsilon=epsilon), experiment)
        error = result.returns.std(ddof=1) * math.sqrt(2 / 2000)
        assert abs(mean - result.mean) < 3.5 * error


def test_useless_exploration_is_found_useless() -> None:
    """An action that only costs, and one that is best whatever the MDP."""
    counts, rewards = np.ones((2, 2, 2)), np.zeros((2, 2, 2))
    rewards[:, 1] = 1
    agent = OppsCs(evaluations=60, mdps_per_evaluation=20)
    agent.train(FlatDirichlet(counts, rewards), TASK, np.random.default_rng(0))
    assert agent.outcome["values"][0] < 0.05


def test_weights_of_a_formula_are_found() -> None:
    """Of w*Qmean only the sign of w matters, and a positive one is far better on GC."""
    agent = trained(strategy="w*Qmean", evaluations=20, mdps_per_evaluation=20)
    assert agent.outcome["values"][0] > 0


def test_bounds_of_returns() -> None:
    task = Task(0.5, 2)
    assert _return_bounds(distribution("GC"), task) == (0, 15)
    prior = FlatDirichlet(np.ones((2, 1, 2)), [[[-1, 3]], [[0, 0]]])
    assert _return_bounds(prior, task) == (-1.5, 4.5)
    # Where all rewards are alike there is nothing to scale by.
    assert _return_bounds(FlatDirichlet(np.ones((1, 1, 1)), 2), task) == (3, 4)


def test_ranges() -> None:
    agent = trained(
        strategy="vdbe", ranges={"sigma": [1, 2], "delta": (0.5, 0.5)}, evaluations=30,
        mdps_per_evaluation=1,
    )  # fmt: skip
    assert agent.ranges == {"sigma": [1.0, 2.0], "delta": [0.5, 0.5]}
    low, high = agent.outcome["points"].min(axis=0), agent.outcome["points"].max(axis=0)
    assert low[0] > 1 and high[0] < 2
    assert low[1] == high[1] == 0.5
    assert 0 < low[2] < high[2] < 1  # the default


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"strategy": "epsilon-gredy"}, "(did you mean 'epsilon-greedy'?): must be one of"),
        ({"strategy": "Qmean"}, "strategy = 'Qmean': must be one of"),
        ({"strategy": "w"}, "strategy = 'w': must be one of"),
        ({"strategy": "w*Qmean +"}, "formula 'w*Qmean +': at character 10: the end found"),
        ({"strategy": ""}, "at character 1: the end found"),
        (
            {"ranges": {"epsilon": [0, 2]}},
            "ranges: epsilon-greedy: epsilon = 2.0: must be a number",
        ),
        ({"ranges": {"epsilon": [-1, 1]}}, "ranges: epsilon-greedy: epsilon = -1.0: must be"),
        ({"ranges": {"eps": [0, 1]}}, "unknown parameter 'eps' (did you mean 'epsilon'?)"),
        ({"ranges": {"epsilon": [1, 0]}}, "ranges = {'epsilon': [1, 0]}: must be a table"),
        ({"ranges": {"epsilon": [0]}}, "must be a table"),
        ({"ranges": {"epsilon": ["0", "1"]}}, "must be a table"),
        ({"ranges": {"epsilon": [0, math.nan]}}, "must be a table"),
        ({"ranges": {"epsilon": [0, 10**400]}}, "must be a table"),
        ({"strategy": "vdbe", "ranges": {"sigma": [0, 1]}}, "vdbe: sigma = 0.0: must be a number"),
        ({"strategy": WEIGHTED, "ranges": {"v": [0, 1]}}, "unknown parameter 'v'"),
        ({"evaluations": 0}, "evaluations = 0: must be a whole number at least 1"),
        ({"mdps_per_evaluation": 0}, "mdps_per_evaluation = 0"),
        ({"branching": 1}, "branching = 1: must be a whole number at least 2"),
        ({"delta": 0}, "delta = 0: must be a number above 0"),
    ],
)
def test_values_that_are_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make_agent("opps-cs", **given)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_progress() -> None:
    told: list[tuple[int, int]] = []
    quiet = OppsCs(evaluations=4, mdps_per_evaluation=5)
    agent = quiet.with_progress(lambda done, total: told.append((done, total)))
    quiet.train(distribution("GC"), TASK, np.random.default_rng(0))
    assert told == []
    agent.train(distribution("GC"), TASK, np.random.default_rng(0))
    assert told == [(5, 20), (10, 20), (15, 20), (20, 20)]


@pytest.mark.parametrize("strategy", ["vdbe", WEIGHTED])
def test_save_and_load(strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = Experiment("uniform:GDL", "GDL", num_mdps=5, horizon=30, seed=1)
    agent = OppsCs(strategy=strategy, evaluations=5, mdps_per_evaluation=5)
    kept = train(agent, experiment.prior, experiment.task, experiment.seed)
    write_agent(tmp_path / "agent.json", save(kept))
    monkeypatch.setattr(OppsCs, "search", None)  # nobody searches again
    loaded = load(read_agent(tmp_path / "agent.json"))
    assert isinstance(loaded.agent, OppsCs)
    for key, value in agent.outcome.items():
        np.testing.assert_array_equal(value, loaded.agent.outcome[key])
    one = evaluate(agent, experiment, training=kept.training)
    other = evaluate(loaded.agent, experiment, training=Training(0, 0))
    np.testing.assert_array_equal(one.actions, other.actions)


def test_ranges_are_kept_in_files(tmp_path: Path) -> None:
    prior = distribution("GC")
    agent = OppsCs(ranges={"epsilon": [0, 0.5]}, evaluations=2, mdps_per_evaluation=1)
    write_agent(tmp_path / "agent.json", save(train(agent, prior, TASK, seed=0)))
    assert load(read_agent(tmp_path / "agent.json")).agent == agent


def test_a_network_imitates_the_best_teacher() -> None:
    """The network that plays is that of the best parameters, also when the agent is loaded."""
    prior = distribution("GC")
    agent = OppsCs(strategy="ann:epsilon-greedy", evaluations=6, mdps_per_evaluation=10)
    trained = train(agent, prior, TASK, 0)
    assert 0 <= agent.outcome["values"][0] <= 1
    again = load(save(trained)).agent
    experiment = Experiment(prior, num_mdps=20, discount=TASK.discount, horizon=TASK.horizon)
    first, second = (
        evaluate(each, experiment, training=Training(0.0, 0.0, 0)) for each in (agent, again)
    )
    np.testing.assert_array_equal(first.actions, second.actions)
    network = Ann(teacher=f"epsilon-greedy(epsilon={agent.outcome['values'][0]})", mdps=10)
    network.load(agent.outcome)
    for ours, its in zip(agent.arrays.network, network.arrays.network, strict=True):
        np.testing.assert_array_equal(ours, its)


def test_only_agents_with_ranges_teach() -> None:
    with pytest.raises(InvalidInput, match="one of these after ann:"):
        OppsCs(strategy="ann:bamcp")
