"""The contract of all agents of the registry; new agents are tested without a change here."""

import dataclasses
import math
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from brlbench.agents import AGENTS, identity, make_agent
from brlbench.agents.base import Task
from brlbench.agents.parameters import Declaration, declarations
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.results.result import Result
from brlbench.testing import check_rules, step_by_step
from helpers.quick import PLAYERS, make_quick

# Trajectories per MDP with a sparse prior, a dense one with many states, Gaussian rewards, and
# several start states.
EXPERIMENTS = {"GC": 1, "uniform:Grid": 1, "gaussian": 1, "start": 3}
OWN = ("gaussian", "start")
PARAMETERS = [(name, parameter) for name in AGENTS for parameter in declarations(AGENTS[name])]
NOTHING_FITS = [
    object(),
    math.nan,
    math.inf,
    -math.inf,
    [0.5],
    np.array([0.5, 0.5]),
    {"a": None},
    b"F2",
]


@cache
def experiment(name: str, trajectories: int = 1) -> Experiment:
    prior = own(name) if name in OWN else distribution(name.removeprefix("uniform:"))
    known = prior.uniform() if name.startswith("uniform:") else prior
    return Experiment(
        known, prior, num_mdps=4, horizon=40, seed=3, trajectories_per_mdp=trajectories
    )


def own(name: str) -> FlatDirichlet:
    """Rewards of both signs: Gaussian with one start state, or sure with several."""
    rng = np.random.default_rng(1)
    counts = rng.uniform(0.1, 2, (6, 3, 6)) * (rng.random((6, 3, 6)) < 0.6)
    counts[:, :, 0] += 0.5
    rewards = rng.normal(size=counts.shape)
    if name == "gaussian":
        return FlatDirichlet(counts, rewards, 2, rng.uniform(0, 2, counts.shape), name=name)
    return FlatDirichlet(counts, rewards, [0.1, 0.2, 0.3, 0.0, 0.2, 0.2], name=name)


@cache
def played(name: str, where: str, trajectories: int = 1) -> Result:
    return evaluate(make_quick(name), experiment(where, trajectories))


def assert_same(one: Result, other: Result) -> None:
    for field in ("actions", "states", "rewards", "returns"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


@pytest.mark.parametrize("name", PLAYERS)
def test_compiled_and_step_by_step_forms_agree(name: str) -> None:
    disguised = step_by_step(make_quick(name))
    assert identity(disguised) == identity(make_quick(name))
    for where, trajectories in EXPERIMENTS.items():
        stepwise = evaluate(disguised, experiment(where, trajectories))
        assert_same(played(name, where, trajectories), stepwise)


@pytest.mark.parametrize("name", PLAYERS)
def test_several_trajectories_per_mdp(name: str) -> None:
    """They differ, and the first one is that of the experiment with only one."""
    result = played(name, "start", 3)
    assert result.rewards.shape == (4, 3, 40)
    assert (result.rewards[:, 0] != result.rewards[:, 1]).any()
    np.testing.assert_array_equal(result.rewards[:, :1], played(name, "start").rewards)


@pytest.mark.parametrize("name", PLAYERS)
def test_training_replaces_what_was_there(name: str) -> None:
    """Nothing is left of another prior or task, or of what was played; workers do not matter.

    There are more workers than trajectories; a rule of `check_rules` has fewer.
    """
    agent = make_quick(name)
    agent.train(distribution("Grid"), Task(0.5, 7), np.random.default_rng(0))
    assert_same(played(name, "GC"), evaluate(agent, experiment("GC")))
    assert_same(played(name, "Grid"), evaluate(agent, experiment("Grid")))
    assert_same(played(name, "GC"), evaluate(agent, experiment("GC"), workers=5))


@pytest.mark.parametrize("name", PLAYERS)
def test_the_rules_of_all_agents_are_kept(name: str) -> None:
    """The same seed, MDPs in any order, copies, odd problems and more: see `brlbench.testing`."""
    for rule, found in check_rules(make_quick(name)).findings.items():
        assert found.verdict == "kept" or (rule == "deadlines" and found.verdict == "doubtful")


@pytest.mark.parametrize("name", PLAYERS)
def test_actions_are_actions_and_rewards_are_those_of_the_problem(name: str) -> None:
    result = played(name, "Grid")
    assert result.actions is not None
    assert result.states is not None
    assert set(np.unique(result.actions)) <= set(range(4))
    table = experiment("Grid").test.rewards.mean.to_dense()
    expected = table[result.states[:, :, :-1], result.actions, result.states[:, :, 1:]]
    np.testing.assert_array_equal(result.rewards, expected)


@pytest.mark.parametrize("name", PLAYERS)
def test_times(name: str) -> None:
    result = played(name, "GC")
    assert (result.nanoseconds > 0).all()
    assert (result.cpu_nanoseconds > 0).all()
    assert result.offline_seconds >= 0
    assert result.offline_cpu_seconds >= 0


@pytest.mark.parametrize("name", PLAYERS)
def test_one_action_and_one_state(name: str) -> None:
    for counts in (np.ones((3, 1, 3)), np.ones((1, 2, 1)), np.ones((1, 1, 1))):
        prior = FlatDirichlet(counts, 1)
        tiny = Experiment(prior, prior, num_mdps=2, horizon=5, discount=0.5)
        result = evaluate(make_quick(name), tiny)
        assert result.returns == pytest.approx([1.9375] * 2)


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_is_a_dataclass_that_says_what_it_does(name: str) -> None:
    agent = AGENTS[name]
    assert agent.name == name
    first, *more = (agent.__doc__ or "").splitlines()
    assert first.endswith(".")
    assert not first.startswith(f"{agent.__name__}(")  # what dataclasses write by themselves
    assert not more or more[0] == ""
    assert [field.name for field in dataclasses.fields(agent)] == list(declarations(agent))  # type: ignore[arg-type]
    for rule in declarations(agent).values():
        assert rule.meaning
        assert rule.kind.allowed


def limits(rule: Declaration) -> dict[str, float]:
    """The limits in its text, by the words before them."""
    number = r"(-?\d[\d.e+-]*)"
    found = {word: re.search(rf"{word} {number}", rule.kind.allowed) for word in
             ("at least", "at most", "above")}  # fmt: skip
    return {word: float(match[1]) for word, match in found.items() if match}


def refused(name: str, parameter: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        make_quick(name, **{parameter: value})
    message = str(caught.value)
    assert message.startswith(f"{name}: {parameter}")
    assert "\n" not in message


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_values_outside_the_limits_are_refused(name: str, parameter: str) -> None:
    rule = declarations(AGENTS[name])[parameter]
    is_whole = rule.kind.allowed.startswith("a whole number")
    for word, limit in limits(rule).items():
        step = 1 if is_whole else 1e-6
        outside = {"at least": limit - step, "at most": limit + step, "above": limit}[word]
        refused(name, parameter, int(outside) if is_whole else outside)
        if word != "above":
            make_agent(name, **{parameter: int(limit) if is_whole else limit})
    if is_whole:
        refused(name, parameter, 1.5)


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_values_of_other_kinds_are_refused(name: str, parameter: str) -> None:
    rule = declarations(AGENTS[name])[parameter]
    for value in NOTHING_FITS:
        refused(name, parameter, value)
    if rule.default is not None:
        refused(name, parameter, None)
    if rule.kind.allowed.startswith(("a number", "a whole number")):
        for value in ("0.5", "", True, np.bool_(False), 1j):
            refused(name, parameter, value)
    if rule.kind.allowed.startswith("a number"):
        refused(name, parameter, 10**400)


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_a_scalar_of_numpy_is_a_number(name: str, parameter: str) -> None:
    default = getattr(make_agent(name), parameter)
    if isinstance(default, int | float) and not isinstance(default, bool):
        agent = make_agent(name, **{parameter: np.array([default])[0]})
        assert getattr(agent, parameter) == default
        assert type(getattr(agent, parameter)) is type(default)
        assert identity(agent) == identity(make_agent(name))


@pytest.mark.parametrize("name", AGENTS)
def test_unknown_parameters_are_refused(name: str) -> None:
    known = list(declarations(AGENTS[name]))
    listed = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
    with pytest.raises(InvalidInput, match=re.escape(f"{name}: unknown parameter 'zzz': {listed}")):
        make_agent(name, zzz=1)
    for parameter in known:
        misspelt = f"{parameter}s"
        hint = f"unknown parameter '{misspelt}' (did you mean '{parameter}'?): {listed}"
        with pytest.raises(InvalidInput, match=re.escape(hint)):
            make_agent(name, **{misspelt: 1})


@pytest.mark.parametrize("name", AGENTS)
def test_unknown_agents_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make_agent(f"{name}x")
    assert str(caught.value).startswith(f"unknown agent \"{name}x\" (did you mean '{name}'?): ")
    assert all(known in str(caught.value) for known in AGENTS)
