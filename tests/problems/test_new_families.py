"""Problems whose priors are tied or sets of MDPs, and problems with other numbers of states."""

import numpy as np
import pytest

from brlbench.beliefs.hypotheses import Hypotheses
from brlbench.errors import InvalidInput
from brlbench.problems import distribution


def slips(name: str) -> np.ndarray:
    """The probabilities [S, A] of slipping in some drawn MDP."""
    drawn = distribution(name).sample(np.random.default_rng(5)).transitions.to_dense()
    return np.stack([drawn[:, 0, 0], 1 - drawn[:, 1, 0]], axis=1)


def test_chains_whose_slips_are_unknown() -> None:
    tied, semi = slips("Chain:prior=tied"), slips("Chain:prior=semi")
    np.testing.assert_allclose(tied, tied[0, 0], rtol=1e-12)
    np.testing.assert_allclose(semi, np.tile(semi[0], (5, 1)), rtol=1e-12)
    assert abs(semi[0, 0] - semi[0, 1]) > 0.01
    full, chain = distribution("Chain:prior=full"), distribution("Chain")
    assert full.digest == chain.uniform().digest


@pytest.mark.parametrize("prior", ["tied", "semi"])
def test_the_chain_is_one_of_them(prior: str) -> None:
    """With the slips of Dearden's chain, rows and rewards are its own."""
    unknown, chain = distribution(f"Chain:prior={prior}"), distribution("Chain").mean()
    rows = np.tile([0.8, 0.2], (len(unknown.group_counts), 1)).ravel()
    table = unknown.counts.replace(rows[unknown.cell])
    np.testing.assert_allclose(table.to_dense(), chain.transitions.to_dense(), rtol=1e-12)
    rewards = unknown.rewards.mean.at(unknown.counts)
    np.testing.assert_array_equal(rewards, chain.rewards.mean.at(unknown.counts))


def test_chain_refuses_other_priors() -> None:
    with pytest.raises(InvalidInput, match=r"Chain: prior = 'loose': must be .*\"tied\" or"):
        distribution("Chain:prior=loose")


def test_goal_grid() -> None:
    """One MDP per cell away from the start, which pays in that cell alone."""
    grid = distribution("GoalGrid:size=4")
    assert isinstance(grid, Hypotheses)
    goals = [goal for goal in range(16) if goal not in (0, 1, 4, 5)]
    assert len(grid) == len(goals)
    for goal, index in zip(goals, range(len(grid)), strict=True):
        mdp = grid.mdps.mdp(index)
        steps = mdp.transitions.to_dense()
        paid = np.einsum("xuy,xuy->xuy", steps, mdp.rewards.mean.to_dense())
        assert set(np.flatnonzero(paid.sum(axis=(0, 1)))) == {goal}
        # The best return from the start: nothing on the way, then 1 for each step.
        distance = goal // 4 + goal % 4
        value = mdp.solve(0.9).value[0]
        assert value == pytest.approx(0.9 ** (distance - 1) / (1 - 0.9))
    assert set(np.unique(steps)) == {0.0, 1.0}


@pytest.mark.parametrize("name", ["GC", "Chain", "Chain:prior=semi", "GoalGrid:size=3"])
def test_renumbered_states(name: str) -> None:
    """The same law under other names: values are permuted, in the mean MDP and in hypotheses."""
    before, after = distribution(name), distribution(f"renumbered:7:{name}")
    assert type(after) is type(before)
    assert after.name == f"renumbered:7:{name}"
    assert after.digest != before.digest
    again = distribution(f"renumbered:7:{name}")
    assert after.digest == again.digest
    old, new = before.mean().solve(0.9), after.mean().solve(0.9)
    np.testing.assert_allclose(np.sort(old.value), np.sort(new.value), rtol=1e-10)
    start = after.start.argmax()
    assert new.value[start] == pytest.approx(old.value[before.start.argmax()], rel=1e-10)
    if isinstance(before, Hypotheses):  # the same one is drawn
        rngs = np.random.default_rng(3), np.random.default_rng(3)
        draws = zip((before, after), rngs, strict=True)
        drawn = [each.sample(rng).solve(0.9).value for each, rng in draws]
        np.testing.assert_allclose(np.sort(drawn[0]), np.sort(drawn[1]), rtol=1e-10)


def test_numbers_of_permutations() -> None:
    with pytest.raises(InvalidInput, match="renumbered: the seed = -1"):
        distribution("renumbered:-1:GC")
    assert distribution("renumbered:1:GC").digest != distribution("renumbered:2:GC").digest


def test_prefixes_that_need_counts() -> None:
    with pytest.raises(InvalidInput, match="scaled:GoalGrid: scaled: changes flat Dirichlet"):
        distribution("scaled:2:GoalGrid")
