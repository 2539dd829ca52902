import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from brlbench.problems import PROBLEMS, distribution
from brlbench.protocol import experiment as experiment_module
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import DEFAULT_HORIZON, Experiment, horizon_for
from helpers.own_agents import Scripted
from helpers.strategies import reproducible


def build(**changes: Any) -> Experiment:
    settings: dict[str, Any] = {"prior": "GC", "test": "GC", "num_mdps": 8, "horizon": 30}
    return Experiment(**{**settings, **changes})


def doubled() -> FlatDirichlet:
    """GC with other counts."""
    prior = distribution("GC")
    return FlatDirichlet(2 * prior.counts.to_dense(), prior.rewards, prior.start, name="GC")


@pytest.mark.parametrize(
    "changes",
    [
        {"num_mdps": 3},
        {"num_mdps": 20},
        {"prior": "uniform:GC"},
        {"horizon": 5},
        {"horizon": None, "accuracy": 0.1},
        {"discount": 0.5},
        {"trajectories_per_mdp": 4},
        {"deadline": 0.1},
    ],
)
def test_mdps_and_their_noise_depend_on_test_seed_and_index_only(changes: dict[str, Any]) -> None:
    one, other = build(), build(**changes)
    number = min(one.num_mdps, other.num_mdps)
    np.testing.assert_array_equal(one.mdps.probability[:number], other.mdps.probability[:number])
    noise, other_noise = (e.noise_words[:: e.trajectories_per_mdp][:number] for e in (one, other))
    np.testing.assert_array_equal(noise, other_noise)


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"test": doubled()},
        {"prior": "GC", "test": FlatDirichlet(
            distribution("GC").counts, distribution("GC").rewards, start=1)},
    ],
)  # fmt: skip
def test_another_seed_or_another_distribution_gives_other_mdps(changes: dict[str, Any]) -> None:
    one, other = build(), build(**changes)
    assert (one.mdps.probability != other.mdps.probability).any(axis=1).all()
    assert (one.noise_words != other.noise_words).all()


def test_all_mdps_differ_and_have_their_own_noise() -> None:
    experiment = build(num_mdps=50, trajectories_per_mdp=3)
    assert len(np.unique(experiment.mdps.probability, axis=0)) == 50
    assert len(np.unique(experiment.noise_words)) == 150


def test_an_mdp_has_its_probabilities() -> None:
    experiment = build(test="Grid", prior="uniform:Grid")
    mdp = experiment.mdp(3)
    np.testing.assert_array_equal(mdp.transitions.values, experiment.mdps.probability[3])
    assert mdp.rewards.content() == experiment.test.rewards.content()
    with pytest.raises(ValueError, match="read-only"):
        experiment.mdps.probability[0, 0] = 1


def test_mdps_are_drawn_from_the_test_distribution() -> None:
    """GC's rows have two possible next states with one count each: uniform probabilities."""
    experiment = build(prior="uniform:GC", num_mdps=2000)
    drawn = experiment.mdps.probability[:, ::2]
    assert np.abs(drawn.mean(axis=0) - 0.5).max() <= 4.5 * math.sqrt(1 / 12 / 2000)
    assert np.abs(drawn.var(axis=0) - 1 / 12).max() <= 4.5 * math.sqrt(1 / 180 / 2000)


def test_the_hash_tells_experiments_apart() -> None:
    variants: list[dict[str, Any]] = [
        {},
        {"num_mdps": 9},
        {"prior": "uniform:GC"},
        {"test": doubled()},
        {"discount": 0.9},
        {"horizon": 31},
        {"seed": 1},
        {"trajectories_per_mdp": 2},
    ]
    assert len({build(**changes).hash for changes in variants}) == len(variants)
    assert build().hash == build().hash
    assert len(build().hash) == 64


def test_names_do_not_change_the_hash() -> None:
    prior = distribution("GC")
    renamed = FlatDirichlet(prior.counts, prior.rewards, prior.start, name="mine")
    assert build(prior=renamed, test=renamed).hash == build().hash
    assert build(prior=renamed).name == "GC"


def test_names() -> None:
    assert build().name == "GC"
    assert build(prior="uniform:GC").name == "GC from uniform:GC"
    unnamed = FlatDirichlet(np.ones((2, 1, 2)), 0)
    assert build(prior=unnamed, test=unnamed).name == "unnamed"
    assert repr(build(seed=7)) == "Experiment(GC: 8 MDPs, discount 0.95, horizon 30, seed 7)"


def test_settings() -> None:
    experiment = build(prior="uniform:GC", trajectories_per_mdp=3, seed=5)
    settings = experiment.settings()
    assert settings["prior"] == "uniform:GC"
    assert settings["prior_digest"] == experiment.prior.digest
    assert (settings["num_mdps"], settings["trajectories_per_mdp"], settings["seed"]) == (8, 3, 5)
    assert experiment.num_trajectories == 24
    assert experiment.task == Task(0.95, 30)


def test_the_horizon_by_default() -> None:
    assert Experiment("GC", "GC").horizon == DEFAULT_HORIZON == 250
    assert Experiment("GC", "GC").num_mdps == 500


@pytest.mark.parametrize(("name", "decisions"), [("GC", 194), ("Grid", 194), ("GDL", 162)])
def test_the_paper_s_horizons(name: str, decisions: int) -> None:
    """log(0.01 (1 - 0.95) / R) / log(0.95) is 193.1 for R = 10 and 161.7 for R = 2.

    The sum runs from 0 to that, rounded down.
    """
    assert Experiment(name, name, accuracy=0.01, discount=0.95).horizon == decisions


@reproducible
@given(st.floats(1e-4, 10), st.floats(0.05, 0.99), st.floats(0.1, 100))
def test_what_is_cut_off_is_within_the_accuracy(
    accuracy: float, discount: float, max_reward: float
) -> None:
    """The fewest decisions after which all later rewards together can't reach the accuracy."""
    decisions = horizon_for(accuracy, discount, max_reward)
    assert discount**decisions * max_reward / (1 - discount) <= accuracy * (1 + 1e-9)
    if decisions > 1:
        before = discount ** (decisions - 1) * max_reward / (1 - discount)
        assert before >= accuracy * (1 - 1e-9)


def test_little_to_cut_off_takes_one_decision() -> None:
    assert horizon_for(0.01, 0.95, 0) == 1
    assert horizon_for(1000, 0.95, 1) == 1


def test_the_smallest_accuracy_there_is() -> None:
    """Of 5e-324 no smaller part is a number, but a horizon follows all the same."""
    assert horizon_for(5e-324, 0.5, 1.0) == 1076


def test_rewards_of_impossible_transitions_do_not_lengthen_the_horizon() -> None:
    prior = FlatDirichlet([[[1, 0]], [[1, 0]]], [2, 1000])
    experiment = Experiment(prior, prior, accuracy=0.01)
    assert experiment.horizon == 162


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_mdps": 0}, "num_mdps = 0: must be a whole number at least 1"),
        ({"num_mdps": -3}, "num_mdps = -3: must be a whole number at least 1"),
        ({"num_mdps": 2.0}, "num_mdps = 2.0: must be a whole number at least 1"),
        ({"num_mdps": True}, "num_mdps = True: must be a whole number at least 1"),
        ({"num_mdps": None}, "num_mdps = None: must be a whole number at least 1"),
        ({"horizon": 0}, "horizon = 0: must be a whole number at least 1"),
        ({"horizon": "250"}, "horizon = '250': must be a whole number at least 1"),
        ({"horizon": math.nan}, "horizon = nan: must be a whole number at least 1"),
        ({"seed": -1}, "seed = -1: must be a whole number at least 0"),
        ({"seed": 0.5}, "seed = 0.5: must be a whole number at least 0"),
        (
            {"trajectories_per_mdp": 0},
            "trajectories_per_mdp = 0: must be a whole number at least 1",
        ),
        (
            {"discount": 1.0},
            "discount = 1.0: must be a number between 0 and 1, both excluded, or 1 with episode",
        ),
        ({"discount": 0}, "discount = 0: must be a number between 0 and 1, both excluded"),
        ({"discount": math.nan}, "discount = nan: must be a number between 0 and 1, both excluded"),
        ({"discount": "0.9"}, "discount = '0.9': must be a number between 0 and 1, both excluded"),
        (
            {"accuracy": 0.01},
            "horizon = 30 and accuracy = 0.01: give one of them, not both",
        ),
        ({"horizon": None, "accuracy": 0}, "accuracy = 0: must be a number above 0"),
        ({"horizon": None, "accuracy": -1.0}, "accuracy = -1.0: must be a number above 0"),
        ({"horizon": None, "accuracy": math.nan}, "accuracy = nan: must be a number above 0"),
        ({"horizon": None, "accuracy": math.inf}, "accuracy = inf: must be a number above 0"),
        ({"horizon": None, "accuracy": "0.1"}, "accuracy = '0.1': must be a number above 0"),
        ({"horizon": None, "accuracy": True}, "accuracy = True: must be a number above 0"),
        ({"deadline": 0}, "deadline = 0: must be a number above 0"),
        ({"deadline": -0.5}, "deadline = -0.5: must be a number above 0"),
        ({"deadline": math.nan}, "deadline = nan: must be a number above 0"),
        ({"deadline": math.inf}, "deadline = inf: must be a number above 0"),
        ({"deadline": "5ms"}, "deadline = '5ms': must be a number above 0"),
        ({"deadline": True}, "deadline = True: must be a number above 0"),
        (
            {"test": "Grid"},
            "the prior has 5 states and 3 actions, the test distribution 25 and 4: they must agree",
        ),
        (
            {"test": FlatDirichlet(distribution("GC").counts, [2, 0, 0, 0, 9])},
            "the reward at (state 3, action 0, next state 4) is 10.0 in the prior and 9.0 in the "
            "test distribution: agents know rewards, so both must be equal",
        ),
        ({"prior": "GCC"}, "unknown distribution 'GCC' (did you mean 'GC'?): must be one of "
         f"{', '.join(PROBLEMS)}, a file (.toml, .json, .dat, .dat.z, .dat.zz), gym: and an "
         "environment's id, module:name of your own, or uniform: before one of these"),
    ],
)  # fmt: skip
def test_refused_experiments(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        build(**changes)
    assert str(caught.value) == message


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    experiment = build(num_mdps=np.int64(4), seed=np.uint8(2), horizon=np.int32(7))
    assert (experiment.num_mdps, experiment.seed, experiment.horizon) == (4, 2, 7)
    assert type(experiment.num_mdps) is int


def test_agents_that_act_alike_see_the_same() -> None:
    prior = FlatDirichlet(np.ones((4, 3, 4)), np.arange(4), 0, 1.0)
    experiment = Experiment(prior, prior, num_mdps=5, horizon=60)
    one, other = (
        evaluate(Scripted([0, 2, 1, 1], name=name), experiment) for name in ("one", "other")
    )
    np.testing.assert_array_equal(one.rewards, other.rewards)
    assert one.states is not None
    np.testing.assert_array_equal(one.states, other.states)


def test_the_same_visit_to_a_pair_has_the_same_outcome_for_all_agents() -> None:
    """Whatever the agents did in between, compiled or not."""
    prior = FlatDirichlet(np.ones((4, 3, 4)), np.arange(4), 0, 1.0)
    experiment = Experiment(prior, prior, num_mdps=3, horizon=200, trajectories_per_mdp=2)
    agents = [Scripted([0, 1, 2]), make_agent("random"), make_agent("beb")]
    outcomes: dict[tuple[int, ...], tuple[int, float]] = {}
    shared = 0
    for result in (evaluate(agent, experiment) for agent in agents):
        assert result.states is not None
        assert result.actions is not None
        for mdp, trajectory in np.ndindex(3, 2):
            visits: dict[tuple[int, int], int] = {}
            states = result.states[mdp, trajectory].tolist()
            actions = result.actions[mdp, trajectory].tolist()
            for t, pair in enumerate(zip(states[:-1], actions, strict=True)):
                visits[pair] = visits.get(pair, 0) + 1
                seen = states[t + 1], float(result.rewards[mdp, trajectory, t])
                place = (mdp, trajectory, *pair, visits[pair])
                shared += place in outcomes
                assert outcomes.setdefault(place, seen) == seen
    assert shared > 1000


def test_a_deadline_leaves_the_experiment_the_same() -> None:
    free, bound = build(), build(deadline=np.float64(0.25))
    assert (bound.hash, bound.name) == (free.hash, free.name)
    assert (free.task.deadline, bound.task.deadline) == (None, 0.25)
    assert (free.settings()["deadline"], bound.settings()["deadline"]) == (None, 0.25)
    assert type(bound.deadline) is float


def test_the_prior_is_the_test_distribution_unless_another_is_given() -> None:
    assert Experiment("GC", num_mdps=3).hash == Experiment("GC", "GC", num_mdps=3).hash


def test_a_replaced_setting_leaves_the_mdps_and_the_original_as_they_are() -> None:
    experiment = build(num_mdps=3, horizon=20)
    short = experiment.replace(horizon=5, deadline=0.5)
    assert (short.horizon, short.deadline) == (5, 0.5)
    assert (experiment.horizon, experiment.deadline) == (20, None)
    np.testing.assert_array_equal(short.mdps.probability, experiment.mdps.probability)
    np.testing.assert_array_equal(short.noise_words, experiment.noise_words)


def test_mdps_that_are_too_many_to_hold_are_drawn_for_each_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = build(num_mdps=9, trajectories_per_mdp=2)
    agent = make_agent("epsilon-greedy", epsilon=0.1)
    expected = evaluate(agent, held)
    monkeypatch.setattr(experiment_module, "_MOST_HELD", 70)  # two MDPs of 30 transitions
    drawn = build(num_mdps=9, trajectories_per_mdp=2)
    assert (drawn.holds_mdps, drawn.trajectories_at_once) == (False, 2)
    assert drawn.hash == held.hash
    assert evaluate(agent, drawn).returns.tobytes() == expected.returns.tobytes()
    assert evaluate(Scripted([1]), drawn).mean == evaluate(Scripted([1]), held).mean
    assert drawn.replace(deadline=1.0).hash == held.hash
    np.testing.assert_array_equal(drawn.mdp(-1).transitions.values, held.mdps.probability[8])
    assert "mdps" not in vars(drawn)
    given = build(num_mdps=9, trajectories_per_mdp=2, mdps=np.array(held.mdps.probability))
    assert given.holds_mdps
    assert given.hash == held.hash


def test_given_mdps_must_have_the_experiments_shape() -> None:
    with pytest.raises(InvalidInput, match=r"mdps has 7 numbers: must have shape \[3, "):
        Experiment("GC", num_mdps=3, mdps=np.ones(7))
