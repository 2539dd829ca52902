"""Experiments on MDPs that differ in transitions, rewards and start."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench import storage
from brlbench.beliefs import own
from brlbench.errors import InvalidInput
from brlbench.protocol import experiment as experiment_module
from brlbench.protocol.training import check_plays, load, save, train
from brlbench.study.worker import pack_experiment, unpack_experiment
from helpers.own_problems import KnownRiver, River, river, tied_river

NOISY = [
    bb.MDP(river(slip).transitions, [0, 0, reward], start, 0.25)
    for slip, reward, start in ((0.1, 1.0, 0), (0.5, 2.0, 1), (0.3, 1.5, "uniform"))
]


class Rich(River):
    """Pays 2."""

    def sample(self, rng: np.random.Generator) -> bb.MDP:
        return river(rng.random(), 2.0)


class Swimmer:
    """Always swims, and learns with the belief of the prior."""

    def train(self, prior: Any, task: bb.Task, rng: Any) -> None:
        self.prior = prior

    def start(self, state: int, rng: np.random.Generator) -> None:
        self.belief = self.prior.belief()

    def act(self, state: int) -> int:
        return 1

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        self.belief.observe(state, action, next_state, reward)


def prior(kind: str) -> Any:
    made = {
        "hypotheses": bb.Hypotheses([river(0.1), river(0.3, 2.0), river(0.6)], [1, 2, 1], "three"),
        "noisy": bb.Hypotheses(NOISY, name="noisy"),
        "tied": tied_river(),
        "own": River(),
    }
    return made[kind]


KINDS = ("hypotheses", "noisy", "tied", "own")


@pytest.mark.parametrize("kind", KINDS)
def test_optimal_gets_what_exact_solutions_give(kind: str) -> None:
    """The mean of exact expected returns over the horizon, within five standard errors."""
    experiment = bb.Experiment(prior(kind), num_mdps=200, horizon=40, discount=0.9)
    result = bb.evaluate(bb.make_agent("optimal"), experiment)
    exact = []
    for i in range(200):
        mdp = experiment.mdp(i)
        exact.append(mdp.expected_return(mdp.solve(0.9).policy, 0.9, 40))
    noise = result.returns - exact
    assert abs(noise.mean()) < 5 * noise.std() / np.sqrt(len(noise))
    assert np.std(exact) > 0.1


@pytest.mark.parametrize("kind", ["hypotheses", "noisy", "own"])
def test_agents_in_python_meet_the_same_mdps_and_noise(kind: str) -> None:
    experiment = bb.Experiment(prior(kind), num_mdps=6, horizon=20)
    compiled = bb.evaluate(bb.make_agent("random"), experiment, keep_paths=True)
    columns = compiled.columns

    class Again(Swimmer):
        def start(self, state: int, rng: np.random.Generator) -> None:
            super().start(state, rng)
            first = columns["states"][:, 0] == state
            self.actions = iter(columns["actions"][np.flatnonzero(first)[0]].tolist())

        def act(self, state: int) -> int:
            return int(next(self.actions))

    again = bb.evaluate(Again(), experiment, keep_paths=True)
    same = (again.columns["actions"] == columns["actions"]).all(axis=1)
    assert same.any()
    for name in ("states", "rewards", "noise", "start_values"):
        np.testing.assert_array_equal(again.columns[name][same], columns[name][same])


@pytest.mark.parametrize("kind", ["hypotheses", "noisy", "own"])
def test_adjusted_scores_estimate_the_same_mean_more_precisely(kind: str) -> None:
    experiment = bb.Experiment(prior(kind), num_mdps=300, horizon=30, discount=0.9)
    result = bb.evaluate(Swimmer(), experiment)
    assert result.adjusted.ci95 < 0.7 * result.ci95
    assert abs(result.adjusted.mean - result.mean) < 2.5 * result.ci95 / 2
    always = np.ones(3, np.int64)
    drawn = bb.Experiment(prior(kind), num_mdps=1500, seed=5)
    exact = [mdp.expected_return(always, 0.9, 30) for mdp in drawn.mdps]
    error = np.hypot(result.adjusted.ci95 / 2, np.std(exact) / np.sqrt(1500))
    assert abs(result.adjusted.mean - np.mean(exact)) < 4 * error


@pytest.mark.parametrize("kind", KINDS)
def test_mdps_too_many_to_hold_are_drawn_for_each_part(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = bb.Experiment(prior(kind), num_mdps=9, horizon=8, trajectories_per_mdp=2)
    agent = bb.make_agent("random")
    returns = bb.evaluate(agent, held).returns
    monkeypatch.setattr(experiment_module, "_MOST_HELD", 40)
    drawn = bb.Experiment(prior(kind), num_mdps=9, horizon=8, trajectories_per_mdp=2)
    assert not drawn.holds_mdps
    assert drawn.hash == held.hash
    assert bb.evaluate(agent, drawn).returns.tobytes() == returns.tobytes()


def test_own_mdps_are_a_list() -> None:
    given = [river(0.1), river(0.2), river(0.3)]
    experiment = bb.Experiment(tied_river(), num_mdps=3, mdps=given)
    for i, mdp in enumerate(given):
        played = experiment.mdp(i).transitions.to_dense()
        np.testing.assert_array_equal(played, mdp.transitions.to_dense())
    assert experiment.replace(seed=0).hash == experiment.hash
    elsewhere = bb.MDP(given[2].transitions, given[2].rewards, 1)
    other = bb.Experiment(tied_river(), num_mdps=3, mdps=[*given[:2], elsewhere])
    assert other.hash != experiment.hash


@pytest.mark.parametrize(
    ("mdps", "message"),
    [
        ([river(0.1)], "mdps has 1 MDP: num_mdps must be 1"),
        (
            [bb.MDP([[[1.0]]], 0)] * 2,
            "mdps have 1 state and 1 action, the test distribution 3 and",
        ),
        ([river(0.1), 4], r"mdps\[1\] is of class int: must be a brlbench.MDP"),
    ],
)
def test_other_mdps_are_refused(mdps: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        bb.Experiment(tied_river(), num_mdps=2, mdps=mdps)


def test_probabilities_alone_need_known_rewards() -> None:
    test = prior("hypotheses")
    with pytest.raises(InvalidInput, match=r"give a list of brlbench\.MDP"):
        bb.Experiment(test, num_mdps=2, mdps=np.ones((2, test.num_transitions)))


def test_known_rewards_must_agree() -> None:
    flat = bb.FlatDirichlet(np.ones((3, 2, 3)), [0, 0, 5])
    with pytest.raises(InvalidInput, match="agents know rewards, so both must be equal"):
        bb.Experiment(flat, tied_river())
    with pytest.raises(InvalidInput, match="agents know rewards, so both must be equal"):
        bb.Experiment(bb.Hypotheses([river(0.1), river(0.2)]), flat)
    told = bb.FlatDirichlet(np.ones((3, 2, 3)), [0, 0, 1])
    bb.Experiment(told, bb.Hypotheses([river(0.1), river(0.6)]))
    bb.Experiment(told, River())
    pays_two = r"is 1.0 in the prior and 2.0 in the test distribution: agents know rewards"
    with pytest.raises(InvalidInput, match=pays_two):
        bb.Experiment(told, prior("hypotheses"))  # one of them pays 2
    with pytest.raises(InvalidInput, match=pays_two):
        bb.Experiment(told, Rich())
    with pytest.raises(InvalidInput, match=pays_two):
        bb.Experiment(River(), Rich())
    bb.Experiment(told, bb.Hypotheses([river(0.1), river(0.6, 2.0)], [1, 0]))
    rewards = np.tile([0, 0, 1], (3, 2, 1))
    rewards[0, 0, 1] = 7
    elsewhere = bb.MDP(river(0.1).transitions, rewards)
    bb.Experiment(told, bb.Hypotheses([river(0.1), elsewhere]))  # where nothing leads
    with pytest.raises(InvalidInput, match=r"is 1.0 in the prior and 2.0 in mdps: agents know"):
        bb.Experiment(tied_river(), num_mdps=2, mdps=2 * [river(0.1, 2.0)])


@pytest.mark.parametrize("kind", ["hypotheses", "noisy", "tied"])
def test_files_hold_whole_mdps(kind: str, tmp_path: Path) -> None:
    made = bb.Experiment(prior(kind), num_mdps=5, horizon=9)
    storage.write_experiment(tmp_path / "e.parquet", made)
    again = storage.read_experiment(tmp_path / "e.parquet")
    assert again.hash == made.hash
    assert again.given_mdps is not None
    assert list(again.mdps.contents()) == list(made.mdps.contents())
    assert (again.prior.digest, again.test.digest) == (made.prior.digest, made.test.digest)


def test_an_object_has_no_file(tmp_path: Path) -> None:
    made = bb.Experiment(River(), num_mdps=5, horizon=9)
    with pytest.raises(InvalidInput, match="River is an object, which files can't hold: name it"):
        storage.write_experiment(tmp_path / "e.parquet", made)


@pytest.mark.parametrize("kind", ["hypotheses", "noisy", "tied"])
@pytest.mark.parametrize("given", [False, True])
def test_workers_play_the_same_mdps(kind: str, given: bool) -> None:
    made = bb.Experiment(prior(kind), num_mdps=5, horizon=9)
    sent = made.replace(mdps=made.mdps[::-1]) if given else made
    received = unpack_experiment(pack_experiment(sent))
    assert received.hash == sent.hash
    assert list(received.mdps.contents()) == list(sent.mdps.contents())


def test_results_tell_of_particles_that_have_collapsed() -> None:
    few = bb.distribution(River(), particles=12)
    collapsed = bb.evaluate(bb.make_agent("random"), bb.Experiment(few, num_mdps=4))
    assert "its prior's particles have collapsed" in str(collapsed)
    exactly = bb.Experiment(bb.distribution(KnownRiver(), particles=12), num_mdps=4)
    assert "collapsed" not in str(bb.evaluate(Swimmer(), exactly))  # it has the prior's own belief
    assert "have collapsed" in str(bb.evaluate(Swimmer(), bb.Experiment(few, num_mdps=4)))
    many = bb.evaluate(bb.make_agent("random"), bb.Experiment(River(), num_mdps=4, horizon=5))
    assert "collapsed" not in str(many)
    # Where the hypotheses are all there is, few of them are knowledge.
    exact = bb.Experiment(prior("hypotheses"), num_mdps=4)
    known = bb.evaluate(bb.make_agent("random"), exact)
    assert known.columns["effective_hypotheses"].mean() < 1.5
    assert "collapsed" not in str(known)
    flat = bb.evaluate(bb.make_agent("random"), bb.Experiment("GC", num_mdps=2, horizon=3))
    assert "effective_hypotheses" not in flat.columns


def test_particles_are_part_of_offline_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that the draws move; each agent has the time of all draws."""
    draws = [0.0]

    class Slow(River):
        def sample(self, rng: np.random.Generator) -> bb.MDP:
            draws[0] += 10
            return super().sample(rng)

    monkeypatch.setattr(own, "perf_counter", lambda: draws[0])
    experiment = bb.Experiment(bb.distribution(Slow(), particles=40), num_mdps=1, horizon=2)
    for _ in range(2):
        trained = train(bb.make_agent("random"), experiment.prior, experiment.task, 0)
        assert 400 <= trained.training.seconds < 410
    python = train(Swimmer(), experiment.prior, experiment.task, 0)
    assert python.training.seconds < 10


def test_workers_know_a_users_object() -> None:
    experiment = bb.Experiment(River(), num_mdps=4, horizon=5)
    one, two = (bb.evaluate(Swimmer(), experiment, workers=workers) for workers in (1, 2))
    assert one.returns.tobytes() == two.returns.tobytes()


def test_a_search_on_particles_is_loaded_again(tmp_path: Path) -> None:
    """The agent keeps its prior, which is not the distribution itself."""
    made = bb.distribution("helpers.own_problems:River:particles=20")
    experiment = bb.Experiment(made, num_mdps=4, horizon=5)
    trained = train(bb.make_agent("opps-ds", draws=20), experiment.prior, experiment.task, 0)
    storage.write_agent(tmp_path / "a.json", save(trained))
    again = load(storage.read_agent(tmp_path / "a.json"))
    check_plays(again, experiment)
    one, other = (
        bb.evaluate(each.agent, experiment, training=each.training) for each in (trained, again)
    )
    np.testing.assert_array_equal(one.returns, other.returns)
