"""Play an agent step by step."""

from typing import Any

from brlbench.agents.base import Agent, Task
from brlbench.beliefs.base import Family
from brlbench.problems import distribution
from brlbench.streams import generator


def actions_taken(agent: Agent, prior: Family, test: str, steps: int) -> list[int]:
    """The actions of an agent in an MDP of a problem; all that is random is always the same."""
    mdp = distribution(test).sample(generator("test stepping", "MDP"))
    probability, reward = mdp.transitions.to_dense(), mdp.rewards.mean.to_dense()
    agent.train(prior, Task(0.95, steps), generator("test stepping", "train"))
    rng: Any = generator("test stepping", "steps")
    x = int(rng.choice(mdp.num_states, p=mdp.start))
    agent.start(x, generator("test stepping", "start"))
    actions = []
    for _ in range(steps):
        actions.append(agent.act(x))
        y = int(rng.choice(mdp.num_states, p=probability[x, actions[-1]]))
        agent.observe(x, actions[-1], y, float(reward[x, actions[-1], y]))
        x = y
    return actions
