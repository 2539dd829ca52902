"""Agents on problems at the edges of what is allowed."""

from typing import Any

import numpy as np

from brlbench.beliefs.flat import FlatDirichlet
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment


def assert_plays(agent: Any, states: int, actions: int) -> None:
    """It takes nothing but actions of a problem with so few states and actions."""
    shape = (states, actions, states)
    prior = FlatDirichlet(np.ones(shape), np.random.default_rng(0).normal(size=shape))
    result = evaluate(agent, Experiment(prior, prior, num_mdps=3, horizon=30))
    assert result.actions is not None
    assert set(np.unique(result.actions)) <= set(range(actions))
