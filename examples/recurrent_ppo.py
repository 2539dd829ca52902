"""Another library's learner in brlbench's protocol: recurrent PPO of sb3-contrib.

It is trained on environments that draw a new MDP of the prior for every episode, so that its memory
learns to find out about an unknown MDP (Duan et al., 2016: RL²), and then plays the same MDPs as
brlbench's own agents. Needs `pip install 'brlbench[sb3]'`; takes about a minute.
"""

import argparse
from typing import Any

import gymnasium
import numpy as np
from sb3_contrib import RecurrentPPO
from stable_baselines3.common.env_util import make_vec_env

import brlbench as bb
from brlbench.gym import MdpEnv, PolicyAgent


class LastAction(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Shows the last action beside the state; 0 is none."""

    def __init__(self, env: MdpEnv, num_states: int, num_actions: int) -> None:
        super().__init__(env)
        self.observation_space = gymnasium.spaces.Discrete(num_states * (num_actions + 1))
        self.A = num_actions
        self.last: int | None = None

    def step(self, action: Any) -> Any:
        """Remember the action."""
        self.last = int(action)
        return super().step(action)

    def reset(self, **settings: Any) -> Any:
        """Forget the action."""
        self.last = None
        return super().reset(**settings)

    def observation(self, observation: int) -> Any:
        """The state and the last action."""
        return observation * (self.A + 1) + (0 if self.last is None else self.last + 1)


def seen(state: int, last_action: int | None, reward: float) -> Any:
    """What the policy sees."""
    return state * 4 + (0 if last_action is None else last_action + 1)


class RecurrentPpo(PolicyAgent):
    """Trains recurrent PPO on MDPs of the prior."""

    def __init__(self, steps: int) -> None:
        super().__init__(name="recurrent PPO", observation=seen, parameters={"steps": steps})

    def train(self, prior: bb.FlatDirichlet, task: bb.Task, rng: np.random.Generator) -> None:
        """The offline phase, timed like that of any agent."""
        sizes = (prior.num_states, prior.num_actions)
        seed = int(rng.integers(2**31))
        environments = make_vec_env(
            lambda: LastAction(MdpEnv(prior, task.horizon), *sizes), n_envs=32, seed=seed
        )
        self.policy = RecurrentPPO(
            "MlpLstmPolicy",
            environments,
            n_steps=task.horizon,
            batch_size=32 * task.horizon // 4,
            learning_rate=1e-3,
            n_epochs=4,
            gamma=task.discount,
            ent_coef=0.01,
            policy_kwargs={
                "net_arch": [],
                "lstm_hidden_size": 48,
                "enable_critic_lstm": False,
                "shared_lstm": True,
            },
            seed=seed,
            device="cpu",
        ).learn(self.parameters["steps"])


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000, help="of training")
    parser.add_argument("--mdps", type=int, default=200, help="to be played")
    parser.add_argument("--problem", default="GC")
    parser.add_argument("--horizon", type=int, default=50)
    settings = parser.parse_args()
    experiment = bb.Experiment(
        settings.problem, settings.problem, settings.mdps, horizon=settings.horizon
    )
    agents = (
        RecurrentPpo(settings.steps),
        bb.make_agent("random"),
        bb.make_agent("epsilon-greedy", epsilon=0.0),
        bb.make_agent("optimal"),
    )
    for agent in agents:
        result = bb.evaluate(agent, experiment)
        print(
            f"{result.label}: {result.mean:.2f} ± {result.ci95:.2f}, trained in {result.offline_seconds:.1f} s, {result.decision_seconds.mean() * 1e6} us"
        )


if __name__ == "__main__":
    main()
