"""BOSS against a plain one, the rule of when it draws, and large numbers."""

import numpy as np
import pytest
from benchmarks.plain_sampling import PlainBoss

from brlbench.agents.base import Task
from brlbench.agents.boss import Boss
from brlbench.agents.psrl import Psrl
from brlbench.errors import InvalidInput
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.merged_reference import assert_same_law, draws
from helpers.sizes import sizes


@pytest.mark.slow
@pytest.mark.parametrize("num_mdps", sizes(60, 200))
@pytest.mark.parametrize(("samples", "visits"), [(3, 2), (40, 1)])
def test_same_law_as_a_plain_one(samples: int, visits: int, num_mdps: int) -> None:
    assert_same_law(Boss(samples, visits), PlainBoss(samples=samples, visits=visits), num_mdps)


@pytest.mark.parametrize("visits", [1, 2, 5])
def test_it_draws_when_a_pair_becomes_known(visits: int) -> None:
    rng = np.random.default_rng(visits)
    transitions = [(int(x), int(u), 0) for x, u in rng.integers(0, 3, size=(60, 2))]
    seen: dict[tuple[int, int], int] = {}
    expected = [0]
    for time, (x, u, _) in enumerate(transitions[:-1]):
        seen[x, u] = seen.get((x, u), 0) + 1
        if seen[x, u] == visits:
            expected.append(time + 1)
    assert draws(Boss(visits=visits), distribution("uniform:GC"), transitions) == expected


def test_with_one_sample_it_follows_a_sampled_mdp() -> None:
    """One sample, never again drawn: what PSRL does that never draws again."""
    experiment = Experiment("GC", "GC", num_mdps=400, horizon=60, discount=0.9)
    once = evaluate(Boss(samples=1, visits=10**6), experiment).returns
    other = evaluate(Psrl(resample=0.0), experiment).returns
    difference = once - other
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(len(difference))


def test_many_samples() -> None:
    experiment = Experiment("Grid", "Grid", num_mdps=2, horizon=30)
    result = evaluate(Boss(samples=10**6, visits=1), experiment)
    assert np.isfinite(result.returns).all()
    # Among so many rows there are some that hardly ever fail: the values are those of a grid in
    # which moves succeed, seven from corner to corner, the last one to the goal.
    agent = Boss(samples=10**6)
    agent.train(distribution("Grid"), Task(0.95, 30), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(0))
    agent.act(0)
    assert agent.arrays.merged.mdp.optimum.value[0] == pytest.approx(
        10 * 0.95**7 / (1 - 0.95**8), rel=1e-3
    )


def test_too_many_samples_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"boss: samples = 1000000000: .* use fewer samples"):
        Boss(samples=10**9).train(distribution("GC"), Task(0.95, 10), np.random.default_rng(0))
