"""random-mix, against its base alone, against the random agent and against epsilon-greedy."""

import math
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench.agents import AGENTS, describe, make_agent
from brlbench.agents.base import Task
from brlbench.agents.labels import label_of
from brlbench.agents.opps_ds import OppsDs
from brlbench.agents.random_mix import RandomMix
from brlbench.builders.model import build_environment, build_tables, copy
from brlbench.errors import AgentError, InvalidInput, Pointless, StoreError
from brlbench.kernels.loop.trajectory import ALL, Record, play
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.training import Training, load, save, train, with_progress
from brlbench.storage import read_agent, write_agent
from brlbench.streams import generator
from brlbench.study.plan import read_study
from helpers.made_studies import write_study
from helpers.reference import assert_frequencies, best, solved

TASK = Task(0.95, 60)
GREEDY: dict[str, Any] = {"base": "epsilon-greedy", "base_epsilon": 0.0}


def trained(**given: Any) -> Any:
    agent = RandomMix(**given)
    agent.train(distribution("GC"), TASK, generator("train"))
    return agent


def decisions(agent: Any) -> Any:
    """The actions of an agent in two MDPs, with the same seeds and the same noise for all."""
    prior, rng = distribution("GC"), generator("play")
    agent.train(prior, TASK, generator("train"))
    record = Record.empty(2, TASK.horizon, 0)
    mdps = prior.draw([rng, rng])
    seeds, noise = (rng.integers(0, 2**64, shape, np.uint64) for shape in ((2, 4), 2))
    env, tables = build_environment(mdps), build_tables(mdps)
    play(copy(agent.arrays), env, tables, np.arange(2), seeds, noise, ALL, record)
    return record.actions


# Each base takes long to compile.
@pytest.mark.parametrize(
    ("base", "parameters"),
    [
        ("psrl", {}),
        ("optimal", {}),
        pytest.param("bamcp", {"simulations": 20}, marks=pytest.mark.exhaustive),
        pytest.param("opps-ds", {"draws": 30}, marks=pytest.mark.slow),
    ],
)
def test_without_random_actions_it_is_its_base(base: str, parameters: dict[str, Any]) -> None:
    alone = decisions(make_agent(base, **parameters))
    mixed = decisions(make_agent("random-mix", base=base, epsilon=0, **parameters))
    np.testing.assert_array_equal(mixed, alone)
    assert len(np.unique(alone)) > 1


def test_random_actions_are_as_frequent_as_they_should_be() -> None:
    prior = distribution("GC")
    agent = trained(**GREEDY, epsilon=0.3)
    agent.start(0, generator("start"))
    seen = [(0, 2, 1), (1, 0, 2), (1, 1, 2), (2, 0, 3)]
    for transition in seen:
        agent.observe(*transition, 0.0)
    q = solved(prior.posterior(seen), TASK.discount)
    for state in range(5):
        drawn = np.bincount([agent.act(state) for _ in range(4000)], minlength=3)
        tied = best(q[state])
        expected = np.full(3, 0.3 / 3)
        expected[tied] += 0.7 / len(tied)
        assert_frequencies(drawn, expected)


def test_with_random_actions_only_it_is_the_random_agent() -> None:
    agent = trained(epsilon=1)
    agent.start(0, generator("start"))
    actions = np.array([agent.act(0) for _ in range(9000)])
    assert_frequencies(np.bincount(actions, minlength=3), np.full(3, 1 / 3))
    pairs = np.bincount(3 * actions[::2] + actions[1::2], minlength=9)  # nor does the last matter
    assert_frequencies(pairs, np.full(9, 1 / 9))
    experiment = Experiment("GC", num_mdps=1000, horizon=60, seed=2)
    mixed = evaluate(make_agent("random-mix", epsilon=1), experiment).returns
    random = evaluate(make_agent("random"), experiment).returns
    assert abs(standardised(mixed - random)) < 3.5


def test_a_greedy_base_makes_it_epsilon_greedy() -> None:
    experiment = Experiment("GC", num_mdps=2000, horizon=60, seed=5)
    mixed = make_agent("random-mix", **GREEDY, epsilon=0.4)
    known = make_agent("epsilon-greedy", epsilon=0.4)
    returns = evaluate(mixed, experiment).returns
    assert abs(standardised(returns - evaluate(known, experiment).returns)) < 3.5
    greedy = evaluate(make_agent("epsilon-greedy", epsilon=0), experiment).returns
    assert standardised(greedy - returns) > 5


def standardised(differences: Any) -> float:
    error = differences.std(ddof=1) / math.sqrt(len(differences))
    return float(differences.mean() / error)


def test_the_base_learns_from_every_transition() -> None:
    prior = distribution("GC")
    agent = trained(**GREEDY, epsilon=1)
    agent.start(0, generator("start"))
    rng, state = generator("walk"), 0
    seen = []
    for _ in range(50):
        following = int(rng.integers(5))
        seen.append((state, agent.act(state), following))
        agent.observe(*seen[-1], 0.0)
        state = following
    expected = solved(prior.posterior(seen), TASK.discount)
    np.testing.assert_allclose(agent.arrays.base.model.q.reshape(5, 3), expected, rtol=1e-9)


def test_the_streams_of_the_base_and_of_random_actions_differ() -> None:
    agent = trained(epsilon=0.5)
    agent.start(0, generator("start"))
    seeds = generator("start").integers(0, 2**64, size=4, dtype=np.uint64)
    assert not set(agent.arrays.rng.tolist()) & set(agent.arrays.base.rng.tolist())
    assert not set(agent.arrays.rng.tolist()) & set(seeds.tolist())


def test_a_base_that_is_told_the_mdp() -> None:
    experiment = Experiment("GC", num_mdps=200, horizon=60, seed=1)
    agent = make_agent("random-mix", base="optimal", epsilon=0.5)
    mixed, told, random = (
        evaluate(each, experiment).mean
        for each in (agent, make_agent("optimal"), make_agent("random"))
    )
    assert random < mixed < told
    with pytest.raises(AgentError, match="optimal must be told the MDP"):
        agent.start(0, generator("start"))
    for base in sorted(set(AGENTS) - {"random-mix"}):
        given = RandomMix(base=base)
        assert hasattr(given, "start_known") == (base == "optimal")
        assert hasattr(given, "save") == hasattr(AGENTS[base], "save")


@pytest.mark.slow
def test_what_its_base_has_found_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = Experiment("GC", num_mdps=5, horizon=30, seed=1)
    agent = make_agent("random-mix", base="opps-ds", epsilon=0.2, draws=50)
    kept = train(agent, experiment.prior, experiment.task, experiment.seed)
    write_agent(tmp_path / "agent.json", save(kept))
    monkeypatch.setattr(OppsDs, "search", None)  # nobody searches again
    loaded = load(read_agent(tmp_path / "agent.json"))
    assert describe(loaded.agent) == describe(agent)
    one = evaluate(agent, experiment, training=kept.training)
    other = evaluate(loaded.agent, experiment, training=Training(0, 0))
    np.testing.assert_array_equal(one.actions, other.actions)
    other_task = save(kept)
    object.__setattr__(other_task, "task", Task(0.9, 30))
    with pytest.raises(StoreError, match="saved for another prior or task"):
        load(other_task)


@pytest.mark.slow
def test_the_training_of_its_base_reports_progress() -> None:
    told: list[tuple[int, int]] = []
    quiet = make_agent("random-mix", base="opps-ds", draws=50)
    agent = with_progress(quiet, lambda done, total: told.append((done, total)))
    quiet.train(distribution("GC"), TASK, generator("train"))
    assert told == []
    agent.train(distribution("GC"), TASK, generator("train"))
    assert told[-1] == (50, 50)
    assert with_progress(RandomMix(), print) is not None


def test_deadlines_reach_the_base() -> None:
    agent = make_agent("random-mix", base="bamcp", simulations=10**7)
    agent.train(distribution("GC"), Task(0.95, 20, deadline=2e-3), generator("train"))
    assert agent.arrays.base.deadline.limit == 2_000_000  # type: ignore[attr-defined]


def test_parameters_of_the_base() -> None:
    agent = make_agent("random-mix", base="bamcp", epsilon=0.2, simulations=100)
    name, parameters = describe(agent)
    inner = describe(make_agent("bamcp", simulations=100))[1]
    assert parameters == {"base": "bamcp", "epsilon": 0.2, **inner}
    assert label_of(name, parameters) == "random-mix(base=bamcp, epsilon=0.2, simulations=100)"
    assert describe(make_agent(name, **parameters)) == (name, parameters)
    assert repr(agent).startswith("RandomMix(base='bamcp', epsilon=0.2, simulations=100, depth=15")
    assert describe(deepcopy(agent)) == (name, parameters)


def test_a_parameter_that_both_have() -> None:
    agent = make_agent("random-mix", base="epsilon-greedy", epsilon=0.5, base_epsilon=0.25)
    assert describe(agent)[1] == {"base": "epsilon-greedy", "epsilon": 0.5, "base_epsilon": 0.25}
    assert agent.inner.epsilon == 0.25  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"base": "random-mix"}, "base = 'random-mix': must be another agent than random-mix"),
        ({"base": "bamc", "simulations": 3}, "base = 'bamc' (did you mean 'bamcp'?): must be one"),
        ({"base": "module:Own"}, "base = 'module:Own': must be one of random, optimal, "),
        ({"base": 3}, "base = 3: must be the name of a built-in agent"),
        (
            {"base": "bamcp", "simulation": 3},
            "unknown parameter 'simulation' (did you mean 'simulations'?): its parameters are "
            "base, epsilon, simulations, depth, ",
        ),
        ({"base": "bamcp", "depth": 0}, "random-mix: bamcp: depth = 0: must be a whole number"),
        ({"epsilon": 2}, "random-mix: epsilon = 2: must be a number at least 0 and at most 1"),
    ],
)
def test_values_that_are_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make_agent("random-mix", **given)
    assert str(caught.value).startswith("random-mix: ")
    assert complaint in str(caught.value)


def test_in_a_study(tmp_path: Path) -> None:
    study = read_study(write_study(tmp_path, """
[[experiments]]
test = "GC"
num_mdps = 2
[[agents]]
algorithm = "random-mix"
parameters.base = "opps-ds"
parameters.epsilon = [0.0, 0.1]
parameters.formulas = ["F2", "F4"]
parameters.draws = 50
"""))  # fmt: skip
    assert [job.label for job in study.jobs] == [
        "random-mix(base=opps-ds, epsilon=0.0, draws=50)",
        "random-mix(base=opps-ds, draws=50)",
    ]
    assert len({job.key for job in study.jobs}) == 2
    assert [skipped.label for skipped in study.skipped] == [
        "random-mix(base=opps-ds, epsilon=0.0, formulas=F4, draws=50)",
        "random-mix(base=opps-ds, formulas=F4, draws=50)",
    ]
    with pytest.raises(Pointless):
        make_agent("random-mix", base="opps-ds", formulas="F4", draws=50)
