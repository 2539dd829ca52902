"""BFS3 under priors that are not flat: against flat ones, and where the answer is known."""

import itertools
from typing import Any

import numpy as np
import pytest
from benchmarks.families import as_tied

from brlbench.analysis.bayes_optimal import bayes_optimal_value
from brlbench.beliefs.base import Family
from brlbench.builders.model import copy
from brlbench.kernels.loop import trajectory
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.training import warm_up
from brlbench.testing import step_by_step
from helpers.families import FAMILIES, slippery_chain
from helpers.laws import assert_same_frequencies, assert_same_law
from helpers.made_bfs3 import LONG, trained
from helpers.made_planners import show
from helpers.planner_cases import OBSERVED, PRIORS
from helpers.sizes import sizes, thinned

SETTINGS: dict[str, dict[str, Any]] = {
    "one roll-out": {"simulations": 1, "branching": 1, "depth": 4},
    "some roll-outs": {"simulations": 35, "branching": 5, "depth": 3},
    "many draws": {"simulations": 60, "branching": 20, "depth": 2},
    "to the letter": {"simulations": 36, "branching": 3, "depth": 3, "skip_complete": False},
}


@pytest.mark.parametrize("number", sizes(3_000, 30_000))
@pytest.mark.parametrize(
    "case",
    thinned(
        itertools.product(PRIORS, SETTINGS),
        usual=[
            ("uneven", "one roll-out"),
            ("uneven", "many draws"),
            ("uneven", "to the letter"),
        ],
    ),
)
def test_a_flat_prior_written_as_a_tied_one_is_searched_alike(
    case: tuple[str, str], number: int
) -> None:
    """The values of the root's actions and the choices have the same laws."""
    name, settings = case
    flat, values, actions = PRIORS[name], [], []
    possible = flat.counts.to_dense() > 0
    observed = [transition for transition in OBSERVED[name] if possible[transition]]
    for prior in (flat, as_tied(flat)):
        agent = trained(prior, deadline=LONG, **SETTINGS[settings])
        show(agent, flat, observed)
        chosen, found = [], []
        for _ in range(number):
            chosen.append(agent.act(0))
            found.append(agent.arrays.q.copy())
        values.append(np.array(found))
        actions.append(np.bincount(chosen, minlength=2))
    assert_same_law(values[0], values[1], ["value 0", "value 1"])
    assert_same_frequencies(actions[0], actions[1])


TINY: dict[str, Family] = {
    "GoalGrid": distribution("GoalGrid:size=3"),
    "chain": slippery_chain(3),
    "known": FAMILIES["known"],
    "constant": FAMILIES["constant"],
    "binary": FAMILIES["binary"],
}


@pytest.mark.parametrize("discount", thinned([0.8, 0.95], usual=[0.95]))
@pytest.mark.parametrize("name", thinned(TINY, usual=["GoalGrid", "chain"]))
def test_large_searches_find_the_bayes_optimal_value(name: str, discount: float) -> None:
    """One step and a search of one less; the value of its leaves is taken off."""
    prior, horizon, branching = TINY[name], 4, 501
    exact = bayes_optimal_value(prior, discount, horizon)
    agent = trained(
        prior, discount, simulations=300 * branching, branching=branching, depth=horizon - 1
    )
    leaves = discount**horizon * agent.arrays.constants.value_max
    values = []
    for _ in range(40):
        agent.act(0)
        values.append(agent.arrays.q.copy())
    best = np.array(values)[:, np.mean(values, axis=0).argmax()] - leaves
    error, tolerance = best.std(ddof=1) / np.sqrt(len(best)), 0.01 * prior.max_reward
    print(f"{best.mean():.4f} ± {error:.4f}, exactly {exact:.4f}")
    assert error < tolerance / 2
    assert abs(best.mean() - exact) < tolerance + 3 * error


@pytest.mark.parametrize("name", ["chain", "two groups", "goal", "constant", "binary"])
def test_a_search_leaves_the_belief_as_it_was(name: str) -> None:
    prior: Any = FAMILIES[name]
    agent = trained(prior, simulations=30, branching=3, depth=5)
    belief = prior.belief()
    for x, u in ((0, 0), (1, 1), (2, 0)):
        before = copy(agent.arrays.belief.known)
        agent.act(x)
        after = agent.arrays.belief.known
        np.testing.assert_array_equal(after.entry_reward, before.entry_reward)
        for field in ("total", "reward_sum", "entry_count"):
            np.testing.assert_array_equal(
                getattr(after.counts, field), getattr(before.counts, field)
            )
        if hasattr(after.belief, "weight"):
            left = before.belief.left[0]
            assert after.belief.left[0] == left
            np.testing.assert_array_equal(after.belief.weight[:left], before.belief.weight[:left])
            np.testing.assert_array_equal(after.belief.case[:left], before.belief.case[:left])
        _, y, r = belief.outcomes(x, u)[-1]
        belief.observe(x, u, y, r)
        agent.observe(x, u, y, r)
    agent.start(0, np.random.default_rng(0))
    known, initial = agent.arrays.belief.known, agent.arrays.belief.initial
    np.testing.assert_array_equal(known.counts.entry_count, initial.counts.entry_count)


@pytest.mark.parametrize("name", ["two groups", "constant", "binary"])
def test_giving_actions_up_and_forgetting_trees_change_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A distant deadline makes the agent search all actions; one has room for one root's tree."""
    prior: Any = FAMILIES[name]
    settings: Any = {"simulations": 200, "branching": 5, "depth": 6}
    agent = trained(prior, 0.95, **settings)
    thorough = trained(prior, 0.95, deadline=LONG, **settings)
    monkeypatch.setattr("brlbench.agents.bfs3._MAX_KEPT", 0)
    forgetful = trained(prior, 0.95, **settings)
    belief, x = prior.belief(), 0
    for _ in range(30):
        action = agent.act(x)
        assert action == thorough.act(x) == forgetful.act(x)
        assert agent.arrays.q[action] == thorough.arrays.q[action] == forgetful.arrays.q[action]
        _, y, r = belief.outcomes(x, action)[-1]
        belief.observe(x, action, y, r)
        for each in (agent, thorough, forgetful):
            each.observe(x, action, y, r)
        x = y


def test_what_is_certain_is_planned_exactly() -> None:
    """The goal is known, and three steps away."""
    agent = trained(FAMILIES["goal"], 0.9, simulations=2000, branching=1, depth=4)
    agent.observe(0, 1, 3, 1.0)
    agent.act(8)
    assert agent.arrays.q.max() == pytest.approx(0.9**2 / (1 - 0.9), rel=1e-12)


@pytest.mark.parametrize("name", ["two groups", "constant", "known", "binary"])
def test_both_forms_agree_and_all_code_is_compiled_before(name: str) -> None:
    experiment = Experiment(FAMILIES[name], num_mdps=2, horizon=5, seed=3)
    agent = trained(FAMILIES[name], simulations=20, branching=3, depth=4)
    warm_up(agent, experiment.prior, experiment.task)
    compiled: Any = trajectory.play
    before = len(compiled.signatures)
    one = evaluate(agent, experiment)
    assert len(compiled.signatures) == before
    other = evaluate(step_by_step(agent), experiment)
    np.testing.assert_array_equal(one.actions, other.actions)
