"""`ann`: cases with known answers, what imitation can lose, its teachers, trained ones as files."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench.agents import AGENTS, make_agent
from brlbench.agents.ann import WITH_VALUES, Ann, make_teacher
from brlbench.agents.base import Task
from brlbench.errors import InvalidInput, Pointless
from brlbench.kernels.solving.model import Model
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.playing import Part, play
from brlbench.protocol.training import load, save, train
from brlbench.results.result import Result
from brlbench.storage import read_agent, write_agent
from helpers.optimism import GAMBLE, STAY, gamble, random_prior
from helpers.quick import make_quick
from helpers.sizes import thinned

TASK = Task(0.95, 30)
STAKE, STEPS, MDPS = 0.075, 40, 2000


def expected_labels(kind: str) -> tuple[Floats, float]:
    """The mean labels of both actions in `gamble`, and the standard error of their difference.

    By a plain simulation of the guide's stays there. Whoever knows the chance p of GOOD gambles if
    19 p, what that is worth, is above 20 stakes.
    """
    rng, number = np.random.default_rng(1), 200_000
    p, epsilon = rng.beta(1, 2, number), np.arange(number) / (number - 1)
    gambles = 19 * p > 20 * STAKE
    leave = np.where(gambles, 1 - epsilon / 2, np.maximum(epsilon / 2, 1e-9))
    steps = np.minimum(rng.geometric(leave), STEPS)
    weights = (1 - 0.95**steps) / 0.05
    if kind == "action":
        stay = np.where(gambles, -1.0, 1.0)
        labels = np.stack([-stay, stay], axis=1)
    else:
        worth = np.stack([19 * p, STAKE + 0.95 * np.maximum(19 * p, 20 * STAKE)], axis=1)
        labels = worth - worth.max(axis=1, keepdims=True)
    mean = np.average(labels, axis=0, weights=weights)
    errors = weights[:, None] * (labels - mean) / weights.mean()
    return mean, float((errors[:, 0] - errors[:, 1]).std() / math.sqrt(MDPS / 2))


@pytest.mark.parametrize(("labels", "action"), [("action", GAMBLE), ("advantage", STAY)])
def test_a_gamble(labels: str, action: int) -> None:
    """Gambling is more often right than staying, but costs more when it is wrong."""
    mean, error = expected_labels(labels)
    assert mean.argmax() == action
    assert abs(mean[0] - mean[1]) > 3 * error
    agent = Ann(mdps=MDPS, labels=labels, rate=0.03, patience=25)
    agent.train(gamble(STAKE), Task(0.95, STEPS), np.random.default_rng(2))
    agent.start(0, np.random.default_rng(3))
    assert agent.act(0) == action
    one, other = agent.arrays.network.units[-2:]
    if labels == "action":
        assert one - other == pytest.approx(mean[0] - mean[1], abs=4 * error)
    else:  # these are scaled
        assert 0 < other / one < 1


def test_a_teacher_that_sees_no_more_than_the_network_is_imitated() -> None:
    """The greedy agent's action is the one with the largest input, and there are no ties."""
    prior, greedy = random_prior(1), "epsilon-greedy(epsilon=0.0)"
    experiment = Experiment(prior, num_mdps=300, horizon=100)
    agent = Ann(teacher=greedy, mdps=200, rate=0.003, patience=20)
    imitated = evaluate(agent, experiment)
    assert agent.outcome["test_loss"][-1] < 0.03
    teacher = evaluate(make_teacher(greedy), experiment)
    differences = imitated.returns - teacher.returns
    assert abs(differences.mean()) < 4 * differences.std() / math.sqrt(300)


class Losses:
    """The value that an agent's actions lost in each MDP that it played."""

    def __init__(self, result: Result, experiment: Experiment) -> None:
        assert result.states is not None
        assert result.actions is not None
        weights = experiment.discount ** np.arange(experiment.horizon)
        solutions = [
            experiment.mdp(i).solve(experiment.discount) for i in range(len(result.returns))
        ]
        values, losses, mistakes, worst = [], [], [], []
        for i, solution in enumerate(solutions):
            states, actions = result.states[i, 0, :-1], result.actions[i, 0]
            lost = solution.value[states] - solution.q[states, actions]
            values.append(solution.value[states[0]])
            losses.append(weights @ lost)
            mistakes.append(weights @ (lost > 1e-9))
            worst.append((solution.value[:, None] - solution.q).max())
        self.values, self.losses = np.array(values), np.array(losses)
        self.mistakes, self.worst = np.array(mistakes), np.array(worst)


@pytest.mark.slow
@pytest.mark.parametrize("problem", thinned(["GC", "Grid"], usual=["GC"]))
def test_no_more_is_lost_than_imitation_loses(problem: str) -> None:
    """The score against the teacher's, less what the network loses on the test part of its samples.

    With rounds, these are from states that an agent like the trained one visits. In play the same
    holds exactly, for the agent's own states, by the performance-difference lemma.
    """
    mdps, samples = 300, 200
    experiment = Experiment(problem, num_mdps=mdps)
    agent = Ann(labels="advantage", mdps=samples, rounds=1)
    result = evaluate(agent, experiment)
    lost = Losses(result, experiment)
    surprise = lost.values - lost.losses - result.returns
    assert abs(surprise.mean()) < 4 * surprise.std() / math.sqrt(mdps)
    # Mistakes cost no more than the worst one each.
    assert (lost.losses <= lost.worst * lost.mistakes + 1e-9).all()
    floor = lost.values.mean() - agent.outcome["test_loss"][-1] / (1 - experiment.discount)
    error = math.hypot(
        result.returns.std() / math.sqrt(mdps), lost.losses.std() / math.sqrt(samples / 4)
    )
    told = f"{result.mean:.2f}, at least {floor:.2f} ± {2 * error:.2f}"
    print(told)
    assert result.mean > floor - 4 * error, told


@pytest.mark.parametrize(
    "teacher",
    thinned(
        ["psrl(every=5)", "formula(formula=max(Qmean, Qself))", "ann(mdps=4, patience=1)"],
        usual=["ann(mdps=4, patience=1)"],
    ),
)
def test_any_agent_can_teach(teacher: str) -> None:
    agent = make_quick("ann", teacher=teacher)
    agent.train(distribution("GC"), TASK, np.random.default_rng(0))
    assert agent.outcome["epoch"][-1] >= 2


def test_agents_with_q_values_can_teach_them() -> None:
    for name in WITH_VALUES:
        arrays = AGENTS[name]().prepare(distribution("GC"), TASK, np.random.default_rng(0))
        assert isinstance(arrays.model, Model)


def refusal(**given: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        make_agent("ann", **given)
    message = str(caught.value)
    assert message.startswith("ann: ")
    assert "\n" not in message
    return message


def test_what_is_refused() -> None:
    for hidden in ("", "0", "10-", "10-0", "10,10", "01", "10000", 0, -1):
        assert refusal(hidden=hidden).startswith(f"ann: hidden = {hidden!r}: must be whole numbers")
    assert "unknown feature 'visit' (did you mean 'visits'?)" in refusal(features="Qmean, visit")
    assert "unknown feature ''" in refusal(features="")
    assert "unknown agent \"optimum\" (did you mean 'optimal'?)" in refusal(teacher="optimum")
    assert "must be a built-in agent" in refusal(teacher="my_module:Agent")
    assert "depths: must be name=value" not in refusal(teacher="bamcp(depths=3)")
    assert "unknown parameter 'depths'" in refusal(teacher="bamcp(depths=3)")
    assert "is not a parameter: must be name=value" in refusal(teacher="bamcp(depth)")
    assert "bamcp has no Q-values" in refusal(teacher="bamcp", labels="advantage")
    with pytest.raises(Pointless):  # studies skip such a combination
        Ann(teacher="psrl", labels="advantage")


def test_one_text_for_the_same_agent() -> None:
    assert Ann(features=" visits,Qmean,Qmean") == Ann(features="Qmean,visits")
    assert make_agent("ann", hidden=10) == Ann(hidden="10")


def test_trained_agents_are_files(tmp_path: Path) -> None:
    """They hold arrays and no code; one with other numbers of weights is refused."""
    experiment = Experiment("GC", num_mdps=3, horizon=30)
    agent = make_quick("ann", features="Qmean,visits,time", rounds=1)
    trained = train(agent, experiment.prior, experiment.task, experiment.seed)
    played = evaluate(agent, experiment)
    write_agent(tmp_path / "agent.json", save(trained))
    saved = read_agent(tmp_path / "agent.json")
    loaded = load(saved)
    np.testing.assert_array_equal(
        play(loaded.agent, experiment, Part(0, 3)).rewards, played.rewards[:, 0]
    )
    for name, array in agent.outcome.items():
        np.testing.assert_array_equal(loaded.agent.outcome[name], array)  # type: ignore[attr-defined]
    assert saved.saved is not None
    for damaged in ("weights", "center", "gain"):
        with pytest.raises(Exception, match="what was saved is not of this network"):
            make_quick("ann", features="Qmean,visits,time").load(
                saved.saved | {damaged: saved.saved[damaged][1:]}
            )


def test_progress() -> None:
    told: list[tuple[int, int]] = []
    agent = make_quick("ann", mdps=150, rounds=1).with_progress(lambda *now: told.append(now))
    agent.train(distribution("GC"), Task(0.5, 5), np.random.default_rng(0))
    assert told == [(done, 300) for done in (100, 149, 150, 250, 299, 300)]


def test_samples_must_fit_into_memory() -> None:
    with pytest.raises(InvalidInput, match="use fewer MDPs, rounds or features"):
        Ann(mdps=10**12).train(distribution("GC"), TASK, np.random.default_rng(0))
