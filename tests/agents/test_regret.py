"""Regret grows as the authors of agents without a prior say: at most as the root of the time.

Regret is the sum of what each action gives up by the optimal Q-values, which has the expectation of
the returns that are lost and less noise. Its growth is the slope of its logarithm by that of the
time, with an interval over trajectories.
"""

from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from helpers.sizes import sizes

EPISODES: dict[str, int] = {"RiverSwim": 20, "DeepSea:size=5": 5}
TRAJECTORIES = 8
SUBLINEAR: list[tuple[str, dict[str, Any]]] = [
    ("ucrl2", {"scale": 0.3}),
    ("ucrl2", {"scale": 0.3, "kl": True}),
    ("ucbvi", {"scale": 0.003}),
    ("ucbvi", {"scale": 0.01, "bonus": "bernstein"}),
    ("r-max", {"visits": 20}),
]
AS_PUBLISHED = {"replan": "episode"}


def losses(problem: str, episode: int | None) -> Floats:
    """V*(x) - Q*(x, u), by decisions made in the episode: [L, S, A], or one of them."""
    mdp = distribution(problem).mean()
    if episode is None:
        solution = mdp.solve(0.95)
        return np.asarray(solution.value[:, None] - solution.q)[None]
    value, tables = np.zeros(mdp.num_states), []
    for _ in range(episode):
        worth = mdp.rewards.mean.to_dense() + value
        q = (mdp.transitions.to_dense() * worth).sum(axis=2)
        value = q.max(axis=1)
        tables.append(value[:, None] - q)
    return np.array(tables[::-1])


def regret(agent: Any, problem: str, episode: int | None, decisions: int) -> Floats:
    """The cumulative regret [n, decisions] of trajectories."""
    where: dict[str, Any] = {"episode": episode, "discount": 0.95 if episode is None else 1.0}
    experiment = bb.Experiment(problem, num_mdps=TRAJECTORIES, horizon=decisions, **where)
    result = bb.evaluate(agent, experiment, keep_paths=True)
    lost = losses(problem, episode)
    stage = np.arange(decisions) % len(lost)
    assert result.states is not None
    assert result.actions is not None
    return lost[stage, result.states[:, 0, :-1], result.actions[:, 0]].cumsum(axis=1)


def growth(lost: Floats) -> tuple[float, float]:
    """The slope of the mean regret from an eighth of the time on, and its standard error.

    The error is that of a jackknife over trajectories.
    """
    decisions = lost.shape[1]

    def slope(rows: Floats) -> float:
        early, late = rows[:, [decisions // 8 - 1, decisions - 1]].mean(axis=0)
        return float(np.log(late / early) / np.log(8))

    others = [slope(np.delete(lost, i, axis=0)) for i in range(len(lost))]
    return slope(lost), float(np.sqrt((len(lost) - 1) * np.var(others)))


@pytest.mark.slow
@pytest.mark.parametrize("decisions", sizes(16_000, 200_000))
@pytest.mark.parametrize("problem", EPISODES)
@pytest.mark.parametrize(("name", "parameters"), SUBLINEAR)
def test_regret_in_episodes_grows_at_most_as_the_root_of_time(
    name: str, parameters: dict[str, Any], problem: str, decisions: int
) -> None:
    agent = bb.make_agent(name, **parameters, **AS_PUBLISHED)
    slope, error = growth(regret(agent, problem, EPISODES[problem], decisions))
    print(f"{name} {parameters} on {problem}: {slope:.3f} ± {3 * error:.3f}")
    assert slope + 3 * error < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("decisions", sizes(20_000, 200_000))
@pytest.mark.parametrize("problem", EPISODES)
@pytest.mark.parametrize(
    ("name", "parameters"), [each for each in SUBLINEAR if each[0] in ("ucrl2", "r-max")]
)
def test_discounted_regret_grows_at_most_as_the_root_of_time(
    name: str, parameters: dict[str, Any], problem: str, decisions: int
) -> None:
    slope, error = growth(regret(bb.make_agent(name, **parameters), problem, None, decisions))
    print(f"{name} {parameters} on {problem}: {slope:.3f} ± {3 * error:.3f}")
    assert slope + 3 * error < 0.5


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["ucrl2", "ucbvi"])
def test_regret_with_the_widths_of_theory_is_sublinear(name: str) -> None:
    """It takes many episodes before they say anything; those of UCBVI are wider."""
    scale = {"ucrl2": 1.0, "ucbvi": 0.01}[name]
    agent = bb.make_agent(name, scale=scale, **AS_PUBLISHED)
    slope, error = growth(regret(agent, "RiverSwim", 20, 400_000))
    assert slope + 3 * error < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("problem", EPISODES)
def test_random_exploration_has_linear_regret(problem: str) -> None:
    """These problems are hard: who explores by chance never gets far, and the test can fail."""
    agent = bb.make_agent("q-learning", rate=1.0, decay=0.7)
    slope, error = growth(regret(agent, problem, EPISODES[problem], 16_000))
    assert slope - 3 * error > 0.9
