"""The samples of `ann` against plain solutions of the MDPs and posteriors that they come from."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from brlbench.agents.ann import Ann, samples
from brlbench.agents.ann.samples import Parts, Samples, School, joined, merged, standard_of
from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.kernels.loop import trajectory
from brlbench.mdps.mdp import MDP
from brlbench.problems import distribution
from helpers.reference import assert_frequencies, solved

EVERYTHING = "Qmean,Qself,Quniform,visits,time"
TASK = Task(0.9, 12)
KINDS = ("action", "advantage")


class Visit:
    """Some trajectories of a guide, in the order in which they were played."""

    def __init__(self, prior: FlatDirichlet, mdps: int, task: Task = TASK, **given: Any) -> None:
        self.prior = prior
        rng = np.random.default_rng(5)
        self.school: School = Ann(**given)._school(prior, task, rng)
        self.inputs = np.empty((mdps, self.school.steps, len(self.school.observer.center)))
        self.labels = np.empty((mdps, self.school.steps, prior.num_actions))
        guide = self.school.build_guide(mdps, rng)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trajectory, "play", self._play)
            self.school._visit_some(guide, self.inputs, self.labels, rng)

    def _play(self, guide: Any, env: Any, tables: Any, *rest: Any) -> None:
        self.probabilities, self.record = tables.probability, rest[-1]
        _play(guide, env, tables, *rest)

    def mdp(self, number: int) -> MDP:
        return self.prior._mdp(self.probabilities[number])


_play = trajectory.play


@pytest.mark.parametrize("prior", ["GC", "uniform:GDL"])
def test_inputs(prior: str) -> None:
    """Q-values of the three models, visits so far and the time left, at every step."""
    visit = Visit(distribution(prior), 4, features=EVERYTHING)
    told, actions, states = visit.prior, visit.prior.num_actions, visit.prior.num_states
    own = np.zeros(told.counts.shape)
    own[np.arange(states), :, np.arange(states)] = 1
    starts = [told, FlatDirichlet(own, told.rewards), told.uniform()]
    for i in range(4):
        seen: list[tuple[int, int, int]] = []
        for t in range(TASK.horizon):
            x = int(visit.record.states[i, t])
            values = [solved(start.posterior(seen), TASK.discount)[x] for start in starts]
            visits = [sum((x, u) == step[:2] for step in seen) for u in range(actions)]
            expected = [*np.concatenate(values), *np.log1p(visits), 1 - t / TASK.horizon]
            np.testing.assert_allclose(visit.inputs[i, t], expected, rtol=1e-9, atol=1e-9)
            seen.append((x, int(visit.record.actions[i, t]), int(visit.record.states[i, t + 1])))


def test_labels_of_the_optimal_teacher() -> None:
    actions, values = (Visit(distribution("GC"), 8, labels=kind) for kind in KINDS)
    for i in range(8):
        solution = actions.mdp(i).solve(TASK.discount)
        for t in range(TASK.horizon):
            x = actions.record.states[i, t]
            q = solution.q[x]
            assert actions.labels[i, t].tolist() == [1 if u == q.argmax() else -1 for u in range(3)]
            np.testing.assert_allclose(values.labels[i, t], q - q.max(), atol=1e-9)
    np.testing.assert_array_equal(actions.record.states, values.record.states)


@pytest.mark.parametrize("labels", KINDS)
def test_labels_of_a_teacher_that_learns(labels: str) -> None:
    """The greedy agent sees what the guide does, and labels it by its own Q-values."""
    visit = Visit(distribution("GC"), 4, teacher="epsilon-greedy(epsilon=0.0)", labels=labels)
    for q, taught in zip(visit.inputs.reshape(-1, 3), visit.labels.reshape(-1, 3), strict=True):
        if labels == "advantage":
            np.testing.assert_allclose(taught, q - q.max(), atol=1e-9)
        else:
            assert sorted(taught) == [-1, -1, 1]
            assert q[taught.argmax()] == pytest.approx(q.max())


def test_the_guide_takes_more_and_more_random_actions() -> None:
    visit = Visit(distribution("Grid"), 5, Task(0.999, 3000))
    for i in range(5):
        policy = visit.mdp(i).solve(0.999).policy[visit.record.states[i, :-1]]
        optimal = int((visit.record.actions[i] == policy).sum())
        chance = 1 - i / 4 * 3 / 4  # of the optimal action, which random ones may be too
        if chance == 1:
            assert optimal == 3000
        else:
            observed = np.array([optimal, 3000 - optimal])
            assert_frequencies(observed, np.array([chance, 1 - chance]))


def test_steps_that_weigh_nothing_are_left_out() -> None:
    visit = Visit(distribution("GC"), 4, Task(0.5, 100))
    assert visit.inputs.shape[1] == 20  # 0.5^20 is just below a millionth


def test_parts_have_different_mdps() -> None:
    """With one visit per MDP that identifies it: the Q-values after many steps."""
    prior, rng = distribution("GC"), np.random.default_rng(1)
    school = Ann()._school(prior, TASK, rng)
    told: list[int] = []
    parts = school.visit(school.build_guide(10, rng), 10, rng, told.append)
    assert told == [10]
    assert [len(part.weights) // TASK.horizon for part in parts] == [5, 3, 2]
    for part in parts:
        weights = part.weights.reshape(-1, TASK.horizon)
        assert part.weights.mean() == pytest.approx(1)
        np.testing.assert_allclose(weights[:, 1:] / weights[:, :-1], TASK.discount)
    other = Parts(*(Samples(*(-array for array in part)) for part in parts))
    both = joined(parts, other)
    for one, two, all_of_them in zip(parts[:2], other[:2], both[:2], strict=True):
        for arrays in zip(one, two, all_of_them, strict=True):
            np.testing.assert_array_equal(arrays[2], np.concatenate(arrays[:2]))
    assert both.test is other.test


def test_equal_inputs_are_merged() -> None:
    """Against a dictionary, with inputs that differ by rounding and one that never varies."""
    rng = np.random.default_rng(2)
    inputs = rng.integers(0, 3, (400, 3)).astype(float)
    inputs[:, 2] = 7.0
    given = Samples(
        inputs + rng.uniform(-1e-13, 1e-13, inputs.shape),
        rng.normal(size=(400, 2)),
        rng.uniform(0.1, 3, 400),
    )
    standard = standard_of(given)
    assert standard.gain[2] == 0
    groups = defaultdict(list)
    for i in range(400):
        groups[tuple(inputs[i])].append(i)
    made = merged(given, standard)
    assert len(made.weights) == len(groups) == 9
    for row, labels, weight in zip(*made, strict=True):
        first = next(
            some for key, some in groups.items()
            if np.allclose((np.array(key) - standard.center) * standard.gain, row, atol=1e-9)
        )  # fmt: skip
        assert weight == pytest.approx(given.weights[first].sum())
        expected = np.average(given.labels[first], axis=0, weights=given.weights[first])
        np.testing.assert_allclose(labels, expected)


def test_inputs_are_standardised_by_weight() -> None:
    rng = np.random.default_rng(3)
    given = Samples(rng.normal(5, 3, (300, 2)), np.zeros((300, 1)), rng.uniform(0, 2, 300))
    made = merged(given, standard_of(given))
    assert np.average(made.inputs, axis=0, weights=made.weights) == pytest.approx(0, abs=1e-12)
    assert np.average(made.inputs**2, axis=0, weights=made.weights) == pytest.approx(1)


def test_further_rounds_follow_the_trained_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each round's guide is the network of the round before; it learns from all samples so far."""
    guides: list[Any] = []
    known: list[int] = []

    def noted(guide: Any, *rest: Any) -> None:
        guides.append(guide)
        _play(guide, *rest)

    def merging(parts: Parts, other: Parts) -> Parts:
        made = joined(parts, other)
        known.append(len(made.learning.weights))
        return made

    monkeypatch.setattr(trajectory, "play", noted)
    monkeypatch.setattr(samples, "joined", merging)
    agent = Ann(hidden="3", patience=2, mdps=8, rounds=2)
    agent.train(distribution("GC"), TASK, np.random.default_rng(0))
    assert [type(guide).__name__ for guide in guides] == ["Guide", "Ann", "Ann"]
    assert known == [2 * 4 * TASK.horizon, 3 * 4 * TASK.horizon]
    assert not np.array_equal(guides[1].network.weights, guides[2].network.weights)
    assert agent.outcome["round"].max() == 2
    assert len(agent.outcome["test_loss"]) == 3
