"""Tabular environments of Gymnasium, whose tables are solved here by plain sweeps."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.errors import InvalidInput
from brlbench.gym import from_gym
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.problems.formats import to_json
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment

TAXI = next(name for name in gymnasium.registry if name.startswith("Taxi-v"))
LAKE = "gym:FrozenLake-v1"


def optimal_value(name: str, discount: float, restart: bool, **settings: Any) -> float:
    """The value of the start by value iteration on Gymnasium's own table."""
    env: Any = gymnasium.make(name, **settings).unwrapped
    start = env.initial_state_distrib
    value = np.zeros(len(env.P))
    for _ in range(100_000):
        again = start @ value if restart else 0.0
        new = np.array(
            [
                max(
                    sum(p * (r + discount * (again if end else value[y])) for p, y, r, end in step)
                    for step in row.values()
                )
                for row in env.P.values()
            ]
        )
        if np.abs(new - value).max() < 1e-12:
            break
        value = new
    return float(start @ value)


@pytest.mark.parametrize("terminal", ["restart", "absorb"])
@pytest.mark.parametrize("actions", ["known", "alike"])
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("FrozenLake-v1", {}),
        ("FrozenLake-v1", {"map_name": "8x8", "is_slippery": False}),
        ("CliffWalking-v1", {}),
        ("CliffWalking-v1", {"is_slippery": True}),
        (TAXI, {}),
    ],
)
def test_optimal_values(name: str, settings: dict[str, Any], terminal: str, actions: str) -> None:
    expected = optimal_value(name, 0.9, terminal == "restart", **settings)
    problem = from_gym(name, terminal=terminal, actions=actions, **settings)
    mdp = problem.mean()
    assert problem.start @ mdp.solve(0.9).value == pytest.approx(expected, rel=1e-9)


def test_the_known_value_of_the_slippery_lake() -> None:
    """0.542 discounted by 0.99; undiscounted, the goal is reached with probability 14/17."""
    problem = distribution(f"{LAKE}:terminal=absorb")
    assert problem.mean().solve(0.99).value[0] == pytest.approx(0.542026, abs=1e-6)
    assert problem.mean().solve(1 - 1e-7).value[0] == pytest.approx(14 / 17, abs=1e-4)
    assert optimal_value("FrozenLake-v1", 0.99, restart=False) == pytest.approx(0.542026, abs=1e-6)


def test_optimal_finds_it() -> None:
    source = f"{LAKE}:terminal=absorb"
    result = evaluate(
        make_agent("optimal"), Experiment(source, source, 2000, discount=0.99, horizon=900)
    )
    assert abs(result.mean - 0.542026) < 1.5 * result.ci95
    reached = result.rewards.sum(axis=2)
    assert set(reached.ravel()) == {0.0, 1.0}
    assert abs(reached.mean() - 14 / 17) < 4 * reached.std() / 2000**0.5 + 1e-3


@pytest.mark.slow
def test_epsilon_greedy_learns_it() -> None:
    """What it has seen is enough for a policy almost as good as the optimal one."""
    experiment = Experiment(LAKE, LAKE, num_mdps=10, discount=0.99, horizon=60_000)
    result = evaluate(make_agent("epsilon-greedy", epsilon=0.2), experiment)
    assert result.states is not None
    assert result.actions is not None
    lake = distribution(LAKE).mean()
    values = []
    for states, actions in zip(result.states[:, 0], result.actions[:, 0], strict=True):
        seen = np.stack([states[:-1], actions, states[1:]], axis=1)
        policy = experiment.prior.posterior(seen).mean().solve(0.99).policy
        values.append(lake.expected_return(policy, 0.99, horizon=3000))
    assert np.mean(values) > 0.97 * lake.solve(0.99).value[0]
    random = evaluate(make_agent("random"), experiment)
    assert result.rewards[..., -20_000:].mean() > 5 * random.rewards.mean()


def dense(problem: Any) -> tuple[Floats, Floats, Floats]:
    mdp = problem.mean()
    return (
        mdp.transitions.to_dense(),
        problem.counts.to_dense(),
        problem.rewards.mean.to_dense(),
    )


def test_what_agents_are_told() -> None:
    transitions, counts, _ = dense(distribution(f"{LAKE}:counts=2.5"))
    np.testing.assert_array_equal(counts, np.where(transitions > 0, 2.5, 0))
    transitions, counts, _ = dense(distribution("gym:CliffWalking-v1:actions=alike"))
    possible = (transitions > 0).any(axis=1, keepdims=True)
    np.testing.assert_array_equal(counts, np.broadcast_to(possible, counts.shape))


def test_an_episode_that_ends_restarts() -> None:
    transitions, _, rewards = dense(distribution(LAKE))
    # From the last but one cell, right slips up, to the goal, or to the wall below.
    assert transitions[14, 2, [10, 0, 14]].tolist() == pytest.approx([1 / 3] * 3)
    assert rewards[14, 2, 0] == 1
    assert not transitions[:14, :, [5, 7, 11, 12, 15]].any()  # holes and the goal


def test_an_episode_that_ends_is_absorbed() -> None:
    transitions, _, rewards = dense(distribution(f"{LAKE}:terminal=absorb"))
    assert rewards[14, 2, 15] == 1
    for end in (5, 7, 11, 12, 15):
        assert (transitions[end, :, end] == 1).all()
        assert not rewards[end].any()


def test_restarting_where_the_start_is_random() -> None:
    """A taxi begins anywhere but at the passenger's destination."""
    problem = distribution(f"gym:{TAXI}")
    assert np.count_nonzero(problem.start) == 300
    ends = np.flatnonzero(np.diff(problem.counts.row_start) == 300)
    assert len(ends) == 4  # one place to arrive at for each destination
    table = problem.mean().transitions
    np.testing.assert_allclose(table.values[table.pair == ends[0]], 1 / 300)


class Small(gymnasium.Env[int, int]):
    """An environment with a given table, of one action unless said otherwise."""

    def __init__(self, table: Any, start: list[float]) -> None:
        self.P, self.initial_state_distrib = table, start


def test_rewards_of_one_transition_are_averaged() -> None:
    """Both ends lead to the start, one of them pays."""
    table = {0: {0: [(0.25, 1, 8.0, True), (0.75, 1, 0.0, True)]}, 1: {0: [(1.0, 1, 0.0, True)]}}
    transitions, _, rewards = dense(from_gym(Small(table, [1.0, 0.0])))
    assert transitions[0, 0].tolist() == [1, 0]
    assert rewards[0, 0, 0] == 2


def test_rewards_of_moves_that_another_action_makes() -> None:
    table = {
        0: {0: [(1.0, 1, 5.0, False)], 1: [(1.0, 0, 1.0, False)], 2: [(1.0, 1, 7.0, False)]},
        1: {a: [(1.0, 0, 0.0, False)] for a in range(3)},
    }
    _, counts, rewards = dense(from_gym(Small(table, [1.0, 0.0]), actions="alike"))
    assert rewards[0].tolist() == [[1, 5], [1, 6], [1, 7]]
    assert (counts[0] == 1).all()


def test_a_state_that_ends_only_sometimes_can_not_be_absorbing() -> None:
    table = {0: {0: [(1.0, 0, 1.0, True)], 1: [(1.0, 0, 0.0, False)]}}
    assert from_gym(Small(table, [1.0])).mean().solve(0.5).value.tolist() == [2]
    with pytest.raises(
        InvalidInput,
        match=r"'Small' can pass through its end state 0 without .*: use terminal=restart",
    ):
        from_gym(Small(table, [1.0]), terminal="absorb")


def test_names_say_what_was_chosen() -> None:
    assert distribution(LAKE).name == LAKE
    name = f"{LAKE}:terminal=absorb,counts=2.0,map_name=8x8"
    assert distribution(name).name == name
    assert to_json(distribution(distribution(name).name)) == to_json(distribution(name))
    assert from_gym(gymnasium.make("FrozenLake-v1")).name == LAKE
    assert Experiment(LAKE, LAKE).name == LAKE


def test_draws_around_an_environment() -> None:
    around, lake = distribution(f"around:30:{LAKE}"), distribution(LAKE)
    np.testing.assert_allclose(around.counts.to_dense(), 30 * lake.mean().transitions.to_dense())
    Experiment(LAKE, f"around:30:{LAKE}", num_mdps=2)


def test_in_a_file(tmp_path: Path) -> None:
    from brlbench.problems import write

    for suffix in ("toml", "json"):
        path = tmp_path / f"lake.{suffix}"
        write(distribution(LAKE), path)
        assert distribution(path).digest == distribution(LAKE).digest


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (f"{LAKE}:terminal=end", 'terminal = \'end\': must be "restart" or "absorb"'),
        (f"{LAKE}:actions=all", 'actions = \'all\': must be "known" or "alike"'),
        (f"{LAKE}:counts=0", "counts = 0: must be a number above 0"),
        ("gym:CartPole-v1", "the environment 'CartPole-v1' has no table of transitions"),
        ("gym:Lake-v1", "the environment 'Lake-v1' can't be made: "),
        (f"{LAKE}:depth=3", "the environment 'FrozenLake-v1' can't be made: "),
        ("gym:nowhere:Lake-v1", "the environment 'nowhere:Lake-v1' can't be made: "),
    ],
)
def test_refused(source: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        distribution(source)
    assert str(caught.value).startswith(message)
