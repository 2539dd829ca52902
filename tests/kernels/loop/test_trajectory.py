"""One compiled loop plays whole trajectories and single steps."""

import numpy as np

import brlbench as bb
from brlbench.kernels.loop import trajectory


def test_playing_step_by_step_compiles_nothing_more() -> None:
    experiment = bb.Experiment("GC", num_mdps=1, horizon=2)
    for name in ("random", "epsilon-greedy", "optimal"):
        agent = bb.make_agent(name)
        bb.evaluate(agent, experiment)
        compiled = len(trajectory.play.signatures)  # type: ignore[attr-defined]
        if name == "optimal":
            agent.start_known(experiment.mdp(0), 0, np.random.default_rng(0))  # type: ignore[attr-defined]
        else:
            agent.start(0, np.random.default_rng(0))
        agent.observe(0, agent.act(0), 1, 0.5)
        assert len(trajectory.play.signatures) == compiled  # type: ignore[attr-defined]
