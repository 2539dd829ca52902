from typing import Any

import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.errors import AgentError
from brlbench.gym import PolicyAgent
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment

EXPERIMENT = Experiment("GC", "GC", num_mdps=20, horizon=30)


class Counting:
    """A policy with a memory: it counts its steps, and takes one action after the other."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def predict(
        self, observation: Any, state: Any, episode_start: Any, deterministic: bool
    ) -> tuple[Any, Any]:
        steps = 0 if episode_start[0] else state
        self.asked.append((observation, steps, deterministic))
        return np.array(steps % 3), steps + 1


class Drawing:
    """A policy that draws its actions, with a generator of its own."""

    def set_random_seed(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def predict(self, observation: Any, deterministic: bool, **_: Any) -> tuple[Any, None]:
        return (np.array([0]) if deterministic else self.rng.integers(3, size=1)), None


def test_a_policy_plays() -> None:
    policy = Counting()
    result = evaluate(PolicyAgent(policy, name="counting"), EXPERIMENT)
    assert result.algorithm == "counting"
    assert result.actions is not None
    assert result.states is not None
    np.testing.assert_array_equal(
        result.actions[:, 0], np.broadcast_to(np.arange(30) % 3, (20, 30))
    )
    assert [steps for _, steps, _ in policy.asked] == [*range(30)] * 20
    assert [seen for seen, _, _ in policy.asked] == result.states[:, 0, :-1].ravel().tolist()
    assert all(deterministic for _, _, deterministic in policy.asked)


def test_what_a_policy_sees() -> None:
    policy = Counting()
    agent = PolicyAgent(policy, observation=lambda *seen: seen)
    result = evaluate(agent, Experiment("GC", "GC", num_mdps=1, horizon=4))
    assert result.states is not None
    states, rewards = result.states[0, 0].tolist(), result.rewards[0, 0].tolist()
    assert [seen for seen, _, _ in policy.asked] == [
        (states[0], None, 0.0),
        *((states[t], (t - 1) % 3, rewards[t - 1]) for t in (1, 2, 3)),
    ]


def test_random_policies_are_seeded_by_the_protocol() -> None:
    agent = PolicyAgent(Drawing(), deterministic=False, parameters={"why": "a test"})
    one, other = (evaluate(agent, EXPERIMENT) for _ in range(2))
    np.testing.assert_array_equal(one.rewards, other.rewards)
    assert one.label == "policy(why=a test)"
    assert one.actions is not None
    assert len(np.unique(one.actions[:, 0], axis=0)) == 20
    random = evaluate(make_agent("random"), EXPERIMENT)
    error = np.hypot(one.returns.std(), random.returns.std()) / 20**0.5
    assert abs(one.mean - random.mean) < 3 * error
    fixed = evaluate(PolicyAgent(Drawing()), EXPERIMENT)
    assert fixed.actions is not None
    assert not fixed.actions.any()


def test_the_policy_is_shared_and_its_memory_is_not() -> None:
    """A trajectory is played by a copy, which would take long for a network."""
    agent = PolicyAgent(Counting())
    evaluate(agent, EXPERIMENT)
    assert not hasattr(agent, "_memory")


def test_an_agent_without_a_policy() -> None:
    with pytest.raises(AgentError, match="policy failed on MDP 0 at step 0: AttributeError"):
        evaluate(PolicyAgent(), EXPERIMENT)


@pytest.mark.parametrize("action", [1.7, np.array([0.5]), np.nan, True])
def test_a_policy_whose_action_is_no_whole_number(action: Any) -> None:
    class Continuous:
        def predict(self, *_: Any, **__: Any) -> tuple[Any, None]:
            return action, None

    with pytest.raises(AgentError, match=r"act returned .*: must be a whole number from 0 to 2"):
        evaluate(PolicyAgent(Continuous()), EXPERIMENT)
