"""Another library's learner in brlbench's protocol: the recurrent PPO of sb3-contrib.

Every training episode draws a new MDP from the prior, so that the policy's memory learns to explore
an unknown MDP (RL², Duan et al., 2016). Then it plays the same MDPs, with the same noise, as
brlbench's own agents. It needs `pip install 'brlbench[sb3]'` and about a minute.
"""

import argparse
from typing import Any

import gymnasium
import numpy as np
from sb3_contrib import RecurrentPPO
from stable_baselines3.common.env_util import make_vec_env

import brlbench as bb
from brlbench.gym import MdpEnv, PolicyAgent

ENVIRONMENTS = 64


def seen(state: int, last_action: int | None, num_actions: int) -> int:
    """The state and the last action as one number, which the policy observes."""
    return state * (num_actions + 1) + (0 if last_action is None else last_action + 1)


class LastAction(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Shows the last action beside the state."""

    def __init__(self, env: MdpEnv, num_states: int, num_actions: int) -> None:
        super().__init__(env)
        self.num_actions = num_actions
        self.observation_space = gymnasium.spaces.Discrete(num_states * (num_actions + 1))

    def reset(self, **settings: Any) -> Any:
        """Start without a last action."""
        state, info = self.env.reset(**settings)
        return seen(state, None, self.num_actions), info

    def step(self, action: Any) -> Any:
        """Take an action, and show it."""
        state, *others = self.env.step(action)
        return (seen(state, int(action), self.num_actions), *others)


class RecurrentPpo(PolicyAgent):
    """Recurrent PPO, trained on MDPs of the prior in its offline phase, which is timed."""

    def __init__(self, steps: int) -> None:
        super().__init__(name="recurrent PPO", parameters={"steps": steps})

    def train(self, prior: bb.FlatDirichlet, task: bb.Task, rng: np.random.Generator) -> None:
        """Learn a policy with a memory."""
        sizes, seed = (prior.num_states, prior.num_actions), int(rng.integers(2**31))
        self.observation = lambda state, action, reward: seen(state, action, prior.num_actions)
        self.policy = RecurrentPPO(
            "MlpLstmPolicy",
            make_vec_env(
                lambda: LastAction(MdpEnv(prior, task.horizon), *sizes), ENVIRONMENTS, seed
            ),
            n_steps=task.horizon,
            batch_size=ENVIRONMENTS * task.horizon // 2,
            n_epochs=4,
            learning_rate=2e-3,
            ent_coef=0.01,
            gamma=task.discount,
            policy_kwargs={
                "net_arch": [],
                "lstm_hidden_size": 32,
                "shared_lstm": True,
                "enable_critic_lstm": False,
            },
            seed=seed,
            device="cpu",
        ).learn(self.parameters["steps"])


def main() -> None:
    """Train, play and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem", default="Dense:states=3,actions=3")
    parser.add_argument("--steps", type=int, default=64_000, help="training steps")
    parser.add_argument("--mdps", type=int, default=200, help="MDPs to play")
    given = parser.parse_args()
    experiment = bb.Experiment(given.problem, given.problem, num_mdps=given.mdps, horizon=25)
    agents = (bb.make_agent("random"), RecurrentPpo(given.steps), bb.make_agent("epsilon-greedy"))
    results = [bb.evaluate(agent, experiment) for agent in agents]
    for result in results:
        print(
            f"{result.label:30} {result.mean:6.2f} ± {result.ci95:.2f}   "
            f"offline {result.offline_seconds:5.1f} s   "
            f"online {result.decision_seconds.mean() * 1e6:7.1f} µs per decision"
        )
    print("against random:", bb.paired_z_test(results[1], results[0]))


if __name__ == "__main__":
    main()
