import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import brlbench.gym
from brlbench.agents import make_agent
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.beliefs.hypotheses import Hypotheses
from brlbench.errors import InvalidInput
from brlbench.gym import MdpEnv, MdpVectorEnv
from brlbench.problems import PROBLEMS, distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.own_problems import River, river, tied_river
from helpers.sizes import sizes
from helpers.vandals import vandalise

IDS = [
    f"brlbench/{prefix}{name}-v1"
    for name, build in PROBLEMS.items()
    for prefix in ("", "uniform-")
    if not prefix or isinstance(build(), FlatDirichlet)
]
NOISY = FlatDirichlet(np.ones((3, 2, 3)), np.arange(3), [0.5, 0.25, 0.25], 4.0, name="noisy")


def play(env: Any, actions: Any, **settings: Any) -> list[tuple[int, float]]:
    """States and rewards of an episode."""
    state, _ = env.reset(**settings)
    steps = [(state, 0.0)]
    for action in actions:
        state, reward, terminated, _, _ = env.step(action)
        assert not terminated
        steps.append((state, reward))
    return steps


@pytest.mark.parametrize("name", [*IDS, "brlbench/MDP-v1"])
def test_gymnasiums_own_check(name: str) -> None:
    settings: dict[str, Any] = {"distribution": NOISY} if name == "brlbench/MDP-v1" else {}
    env = gymnasium.make(name, **settings)
    assert env.spec is not None
    check_env(env.unwrapped)


def test_all_problems_are_registered() -> None:
    registered = [name for name in gymnasium.registry if name.startswith("brlbench/")]
    assert sorted(registered) == sorted([*IDS, "brlbench/MDP-v1"])


@pytest.mark.parametrize("name", ["GC", "uniform:Grid", "Maze"])
def test_spaces(name: str) -> None:
    problem = distribution(name)
    env = gymnasium.make(f"brlbench/{name.replace(':', '-')}-v1")
    assert env.observation_space == gymnasium.spaces.Discrete(problem.num_states)
    assert env.action_space == gymnasium.spaces.Discrete(problem.num_actions)


def test_an_id_that_imports_the_module(tmp_path: Path) -> None:
    code = 'import gymnasium; print(gymnasium.make("brlbench.gym:brlbench/GC-v1").reset(seed=0)[0])'
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_episodes_are_truncated_and_keep_the_mdp_until_the_horizon() -> None:
    """One environment and one of many agree; a seed begins anew."""
    env = MdpEnv(NOISY, horizon=600, episode=200)
    envs = MdpVectorEnv(2, NOISY, horizon=600, episode=200)
    states, _ = envs.reset(seed=4)
    mdps = []
    for episode in range(4):
        state, _ = env.reset(seed=4 if episode == 0 else None)
        mdps.append(env._sums)
        for t in range(200):
            assert state == states[0]
            state, reward, terminated, truncated, _ = env.step(t % 2)
            states, rewards, _, ends, _ = envs.step(np.array([t % 2, 0]))
            assert (reward, terminated, truncated) == (rewards[0], False, t == 199)
            assert ends.tolist() == [truncated] * 2
        states = envs.step(np.zeros(2, np.int64))[0]  # resets
    assert mdps[0] == mdps[1] == mdps[2] != mdps[3]
    env.reset()
    env.step(0)
    env.reset(seed=4)
    assert env._sums == mdps[0]


@pytest.mark.parametrize("horizon", [1, 3, 255, 256, 257, 600])
def test_episodes_are_truncated_at_the_horizon(horizon: int) -> None:
    env = gymnasium.make("brlbench/GDL-v1", horizon=horizon)
    for _ in range(2):
        env.reset(seed=0)
        ends = [env.step(0)[2:4] for _ in range(horizon)]
        assert ends == [(False, False)] * (horizon - 1) + [(False, True)]


def test_rewards_are_known() -> None:
    _, info = gymnasium.make("brlbench/Grid-v1").reset(seed=0)
    expected = distribution("Grid").rewards.mean.to_dense()
    np.testing.assert_array_equal(info["rewards"].to_dense(), expected)


@pytest.mark.parametrize("number", sizes(500, 2000))
@pytest.mark.parametrize("source", ["GC", "around:20:Chain", "Maze", NOISY])
def test_random_actions_pay_what_evaluate_says(source: Any, number: int) -> None:
    """Rewards at every step, and the return: each reset has a new MDP."""
    horizon = 60
    env: Any = MdpEnv(source, horizon)
    actions = np.random.default_rng(1).integers(env.action_space.n, size=(number, horizon))
    env.reset(seed=3)
    rewards = np.array([[r for _, r in play(env, row)[1:]] for row in actions.tolist()])
    result = evaluate(make_agent("random"), Experiment(source, source, number, horizon=horizon))
    returns = (rewards * 0.95 ** np.arange(horizon)).sum(axis=1)
    error = np.hypot(returns.std(), result.returns.std()) / number**0.5
    assert abs(returns.mean() - result.mean) < 3 * error
    others = result.rewards[:, 0]
    errors = np.sqrt(rewards.var(axis=0) + others.var(axis=0)) / number**0.5
    scores = (rewards.mean(axis=0) - others.mean(axis=0)) / np.maximum(errors, 1e-12)
    assert np.abs(scores).max() < 4.5


def test_each_reset_draws_an_mdp() -> None:
    """The same pair leads elsewhere: a transition's frequency varies as that of a uniform one."""
    env = MdpEnv("GC", horizon=400)
    shares = []
    for episode in range(300):
        steps = play(env, [0] * 400, **({"seed": 0} if episode == 0 else {}))
        states = np.array([state for state, _ in steps])
        after = states[1:][states[:-1] == 0]
        shares.append(after.mean())  # state 0 leads to state 0 or 1
    assert abs(np.mean(shares) - 0.5) < 4 * (1 / 12 / 300) ** 0.5
    assert 0.25 < np.std(shares) < 0.34  # 1/√12, and a little more


def test_one_mdp_can_be_kept() -> None:
    env = MdpEnv("Grid", horizon=10, keep=True)
    env.reset(seed=1)
    kept = env._sums
    first = [play(env, [1] * 10) for _ in range(3)]
    assert env._sums == kept
    assert first[0] != first[1]  # but its noise is new
    env.reset(seed=2)
    assert env._sums != kept
    env.reset(seed=1)
    assert env._sums == kept


@pytest.mark.parametrize(("index", "seed"), [(0, 0), (7, 0), (7, 5)])
def test_an_mdp_of_an_experiment(index: int, seed: int) -> None:
    mdp = Experiment("Grid", "Grid", num_mdps=8, seed=seed).mdp(index)
    env = MdpEnv("Grid", horizon=20_000, mdp=index, mdp_seed=seed)
    actions = np.random.default_rng(2).integers(4, size=20_000).tolist()
    states = [state for state, _ in play(env, actions, seed=3)]
    seen = np.zeros((25, 4, 25))
    np.add.at(seen, (states[:-1], actions, states[1:]), 1)
    visits = seen.sum(axis=2, keepdims=True)
    expected = mdp.transitions.to_dense()
    assert (seen[expected == 0] == 0).all()
    errors = np.sqrt(expected * (1 - expected) / np.maximum(visits, 1))
    often = np.broadcast_to(visits > 30, seen.shape) & (expected > 0.02) & (expected < 0.98)
    assert often.sum() > 30
    assert (np.abs(seen / np.maximum(visits, 1) - expected) / np.maximum(errors, 1e-9))[
        often
    ].max() < 4.5


def test_start_states_and_noisy_rewards() -> None:
    env = MdpEnv(NOISY, horizon=3000)
    starts = np.bincount([env.reset(seed=i)[0] for i in range(2000)]) / 2000
    np.testing.assert_allclose(starts, [0.5, 0.25, 0.25], atol=0.04)
    steps = play(env, [0] * 3000, seed=0)[1:]
    noise = np.array([reward - state for state, reward in steps])
    assert abs(noise.mean()) < 4 * 2 / 3000**0.5
    assert abs(noise.std() - 2) < 0.12


def test_rounding_never_leads_to_an_impossible_state() -> None:
    """A transition that agents hold possible, and that is not, is the last of its pair."""
    env = MdpEnv("Chain", mdp=0)
    assert env._world.places.to_dense()[0, 0].tolist() == [1, 1, 0, 0, 0]
    loop = MdpEnv("Loop")
    loop.reset(seed=0)
    assert loop._sums is not None
    pairs = zip(loop._first, loop._last, strict=True)
    for first, last in pairs:  # of one possible transition
        row = loop._sums[first : last + 1]
        assert set(row) <= {0.0, np.inf}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"horizon": 0}, "horizon = 0: must be a whole number at least 1"),
        ({"mdp": -1}, "mdp = -1: must be a whole number at least 0"),
        ({"mdp": 0.5}, "mdp = 0.5: must be a whole number at least 0"),
        ({"mdp": [0, 1]}, "mdp has shape [2]: must be one, or 1"),
        ({"mdp": 0, "mdp_seed": "a"}, "mdp_seed = 'a': must be a whole number at least 0"),
        ({"distribution": "GCC"}, "unknown distribution 'GCC' (did you mean 'GC'?)"),
    ],
)
def test_refused_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        MdpEnv(**{"distribution": "GC", **settings})
    assert str(caught.value).startswith(message)


def test_refused_steps() -> None:
    env = MdpEnv("GC")
    with pytest.raises(InvalidInput, match="step before the first reset: call reset"):
        env.step(0)
    env.reset(seed=0)
    for action in (-1, 3):
        with pytest.raises(InvalidInput, match=f"action {action}: must be from 0 to 2"):
            env.step(action)


def test_names() -> None:
    assert sorted(brlbench.gym.__all__) == brlbench.gym.__all__
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        brlbench.gym.Nothing  # noqa: B018


@pytest.mark.parametrize("kind", [MdpEnv, lambda prior: MdpVectorEnv(3, prior)])
def test_who_ruins_an_environment_harms_no_other(kind: Any) -> None:
    def played(env: Any) -> Any:
        """Observations, and the known rewards."""
        first, info = env.reset(seed=1)
        action = np.zeros_like(first) if np.ndim(first) else 0
        steps = [env.step(action)[:2] for _ in range(20)]
        return np.array([np.stack(step) for step in steps]), np.ravel(info["rewards"])[0].to_dense()

    prior = distribution("GDL")
    observed, rewards = played(kind(prior))
    env = kind(prior)
    vandalise(env.reset(seed=1)[1])
    again = played(env)
    np.testing.assert_array_equal(again[0], observed)
    np.testing.assert_array_equal(again[1], rewards)
    vandalise(env)
    np.testing.assert_array_equal(played(kind(prior))[0], observed)
    assert prior.named("GDL").content() == distribution("GDL").content()


@pytest.mark.parametrize("kind", ["tied", "hypotheses", "own"])
def test_every_family_is_an_environment(kind: str) -> None:
    """One environment and one of many play the same; transitions and rewards are the MDP's."""
    made: Any = {
        "tied": tied_river(),
        "hypotheses": Hypotheses([river(0.0, 1.0), river(1.0, 2.0)]),
        "own": River(),
    }
    env, many = MdpEnv(made[kind], horizon=30), MdpVectorEnv(4, made[kind], horizon=30)
    states, _ = many.reset(seed=3)
    singles = [MdpEnv(made[kind], horizon=30) for _ in range(4)]
    assert states.tolist() == [single.reset(seed=3 + i)[0] for i, single in enumerate(singles)]
    for step in range(30):
        observed = many.step(np.full(4, step % 2))
        each = [single.step(step % 2) for single in singles]
        assert observed[0].tolist() == [one[0] for one in each]
        assert observed[1].tolist() == [one[1] for one in each]
    if kind == "hypotheses":
        paid = set()
        for seed in range(8):
            env.reset(seed=seed)
            end = [env.step(1)[:2] for _ in range(3)][-1]
            assert end in ((2, 1.0), (0, 0.0))
            paid.add(end)
        assert len(paid) == 2
        assert env.reset()[1]["rewards"] is None


@pytest.mark.parametrize(
    ("name", "number", "states"),
    [
        ("gym:FrozenLake-v1:is_slippery=true|false", 2, 16),
        ("gym:FrozenLake-v1:is_slippery=true|false,map_name=4x4|8x8", 4, 64),
        ("gym:FrozenLake-v1|CliffWalking-v1", 2, 48),
    ],
)
def test_alternatives_of_an_environment_are_hypotheses(name: str, number: int, states: int) -> None:
    prior = distribution(name)
    assert isinstance(prior, Hypotheses)
    assert (len(prior), prior.num_states, prior.name) == (number, states, name)
    alone = distribution("gym:FrozenLake-v1").mean()
    first = prior.mdps.mdp(0).transitions.to_dense()[:16, :, :16]
    np.testing.assert_array_equal(first, alone.transitions.to_dense())
    optimal = evaluate(make_agent("optimal"), Experiment(prior, num_mdps=3, horizon=20))
    assert np.isfinite(optimal.returns).all()


def test_alternatives_have_no_counts() -> None:
    with pytest.raises(InvalidInput, match="counts is of the prior of one environment: drop it"):
        distribution("gym:FrozenLake-v1:map_name=4x4|8x8,counts=2")
