"""Episodes: the state is drawn from the start again, and agents plan to the end of each."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import brlbench as bb
from brlbench.agents import AGENTS
from brlbench.agents.base import Task
from brlbench.analysis.bayes_bound.known import known_bound
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.mdps.mdp import MDP
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.luck import estimate_start_values
from brlbench.protocol.playing import Part, play
from brlbench.protocol.recording import following_states
from brlbench.protocol.training import train
from brlbench.study.plan import read_study
from brlbench.testing import step_by_step
from helpers.quick import IN_EPISODES

Floats = NDArray[np.float64]
LENGTH = 5
ABLE = [name for name in AGENTS if AGENTS[name].episodes]


def small_prior() -> FlatDirichlet:
    """Rewards of both signs, and several start states."""
    rng = np.random.default_rng(4)
    counts = rng.uniform(0.2, 1.5, (4, 3, 4)) * (rng.random((4, 3, 4)) < 0.8)
    counts[:, :, 1] += 0.3
    return FlatDirichlet(counts, rng.normal(size=counts.shape), [0.5, 0.25, 0.25, 0], name="small")


def backward(transitions: Floats, rewards: Floats, discount: float) -> list[Floats]:
    """The Q-values [S, A] with 0, 1, …, LENGTH decisions left, from tables [S, A, S]."""
    q = [np.zeros(transitions.shape[:2])]
    for _ in range(LENGTH):
        q.append((transitions * (rewards + discount * q[-1].max(axis=1))).sum(axis=2))
    return q


def experiment(discount: float = 1.0, **changes: Any) -> Experiment:
    settings = {"num_mdps": 3, "horizon": 8 * LENGTH, "episode": LENGTH, "discount": discount}
    return Experiment(small_prior(), **settings | changes)


def played(agent: Any, where: Experiment) -> Any:
    train(agent, where.prior, where.task, 0)
    return play(agent, where, Part(0, where.num_trajectories))


@pytest.mark.parametrize("discount", [1.0, 0.9])
@pytest.mark.parametrize("replan", ["step", "episode"])
def test_greedy_actions_are_those_of_plain_backward_induction(discount: float, replan: str) -> None:
    where = experiment(discount)
    record = played(bb.make_agent("epsilon-greedy", epsilon=0.0, replan=replan), where)
    rewards = small_prior().rewards.mean.to_dense()
    following = following_states(record, where, range(3))
    for i in range(3):
        seen: list[tuple[int, int, int]] = []
        for t in range(where.horizon):
            if replan == "step" or t % LENGTH == 0:
                mean = small_prior().posterior(seen).mean().transitions.to_dense()
                q = backward(mean, rewards, discount)
            x, u = record.states[i, t], record.actions[i, t]
            assert u == q[LENGTH - t % LENGTH][x].argmax()
            seen.append((int(x), int(u), int(following[i, t])))


@pytest.mark.parametrize("name", ["beb", "spread", "bolt"])
def test_optimistic_actions_are_those_of_plain_backward_induction(name: str) -> None:
    """Each layer has the bonuses, or the artificial counts, that its next values ask for."""
    where = experiment()
    record, rewards = played(bb.make_agent(name), where), small_prior().rewards.mean.to_dense()
    following = following_states(record, where, range(1))
    counts = small_prior().counts.to_dense()
    for t in range(where.horizon):
        total, value = counts.sum(axis=2), np.zeros(4)
        for _ in range(LENGTH - t % LENGTH):
            worth = rewards + value
            mean = (counts * worth).sum(axis=2) / total
            if name == "bolt":
                best = np.where(counts > 0, worth, -np.inf).max(axis=2)
                q = (mean * total + best) / (total + 1)
            elif name == "beb":
                q = mean + 1 / (1 + total)
            else:
                squares = (counts * (worth - mean[..., None]) ** 2).sum(axis=2) / total
                q = mean + 0.6 * np.sqrt(squares / (total + 1))
            value = q.max(axis=1)
        x, u = record.states[0, t], record.actions[0, t]
        assert u == q[x].argmax()
        counts[x, u, following[0, t]] += 1


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_optimal_actions_are_those_of_plain_backward_induction(discount: float) -> None:
    where = experiment(discount)
    record = played(bb.make_agent("optimal"), where)
    for i in range(3):
        mdp = where.mdp(i)
        q = backward(mdp.transitions.to_dense(), mdp.rewards.mean.to_dense(), discount)
        for t in range(where.horizon):
            assert record.actions[i, t] == q[LENGTH - t % LENGTH][record.states[i, t]].argmax()


@pytest.mark.parametrize("parameters", [{}, {"every": 3}])
def test_psrl_solves_its_draws_by_backward_induction(parameters: dict[str, int]) -> None:
    """It draws at the start of each episode, or every third step, whatever the episode."""
    prior, agent = small_prior(), bb.make_agent("psrl", **parameters)
    agent.train(prior, Task(1.0, 60, episode=LENGTH), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(1))
    rng, last, arrays = np.random.default_rng(2), None, agent.arrays  # type: ignore[attr-defined]
    for t in range(60):
        x = int(rng.integers(4))
        u = agent.act(x)
        rows, posterior = arrays.mdp.rows, arrays.mdp.posterior
        table = np.zeros((4, 3, 4))
        for pair in range(12):
            of = slice(rows.start[pair], rows.start[pair] + rows.length[pair])
            first = rows.first_entry[pair]
            states = posterior.entry_next[first : first + rows.length[pair]]
            table[pair // 3, pair % 3, states] = rows.probability[of]
        is_new = last is None or (table != last).any()
        assert is_new == (t % parameters.get("every", LENGTH) == 0)
        last = table
        q = backward(table, prior.rewards.mean.to_dense(), 1.0)
        assert u == q[LENGTH - t % LENGTH][x].argmax()
        agent.observe(x, u, int(rng.choice(posterior.entry_next[: rows.length[0]])), 0.0)


@pytest.mark.parametrize("name", IN_EPISODES)
def test_both_forms_of_agents_agree(name: str) -> None:
    where = experiment(num_mdps=2, horizon=3 * LENGTH)
    agent: Any = bb.make_agent(name).small()  # type: ignore[attr-defined]
    compiled, stepwise = bb.evaluate(agent, where), bb.evaluate(step_by_step(agent), where)
    np.testing.assert_array_equal(compiled.actions, stepwise.actions)
    np.testing.assert_array_equal(compiled.states, stepwise.states)
    assert compiled.returns == pytest.approx(compiled.rewards[:, 0].sum(axis=1))
    in_threads = bb.evaluate(agent, where, workers=2)
    np.testing.assert_array_equal(compiled.returns, in_threads.returns)


def exact_values(mdp: MDP, where: Experiment) -> float:
    """The optimal expected return, over all episodes."""
    tables = mdp.transitions.to_dense(), mdp.rewards.mean.to_dense()
    value = mdp.start @ backward(*tables, where.discount)[LENGTH].max(axis=1)
    firsts = range(0, where.horizon, LENGTH)
    return float(value * sum(where.discount**first for first in firsts))


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_optimal_earns_the_exact_value_and_its_luck(discount: float) -> None:
    where = experiment(discount, num_mdps=400)
    record = played(bb.make_agent("optimal"), where)
    returns = record.rewards @ discount ** np.arange(where.horizon)
    luck = record.noise[:, 0] + record.start_values[:, 0]
    assert returns == pytest.approx(luck, abs=1e-9)  # nothing else decides what it earns
    exact = np.array([exact_values(where.mdp(i), where) for i in range(400)])
    difference = returns - exact
    assert abs(difference.mean()) < 4 * difference.std(ddof=1) / np.sqrt(400)
    expected = estimate_start_values(where, 20_000)
    error = np.sqrt(exact.var(ddof=1) / 400 + expected.covariance[0][0])
    assert abs(exact.mean() - expected.mean[0]) < 4 * error


@pytest.mark.parametrize("agent", ["random", "epsilon-greedy", "optimal"])
def test_noise_has_mean_zero_and_includes_start_states(agent: str) -> None:
    noise = played(bb.make_agent(agent), experiment(0.9, num_mdps=2000, horizon=4 * LENGTH)).noise
    z = noise.mean(axis=0) / (noise.std(axis=0, ddof=1) / np.sqrt(len(noise)))
    assert (np.abs(z) < 4).all()


def test_adjusted_scores_are_unbiased() -> None:
    """The score of random actions is the expected value of the baseline that acts at random."""
    where = experiment(num_mdps=2000, horizon=4 * LENGTH)
    expected, adjusted = estimate_start_values(where, 50_000), None
    adjusted = bb.evaluate(bb.make_agent("random"), where).adjusted
    assert abs(adjusted.mean - expected.mean[1]) < 2 * adjusted.ci95
    plain = bb.evaluate(bb.make_agent("random"), where)
    assert adjusted.ci95 < 0.7 * plain.ci95


def test_start_states_are_the_same_for_all_agents_and_the_first_episode_is_as_before() -> None:
    where = experiment(num_mdps=20)
    one, other = (played(bb.make_agent(name), where) for name in ("random", "optimal"))
    starts = one.states[:, :-1:LENGTH]
    np.testing.assert_array_equal(starts, other.states[:, :-1:LENGTH])
    assert [np.mean(starts == x) for x in range(4)] == pytest.approx([0.5, 0.25, 0.25, 0], abs=0.15)
    endless = experiment(0.9, num_mdps=20, episode=None)
    np.testing.assert_array_equal(endless.mdps.probability, where.mdps.probability)
    without = played(bb.make_agent("random"), endless)
    np.testing.assert_array_equal(without.states[:, :LENGTH], one.states[:, :LENGTH])
    assert (without.states[:, LENGTH] != one.states[:, LENGTH]).any()
    following = following_states(one, where, range(20))
    np.testing.assert_array_equal(following[:, : LENGTH - 1], one.states[:, 1:LENGTH])
    np.testing.assert_array_equal(following[:, LENGTH - 1], without.states[:, LENGTH])


def test_hypotheses_learn_from_true_next_states() -> None:
    mdps = [small_prior().sample(np.random.default_rng(i)) for i in range(4)]
    where = Experiment(
        bb.Hypotheses(mdps), num_mdps=5, horizon=2 * LENGTH, episode=LENGTH, discount=1
    )
    result = bb.evaluate(bb.make_agent("psrl"), where, keep_paths=True)
    record = played(bb.make_agent("psrl"), where)
    following = following_states(record, where, range(5))
    for i in range(5):
        belief = bb.Hypotheses(mdps).belief()
        for t in range(2 * LENGTH):
            step = record.states[i, t], record.actions[i, t], following[i, t], record.rewards[i, t]
            belief.observe(*step)
        assert result.columns["effective_hypotheses"][i] == pytest.approx(belief.effective_size)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"horizon": 12}, "horizon = 12: must be a multiple of episode = 5, such as 10"),
        ({"episode": None}, "discount = 1: must be a number between 0 and 1, both excluded, or 1"),
        ({"horizon": None, "accuracy": 0.1}, "accuracy = 0.1 and episode = 5: give a horizon"),
        ({"episode": 0}, "episode = 0: must be a whole number at least 1"),
    ],
)
def test_refusals(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(bb.BrlbenchError, match=message):
        experiment(**{"discount": 1, **settings})


def test_names_of_files_without_episodes_stay() -> None:
    """They are digests of a task's text."""
    assert repr(Task(0.95, 20)) == "Task(discount=0.95, horizon=20, deadline=None)"
    assert "episode=5" in repr(Task(0.95, 20, episode=5))
    assert "episode" not in Experiment("GC", num_mdps=1).settings()


def test_agents_without_a_form_for_episodes_refuse() -> None:
    for name in AGENTS:
        if not AGENTS[name].episodes:
            with pytest.raises(bb.BrlbenchError, match=f"{name} .*use one of random, optimal, "):
                bb.evaluate(bb.make_agent(name), experiment())
    with pytest.raises(bb.BrlbenchError, match="the experiment has no episodes"):
        bb.evaluate(bb.make_agent("beb", replan="episode"), experiment(0.9, episode=None))


def plain_optimum(counts: Floats, rewards: Floats, start: Floats, x: int, left: int) -> float:
    """The Bayes-optimal value in episodes of two decisions, by recursion over all histories."""
    if left == 0:
        return 0.0
    best = -np.inf
    for u in range(counts.shape[1]):
        q = 0.0
        for y in np.flatnonzero(counts[x, u]).tolist():
            after = counts.copy()
            after[x, u, y] += 1
            then = {y: 1.0} if left % 2 == 0 else dict(enumerate(start.tolist()))
            future = sum(
                chance * plain_optimum(after, rewards, start, z, left - 1)
                for z, chance in then.items()
            )
            q += counts[x, u, y] / counts[x, u].sum() * (rewards[x, u, y] + 0.9 * future)
        best = max(best, q)
    return float(best)


def two_states() -> FlatDirichlet:
    counts = np.array([[[1.0, 0.5], [0.3, 2.0]], [[1.0, 0.0], [0.7, 0.4]]])
    return FlatDirichlet(counts, [[[0.2, 0.3], [0.0, 1.0]], [[0.5, 0.0], [1.0, 0.1]]], [0.6, 0.4])


def test_bayes_optimal_values_of_episodes() -> None:
    prior = two_states()
    tables = prior.counts.to_dense(), prior.rewards.mean.to_dense(), np.asarray(prior.start)
    expected = sum(tables[2][x] * plain_optimum(*tables, x, 4) for x in range(2))
    assert bb.bayes_optimal_value(prior, 0.9, 4, episode=2) == pytest.approx(expected, abs=1e-12)
    one = bb.Hypotheses([experiment().mdp(0)])
    exact = exact_values(experiment().mdp(0), experiment(horizon=10))
    assert bb.bayes_optimal_value(one, 1.0, 10, episode=LENGTH) == pytest.approx(exact, abs=1e-9)


@pytest.mark.slow
def test_the_root_of_bamcp_in_episodes() -> None:
    """Many simulations find the Bayes-optimal value, across the border."""
    prior = two_states()
    tables = prior.counts.to_dense(), prior.rewards.mean.to_dense(), np.asarray(prior.start)
    agent: Any = bb.make_agent("bamcp", simulations=300_000, depth=4)
    agent.train(prior, Task(0.9, 4, episode=2), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(1))
    agent.act(0)
    found = agent.arrays.tree.edges["value"][:2].max()
    assert found == pytest.approx(plain_optimum(*tables, 0, 4), rel=0.02)


def test_a_study_in_episodes(tmp_path: Path) -> None:
    """Agents without a form for episodes are skipped; bounds without episodes do not hold."""
    path = tmp_path / "study.toml"
    path.write_text(
        """
        [defaults]
        discount = 1
        horizon = 20
        episode = 10
        num_mdps = 3
        [[experiments]]
        test = "GC"
        [[agents]]
        algorithm = "beb"
        parameters.replan = ["step", "episode"]
        [[agents]]
        algorithm = "ann"
        """
    )
    study = read_study(path)
    [where] = study.experiments.values()
    assert where.task == Task(1.0, 20, episode=10)
    assert [job.label for job in study.jobs] == ["beb", "beb(replan=episode)"]
    assert [each.reason for each in study.skipped] == [
        f"GC: ann has no form for episodes: use one of {', '.join(ABLE)}"
    ]
    usual = Experiment("GC", num_mdps=3)
    assert known_bound(usual.settings()) is not None
    assert known_bound(usual.replace(episode=10).settings()) is None
