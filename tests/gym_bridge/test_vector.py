import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from brlbench.gym import MdpVectorEnv
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.sizes import sizes

NOISY = FlatDirichlet(np.ones((3, 2, 3)), np.arange(3), [0.5, 0.25, 0.25], 4.0, name="noisy")
RAGGED = distribution("Sparse:states=9").around(2.5)


def both(source: Any, num_envs: int, **settings: Any) -> list[Any]:
    """The vector environment, and Gymnasium's of as many single ones."""
    return [
        gymnasium.make_vec("brlbench/MDP-v1", num_envs, mode, distribution=source, **settings)
        for mode in ("vector_entry_point", "sync")
    ]


@pytest.mark.parametrize(
    ("source", "settings"),
    [
        ("GC", {}),
        ("GDL", {"keep": True}),
        ("Grid", {"horizon": 300}),
        ("uniform:Grid", {"horizon": 7}),
        ("Maze", {}),
        ("Grid", {"mdp": 4, "mdp_seed": 2}),
        (NOISY, {"horizon": 260}),
        (RAGGED, {"horizon": 11}),
        ("GC", {"horizon": 1}),
    ],
)
def test_many_go_the_way_of_each(source: Any, settings: dict[str, Any]) -> None:
    num_envs = 6
    many, each = both(source, num_envs, **{"horizon": 20, **settings})
    rng = np.random.default_rng(0)
    for seed in (11, None, [5, None, 7, 8, None, 2]):
        states, info = many.reset(seed=seed)
        expected, expected_info = each.reset(seed=seed)
        np.testing.assert_array_equal(states, expected)
        assert info.keys() == expected_info.keys()
        for _ in range(650 if seed == 11 else 50):
            actions = rng.integers(many.single_action_space.n, size=num_envs)
            one, other = many.step(actions), each.step(actions)
            for mine, gymnasiums in zip(one[:4], other[:4], strict=True):
                assert mine.dtype == gymnasiums.dtype
                np.testing.assert_array_equal(mine, gymnasiums)
            assert one[4].keys() == other[4].keys()


def test_each_can_have_its_own_mdp() -> None:
    many = MdpVectorEnv(3, "Grid", mdp=[4, 0, 4])
    singles = [MdpVectorEnv(1, "Grid", mdp=index) for index in (4, 0, 4)]
    states, _ = many.reset(seed=0)
    for i, single in enumerate(singles):
        single.reset(seed=i)
    for _ in range(100):
        states, *_ = many.step([3, 3, 1])
        following = [env.step([a])[0][0] for env, a in zip(singles, [3, 3, 1], strict=True)]
        assert states.tolist() == following


def test_returned_arrays_are_the_callers() -> None:
    env = MdpVectorEnv(4, "GC")
    one, other = (env.reset(seed=0)[0], MdpVectorEnv(4, "GC").reset(seed=0)[0])
    one[:] = 4
    again = MdpVectorEnv(4, "GC")
    again.reset(seed=0)
    np.testing.assert_array_equal(env.step([0] * 4)[0], again.step([0] * 4)[0])
    assert (other == 0).all()


def test_gymnasiums_wrappers_work() -> None:
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(
        gymnasium.make_vec("brlbench/GC-v1", num_envs=5, horizon=10)
    )
    env.reset(seed=0)
    rewards = []
    for _ in range(10):
        _, reward, _, truncated, info = env.step(np.zeros(5, np.int64))
        rewards.append(reward)
    assert truncated.all()
    np.testing.assert_allclose(info["episode"]["r"], np.sum(rewards, axis=0))


@pytest.mark.parametrize("number", sizes(1000, 4000))
@pytest.mark.parametrize("name", ["GC", "Grid"])
def test_random_actions_pay_what_evaluate_says(name: str, number: int) -> None:
    env = gymnasium.make_vec(f"brlbench/{name}-v1", num_envs=number)
    env.reset(seed=0)
    env.action_space.seed(1)
    returns = np.zeros(number)
    for t in range(250):
        _, rewards, _, truncated, _ = env.step(env.action_space.sample())
        returns += 0.95**t * rewards
    assert truncated.all()
    result = evaluate(make_agent("random"), Experiment(name, name, 1000))
    error = np.hypot(returns.std() / number**0.5, result.returns.std() / 1000**0.5)
    assert abs(returns.mean() - result.mean) < 3 * error


@pytest.mark.parametrize("name", ["GC", "GDL", "Grid"])
def test_a_step_of_many_makes_no_more_calls_than_one_of_few(name: str) -> None:
    """So that what it takes hardly grows with their number."""
    calls = []
    for number in (5, 2000):
        env = gymnasium.make_vec(f"brlbench/{name}-v1", num_envs=number)
        env.reset(seed=0)
        actions = np.zeros(number, np.int64)
        env.step(actions)  # draws random numbers for those that follow, one by one
        calls.append(count_calls(lambda: env.step(actions)))  # noqa: B023
    few, many = calls
    assert few == many > 0


def count_calls(work: Callable[[], Any]) -> int:
    """How many functions are called."""
    found: list[str] = []
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: found.append(event))
    try:
        work()
    finally:
        sys.setprofile(before)
    return sum(event in ("call", "c_call") for event in found)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_envs": 0}, "num_envs = 0: must be a whole number at least 1"),
        ({"horizon": 1.5}, "horizon = 1.5: must be a whole number at least 1"),
        ({"mdp": [1, 2]}, "mdp has shape [2]: must be one, or 3"),
        ({"mdp": [1, -2, 0]}, "mdp = -2: must be a whole number at least 0"),
    ],
)
def test_refused_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        MdpVectorEnv(**{"num_envs": 3, "distribution": "GC", **settings})
    assert str(caught.value) == message


def test_refused_steps() -> None:
    env = MdpVectorEnv(3, "GC")
    with pytest.raises(InvalidInput, match="step before the first reset: call reset"):
        env.step([0, 0, 0])
    with pytest.raises(InvalidInput, match="2 seeds: must be one, or 3"):
        env.reset(seed=[1, 2])
    with pytest.raises(InvalidInput, match="reset_mask: all environments are reset together"):
        env.reset(options={"reset_mask": np.array([True, False, True])})
    env.reset(seed=0)
    for actions in ([0, 1], [0, 1, 0.5], [[0, 1, 2]]):
        with pytest.raises(InvalidInput, match="actions must be 3 whole numbers, one for each"):
            env.step(actions)
    for actions in ([0, 1, 3], [-1, 0, 0]):
        with pytest.raises(InvalidInput, match="actions must be from 0 to 2"):
            env.step(actions)
