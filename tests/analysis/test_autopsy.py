"""Expected regrets against those in the true MDPs, and against posteriors drawn in Python."""

import numpy as np
import pytest

import brlbench as bb
from brlbench.errors import InvalidInput
from brlbench.streams import generator


def true_regrets(result: bb.Result, experiment: bb.Experiment) -> np.ndarray:
    """V*(x) - Q*(x, u) of all decisions [N, T], in the MDPs that were played."""
    assert result.states is not None
    assert result.actions is not None
    regrets = []
    for i, mdp in enumerate(experiment.mdps):
        optimum = mdp.solve(experiment.discount)
        states, actions = result.states[i, 0, :-1], result.actions[i, 0]
        regrets.append(optimum.value[states] - optimum.q[states, actions])
    return np.array(regrets)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["random", "psrl"])
def test_expected_regrets_are_those_of_the_true_mdps_on_average(algorithm: str) -> None:
    """With an accurate prior, at the start and in the discounted sum; 40 MDPs in pairs."""
    experiment = bb.Experiment("GC", num_mdps=400, horizon=30)
    result = bb.evaluate(bb.make_agent(algorithm), experiment)
    examined = bb.autopsy(result, samples=20)
    expected, exact = examined.exploring + examined.ignorance, true_regrets(result, experiment)
    weights = experiment.discount ** np.arange(30)
    for differences in ((expected - exact) @ weights, (expected - exact)[:, 0]):
        error = differences.std() / np.sqrt(len(differences))
        assert abs(differences.mean()) < 4 * error
    assert examined.cost.mean + examined.unknown.mean == pytest.approx((expected @ weights).mean())
    assert min(examined.ignorance.min(), examined.exploring.min()) > -1e-9  # rounding of means


def test_beliefs_are_posteriors() -> None:
    """The last decision of one trajectory, from as many draws in Python."""
    experiment = bb.Experiment("Chain:prior=full", num_mdps=1, horizon=12)
    result = bb.evaluate(bb.make_agent("random"), experiment)
    examined = bb.autopsy(result, samples=4000)
    assert result.states is not None
    assert result.actions is not None
    states, actions = result.states[0, 0], result.actions[0, 0]
    steps = list(zip(states, actions, states[1:], strict=False))
    posterior = bb.distribution("Chain:prior=full").posterior(steps[:-1])
    rng = generator("draws")
    q = np.array([posterior.sample(rng).solve(0.95).q[states[11]] for _ in range(2000)])
    mean = q.mean(axis=0)
    error = 5 * q.std(axis=0).max() * np.sqrt(1 / 2000 + 1 / 4000)
    assert examined.exploring[0, -1] == pytest.approx(mean.max() - mean[actions[11]], abs=error)
    assert examined.ignorance[0, -1] == pytest.approx(q.max(axis=1).mean() - mean.max(), abs=error)


def test_an_agent_that_knows_pays_for_nothing() -> None:
    """A prior of one MDP: nothing to learn, and the optimal policy has no regret."""
    mdp = bb.distribution("GC").sample(generator("mdp"))
    experiment = bb.Experiment(bb.Hypotheses([mdp]), num_mdps=2, horizon=10)
    result = bb.evaluate(bb.make_agent("optimal"), experiment)
    examined = bb.autopsy(result, samples=2, prior=bb.Hypotheses([mdp]))
    assert np.abs(examined.exploring + examined.ignorance).max() < 1e-9
    assert "on " in repr(examined)


def test_what_cannot_be_examined_is_said() -> None:
    experiment = bb.Experiment("GC", num_mdps=2, horizon=5)
    result = bb.evaluate(bb.make_agent("random"), experiment)
    with pytest.raises(InvalidInput, match=r'prior = "GDL": .* played with another prior, "GC"'):
        bb.autopsy(result, prior="GDL")
    episodes = bb.Experiment("GC", num_mdps=2, horizon=6, episode=3)
    with pytest.raises(InvalidInput, match="episode = 3: autopsies need every next state"):
        bb.autopsy(bb.evaluate(bb.make_agent("random"), episodes))
