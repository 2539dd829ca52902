"""The agent that plays a formula, against models solved afresh and against published scores."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.agents.formula import FormulaAgent
from brlbench.agents.formula import kernel as kernels
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.formulas import FEATURES, Formula, formula_set, parse
from brlbench.kernels.jit import kernel
from brlbench.kernels.solving.model import Model
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.laws import assert_law
from helpers.plain_formulas import formulas, value_of_tokens
from helpers.strategies import discounts, priors, reproducible

TASK = Task(0.9, 60)
EVERY_FEATURE = "max(Qself + Quniform, Qmean)"


@kernel
def evaluate_once(program: kernels.Program, stacked: Model, pair: int) -> tuple[float, float]:
    """`evaluate`, for callers in Python."""
    return kernels.evaluate(program, stacked, pair)


def trained(formula: str, prior: FlatDirichlet, task: Task = TASK) -> FormulaAgent:
    agent = FormulaAgent(formula)
    agent.train(prior, task, np.random.default_rng(0))
    return agent


def tiny() -> FlatDirichlet:
    """Two states, two actions; nothing but luck leads from state 0 to the reward in state 1."""
    counts = np.ones((2, 2, 2))
    return FlatDirichlet(counts, np.eye(2)[1])


def index(formula: Formula, point: tuple[float, float, float]) -> float:
    """The compiled index of a pair with these features."""
    agent = trained(str(formula), tiny()) if formula.features else trained("Qmean", tiny())
    arrays = kernels_with(agent.arrays, formula)
    for slot, feature in enumerate(formula.features):
        arrays.models.q[slot, 2] = point[FEATURES.index(feature)]
    value, tolerance = evaluate_once(arrays.program, arrays.models, 2)
    assert tolerance >= 0
    return float(value)


def kernels_with(arrays: Any, formula: Formula) -> Any:
    from brlbench.agents.formula import instructions

    slots = {feature: slot for slot, feature in enumerate(formula.features)}
    codes, numbers = instructions(formula, slots)
    return arrays._replace(
        program=arrays.program._replace(
            codes=codes,
            numbers=numbers,
            length=np.array([len(codes)]),
            stack=np.zeros((len(codes), 2)),
        ),
        models=arrays.models._replace(q=np.zeros((3, 4)), norms=np.ones((3, 2))),
    )


@given(formulas, st.tuples(*[st.floats(-100, 100)] * 3))
@reproducible
def test_compiled_values(formula: Formula, point: tuple[float, float, float]) -> None:
    expected = value_of_tokens(formula, dict(zip(FEATURES, point, strict=True)))
    assert index(formula, point) == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("ln(Qself)", (1, 0, 1)), ("ln(Qself)", (1, -1, 1)), ("sqrt(Qself)", (1, -1, 1)),
        ("1/Qself", (1, 0, 1)), ("Qmean/Qself", (1, 0, 1)), ("Qself/Qself", (1, 0, 1)),
        ("1e308*Qmean", (10, 1, 1)), ("1e308 + 1e308*Qmean", (1, 1, 1)),
        ("1/(1/Qself)", (1, 0, 1)), ("min(1/Qself, Qmean)", (1, 0, 1)),
        ("max(Qmean, ln(Qself))", (1, -1, 1)), ("0*ln(Qself)", (1, 0, 1)),
    ],
)  # fmt: skip
def test_what_is_undefined_stays_undefined(text: str, point: tuple[float, float, float]) -> None:
    assert math.isnan(index(parse(text), point))


def test_every_formula_of_a_set_compiles_to_what_it_says() -> None:
    rng = np.random.default_rng(0)
    for formula in formula_set("F4")[::5]:
        a, b, c = rng.uniform(-10, 10, 3)
        expected = value_of_tokens(formula, dict(zip(FEATURES, (a, b, c), strict=True)))
        assert index(formula, (a, b, c)) == pytest.approx(expected, rel=1e-12, nan_ok=True)


def starting_points(prior: FlatDirichlet) -> dict[str, FlatDirichlet]:
    """The three models before anything was seen, written down once more."""
    states, actions = prior.num_states, prior.num_actions
    own = np.zeros((states, actions, states))
    for state in range(states):
        own[state, :, state] = 1
    return {
        "Qmean": prior,
        "Qself": FlatDirichlet(own, prior.rewards),
        "Quniform": FlatDirichlet(np.ones(own.shape), prior.rewards),
    }


def reference_indices(
    formula: Formula, prior: FlatDirichlet, seen: list[tuple[int, int, int]], task: Task, state: int
) -> tuple[Floats, float]:
    """The indices [A] in a state and the largest value in all models, which are solved afresh."""
    solutions = {
        name: start.posterior(np.array(seen).reshape(-1, 3)).mean().solve(task.discount)
        for name, start in starting_points(prior).items()
    }
    indices = [
        value_of_tokens(formula, {name: float(s.q[state, u]) for name, s in solutions.items()})
        for u in range(prior.num_actions)
    ]
    largest = max(float(np.abs(solution.value).max()) for solution in solutions.values())
    return np.array(indices), largest


@pytest.mark.parametrize(
    "text", ["Qmean", "Qself", "Quniform + Qmean", "Qmean - 2*Quniform + Qself", EVERY_FEATURE]
)
@given(data=st.data(), prior=priors(), discount=discounts)
@reproducible
def test_best_action_of_models_solved_afresh(
    text: str, data: st.DataObject, prior: FlatDirichlet, discount: float
) -> None:
    task, seen = Task(discount, 10), list[tuple[int, int, int]]()
    agent = trained(text, prior, task)
    state = int(np.argmax(prior.start))
    agent.start(state, np.random.default_rng(1))
    for _ in range(task.horizon):
        action = agent.act(state)
        indices, largest = reference_indices(parse(text), prior, seen, task, state)
        assert indices[action] >= indices.max() - 1e-7 * max(largest, 1e-3)
        following = data.draw(st.integers(0, prior.num_states - 1))
        agent.observe(state, action, following, 0.0)
        seen.append((state, action, following))
        state = following


@pytest.mark.parametrize("problem", ["GC", "GDL", "uniform:GDL"])
def test_partly_undefined_indices_on_real_problems(problem: str) -> None:
    """Where Qself is 0 its inverse has no value: such actions come last, alone they are tied."""
    prior = distribution(problem)
    formula, seen = parse("1/Qself - Qmean"), list[tuple[int, int, int]]()
    agent = trained(str(formula), prior)
    agent.start(0, np.random.default_rng(2))
    rng, state = np.random.default_rng(3), 0
    kinds = set()
    for _ in range(60):
        action = agent.act(state)
        indices = reference_indices(formula, prior, seen, TASK, state)[0]
        defined = ~np.isnan(indices)
        kinds.add(bool(defined.all()))
        if defined.any():
            scale = np.abs(indices[defined]).max()
            assert indices[action] >= indices[defined].max() - 1e-6 * scale
        following = int(rng.choice(np.flatnonzero(prior.counts.to_dense()[state, action])))
        agent.observe(state, action, following, 0.0)
        seen.append((state, action, following))
        state = following
    assert kinds == {True, False}


def first_actions(formula: str, prior: FlatDirichlet, state: int = 0, times: int = 3000) -> Any:
    agent = trained(formula, prior)
    rng = np.random.default_rng(5)
    frequencies = np.zeros(prior.num_actions)
    for _ in range(times):
        agent.start(state, rng)
        frequencies[agent.act(state)] += 1
    return frequencies


@pytest.mark.parametrize(
    "formula", ["Qmean - Qmean", "3", "Qmean*(1/Qmean)", "Qmean", "1/Qself", "ln(-abs(Qmean))"]
)
def test_ties_are_broken_at_random(formula: str) -> None:
    """On GDL all actions are alike, so any formula ties; with Qself = 0 it is undefined."""
    assert_law(first_actions(formula, distribution("GDL")), [1 / 2] * 2)


def test_undefined_comes_after_defined() -> None:
    rewards = np.zeros((2, 3, 2))
    rewards[0, :, 0] = [0, -1, -2]  # what "self" expects in state 0, where doing nothing is best
    prior = FlatDirichlet(np.ones((2, 3, 2)), rewards)
    assert trained("Qself", prior).arrays.models.q[0].tolist() == [0, -1, -2, 0, 0, 0]
    assert first_actions("1/Qself", prior).tolist() == [0, 0, 3000]
    assert first_actions("-(1/Qself)", prior).tolist() == [0, 3000, 0]
    assert_law(first_actions("1/Qself", prior, state=1), [1 / 3] * 3)


@pytest.mark.parametrize("problem", ["GC", "Grid", "uniform:GC", "uniform:Grid"])
@pytest.mark.parametrize(
    "other", ["3*Qmean", "ln(Qmean)", "-(1/Qmean)", "Qmean*Qmean", "sqrt(Qmean)"]
)
def test_formulas_that_rank_alike_play_alike(problem: str, other: str) -> None:
    """Rewards are positive; ties are ties in both, so that even random choices are the same."""
    prior = distribution(problem)
    one, two = trained("Qmean", prior), trained(other, prior)
    state, rng = 0, np.random.default_rng(9)
    one.start(state, np.random.default_rng(1))
    two.start(state, np.random.default_rng(1))
    table = prior.counts.to_dense()
    for _ in range(TASK.horizon):
        action = one.act(state)
        assert two.act(state) == action
        following = int(rng.choice(np.flatnonzero(table[state, action])))
        one.observe(state, action, following, 0.0)
        two.observe(state, action, following, 0.0)
        state = following


@pytest.mark.parametrize(
    ("problem", "formula", "kept"),
    [
        ("GC", "Qmean", 1), ("GC", "Qself*2", 1), ("GC", "Qmean/Quniform", 2), ("GC", "7", 1),
        ("GC", EVERY_FEATURE, 3), ("uniform:GC", EVERY_FEATURE, 2),
        ("uniform:GC", "Qmean/Quniform", 1),
    ],
)  # fmt: skip
def test_only_what_is_used_is_kept(problem: str, formula: str, kept: int) -> None:
    arrays = trained(formula, distribution(problem)).arrays
    assert len(arrays.models.q) == kept
    assert arrays.used.sum() == (kept if formula != "7" else 0)


def test_qmean_is_greedy() -> None:
    """The formula Qmean and epsilon-greedy without exploration have one law."""
    experiment = Experiment("GC", "GC", num_mdps=2000, horizon=100, seed=4)
    formula = evaluate(make_agent("formula", formula="Qmean"), experiment)
    greedy = evaluate(make_agent("epsilon-greedy", epsilon=0), experiment)
    difference = formula.returns - greedy.returns
    z = difference.mean() / (difference.std(ddof=1) / math.sqrt(len(difference)))
    print(f"z-score of Qmean against epsilon-greedy(0): {z:.2f}")
    assert abs(z) < 3.5


PUBLISHED = [
    ("GC", "Q2/Q0", (42.47, 1.91), (40.48, 1.83)),
    ("GDL", "max(Q0, |Q2|)", (3.1, 0.07), (3.05, 0.08)),
    ("Grid", "Q0 + Q2", (7.03, 0.3), (6.68, 0.30)),
    ("uniform:GC", "Q0", (39.29, 1.71), (37.74, 1.64)),
    ("uniform:GDL", "max(Q0, Q1)", (2.99, 0.08), (2.97, 0.08)),
    ("uniform:Grid", "Q1 + Q2", (1.09, 0.17), (0.85, 0.34)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("prior", "formula", "paper", "original"), PUBLISHED)
def test_published_scores(
    prior: str, formula: str, paper: tuple[float, float], original: tuple[float, float]
) -> None:
    """The paper's table, and what the original library gives today; ± is two standard errors."""
    experiment = Experiment(prior, prior.removeprefix("uniform:"), num_mdps=500)
    result = evaluate(make_agent("formula", formula=formula), experiment)
    for what, (mean, interval) in (("paper", paper), ("original", original)):
        z = (result.mean - mean) / math.hypot(result.ci95 / 2, interval / 2)
        print(f"{prior} {formula}: {result.mean:.2f} ± {result.ci95:.2f}, {what} {mean}: z {z:.2f}")
        assert abs(z) <= 3.5
