import math
from collections.abc import Iterator
from dataclasses import replace
from statistics import stdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from brlbench.analysis.bounds import Best, Comparison
from brlbench.analysis.racing import run_race
from brlbench.errors import InvalidInput
from brlbench.mdps.sparse import Floats
from brlbench.results.result import Stopped
from brlbench.results.score import ci95
from brlbench.results.summary import RACE, Summary
from helpers.strategies import reproducible

TIMES = (0.0, 0.5, 1.0, 2.0, 10.0)
PROBES = (-1.0, *TIMES, 0.75, math.inf)


def summary(algorithm: str, offline: float, online: float, returns: Floats) -> Summary:
    times = {"offline": offline, "processor": online, "max": 2 * online}
    return Summary(algorithm, {}, algorithm, returns, times, {})


@st.composite
def summaries(draw: st.DrawFn) -> list[Summary]:
    """Few values of times and of returns, so that ties are common."""
    num_mdps = draw(st.integers(1, 9))
    returns = st.lists(st.integers(0, 4), min_size=num_mdps, max_size=num_mdps)
    agents = st.tuples(
        st.sampled_from("abcd"), st.sampled_from(TIMES), st.sampled_from(TIMES), returns
    )
    return [
        summary(algorithm, offline, online, np.array(row, dtype=np.float64))
        for algorithm, offline, online, row in draw(st.lists(agents, min_size=1, max_size=9))
    ]


def by_brute_force(
    agents: list[Summary], offline: float, online: float, level: float, honest: bool
) -> Best | None:
    """The definition, word by word."""
    number = len(agents[0].returns)
    quarter = max(1, number // 4)
    choosing = [list(agent.returns)[: quarter if honest else number] for agent in agents]
    testing = [list(agent.returns)[quarter if honest else 0 :] for agent in agents]
    times = [agent.seconds for agent in agents]
    allowed = [
        i for i, t in enumerate(times) if t["offline"] <= offline and t["processor"] <= online
    ]
    kept: list[int] = []
    for algorithm in {agents[i].algorithm for i in allowed}:
        own = [i for i in allowed if agents[i].algorithm == algorithm]
        kept.append(min(own, key=lambda i: (-sum(choosing[i]), i)))
    kept.sort(key=lambda i: (-sum(choosing[i]), i))
    if not kept:
        return None
    winners = []
    for i in kept:
        differences = [x - y for x, y in zip(testing[kept[0]], testing[i], strict=True)]
        if len(differences) < 2 or sum(differences) <= 0:
            winners.append(i)  # not worse at all, or nothing to test with
        elif stdev(differences) > 0:
            error = stdev(differences) / math.sqrt(len(differences))
            limit = student.ppf(level, len(differences) - 1)
            if sum(differences) / len(differences) / error < limit:
                winners.append(i)
    return Best(kept, winners)


@settings(reproducible, max_examples=30)
@given(summaries(), st.sampled_from([0.6, 0.95]), st.booleans())
def test_regions_are_what_brute_force_finds(
    agents: list[Summary], level: float, honest: bool
) -> None:
    comparison = Comparison(agents, level, honest)
    regions = comparison.regions()
    for offline in PROBES:
        for online in PROBES:
            expected = by_brute_force(agents, offline, online, level, honest)
            assert comparison.within(offline, online) == expected
            assert regions.at(offline, online) == expected


def test_regions_of_many_agents() -> None:
    rng = np.random.default_rng(3)
    shared = rng.standard_normal(50)
    agents = [
        summary(f"{i % 7}", offline, online, shared + rng.standard_normal(50))
        for i, (offline, online) in enumerate(rng.exponential(size=(60, 2)).tolist())
    ]
    comparison = Comparison(agents)
    regions = comparison.regions()
    assert regions.online_edges[0] == min(agent.seconds["processor"] for agent in agents)
    assert regions.offline_edges[-1] == max(agent.seconds["offline"] for agent in agents)
    for offline, online in rng.exponential(size=(200, 2)).tolist():
        assert regions.at(offline, online) == comparison.within(offline, online)
        assert comparison.within(offline, online) == by_brute_force(
            agents, offline, online, 0.95, True
        )


def test_regions_have_no_edges_for_agents_that_are_never_best() -> None:
    agents = [agent("slow", score=-i, offline=1 + i, online=400 - i) for i in range(200)]
    agents += [agent("useless", score=-i, offline=3 + i, online=3 + i) for i in range(200)]
    regions = Comparison(agents).regions()
    assert regions.cells.shape == (201, 201)  # and not (202, 401): slow, and the first useless


def agent(algorithm: str, score: float, offline: float = 1.0, online: float = 1.0) -> Summary:
    """An agent whose returns are its score and the same small noise for all but one."""
    noise = np.tile([0.1, -0.1, 0.3, -0.3], 10)
    return summary(algorithm, offline, online, score + noise)


def test_winners_are_those_not_significantly_worse() -> None:
    rng = np.random.default_rng(0)
    best = agent("best", 10)
    close = replace(best, algorithm="close", returns=best.returns - 0.01 + rng.normal(size=40))
    far = replace(best, algorithm="far", returns=best.returns - 3 + rng.normal(size=40))
    found = Comparison([far, close, best]).within()
    assert found is not None
    assert found.best_of_algorithm[-1] == 0
    assert sorted(found.winners) == [1, 2]


def test_the_same_difference_on_every_mdp_is_certain() -> None:
    found = Comparison([agent("worse", 9.999), agent("better", 10)]).within()
    assert found == Best([1, 0], [1])


def test_equal_agents_all_win_and_the_first_comes_first() -> None:
    found = Comparison([agent("a", 10), agent("b", 10), agent("a", 10)]).within()
    assert found == Best([0, 1], [0, 1])


def test_an_honest_choice_is_tested_on_other_mdps() -> None:
    lucky = np.zeros(40)
    lucky[:10] = 5  # good only where agents are chosen
    steady = np.full(40, 3.0)
    agents = [summary("a", 1, 1, lucky), summary("b", 1, 1, steady)]
    assert Comparison(agents).within() == Best([0, 1], [0, 1])  # by default
    assert Comparison(agents).pair(0, 1)[0].tolist() == [0.0] * 30
    assert Comparison(agents, honest=False).within() == Best([1, 0], [1])
    assert len(Comparison(agents, honest=False).pair(0, 1)[0]) == 40


@pytest.mark.parametrize(
    ("num_mdps", "choosing"), [(1, 1), (2, 1), (3, 1), (7, 1), (8, 2), (30, 7), (500, 125)]
)
def test_a_quarter_of_the_mdps_chooses(num_mdps: int, choosing: int) -> None:
    comparison = Comparison(
        [agent_of("a", np.arange(float(num_mdps))), agent_of("b", np.zeros(num_mdps))]
    )
    assert (comparison.num_choosing, comparison.num_tested) == (choosing, num_mdps - choosing)
    best = comparison.within()
    assert best is not None
    assert len(best.best_of_algorithm) == 2  # an answer, however few there are
    assert len(comparison.pair(0, 1)[0]) == num_mdps - choosing


def agent_of(algorithm: str, returns: Floats, rule: str | None = None) -> Summary:
    stopped = None if rule is None else Stopped(rule, "stopped")
    return replace(summary(algorithm, 1, 1, np.asarray(returns, np.float64)), stopped=stopped)


def test_agents_that_a_race_dropped_are_tested_on_all_mdps_that_they_played() -> None:
    """Also if it dropped them before the MDPs that test others: the race is a test of its own."""
    rng = np.random.default_rng(0)
    shared = 10 * rng.standard_normal(400)
    best, close = (mean + shared + rng.standard_normal(400) for mean in (0.1, 0))
    worse, alike = ((shared - gap + rng.standard_normal(400))[:25] for gap in (5, 0))
    agents = [
        agent_of("best", best),
        agent_of("close", close),
        agent_of("worse", worse, RACE),
        agent_of("alike", alike, RACE),
    ]
    comparison = Comparison(agents)
    assert comparison.num_choosing == 100
    for first in (0, 1):
        z, numbers = comparison.z_against(first, [1 - first, 2, 3])
        assert numbers.tolist() == [300, 25, 25]
        assert len(comparison.pair(first, 2)[0]) == 25
        assert z[1] > 10
    assert comparison.z_against(2, [3])[1].tolist() == [25]
    found = comparison.within()
    assert found is not None
    assert sorted(found.winners) == [0, 1, 3]
    assert comparison.stability(9, 9, rng, resamples=50)["worse"] == 0


@pytest.mark.parametrize("honest", [True, False])
def test_widths_are_those_of_intervals_of_pairs(honest: bool) -> None:
    """Also of agents that stopped, one of them on the first MDP."""
    returns = np.random.default_rng(1).exponential(size=(4, 40))
    cut = [(returns[2][:25], RACE), (returns[3][:25], "until"), (returns[3][:1], RACE)]
    agents = [
        agent_of(str(i), *each) for i, each in enumerate([(returns[0],), (returns[1],), *cut])
    ]
    comparison = Comparison(agents, honest=honest)
    for first in range(5):
        pairs = [comparison.pair(first, i) for i in range(5)]
        expected = np.nan_to_num([ci95(one - other) for one, other in pairs])
        assert comparison.widths_against(first, range(5)) == pytest.approx(expected, abs=1e-14)


def test_a_quarter_of_the_mdps_that_all_played_chooses() -> None:
    """An agent that stopped with a narrow interval leaves MDPs to test it on."""
    rng = np.random.default_rng(1)
    agents = [
        agent_of("a", rng.standard_normal(400)),
        agent_of("b", rng.standard_normal(60), "until-0.5"),
        agent_of("c", rng.standard_normal(10), RACE),
    ]
    comparison = Comparison(agents)
    assert (comparison.num_choosing, comparison.num_tested) == (15, 385)
    assert len(comparison.pair(0, 1)[0]) == 45


def test_few_agents_that_are_equally_good_are_called_worse() -> None:
    """Of ten agents of one algorithm and one of another, all alike; also if they race first."""
    rng = np.random.default_rng(2)
    alarms = {(way, raced): 0 for way in (True, False) for raced in (True, False)}
    studies = 400
    for _ in range(studies):
        returns = 3 * rng.exponential(size=120) + rng.exponential(size=(11, 120))
        for way, raced in alarms:
            single, *grid = returns
            agents = [agent_of("single", single), *(agent_of("grid", row) for row in grid)]
            if raced:
                ends = run_race(returns, np.zeros((11, 2), np.int64))
                agents = [
                    agent if end == 120 else agent_of(agent.algorithm, agent.returns[:end], RACE)
                    for agent, end in zip(agents, ends.tolist(), strict=True)
                ]
            best = Comparison(agents, honest=way).within()
            assert best is not None
            alarms[way, raced] += 0 not in best.winners
    assert max(alarms[True, raced] for raced in (True, False)) <= studies * 0.05 + 4 * math.sqrt(19)
    assert min(alarms[False, raced] for raced in (True, False)) > 0.2 * studies


def test_the_sequence_as_the_online_bound_grows() -> None:
    agents = [
        agent("random", 1, online=0.1),
        agent("beb", 5, online=2),
        agent("beb", 4, online=1),
        agent("egreedy", 5, online=2),
        agent("random", 0, online=5),
        agent("opps", 9, offline=50, online=3),
    ]
    comparison = Comparison(agents)
    assert comparison.sequence(49) == [
        (0.1, ["random"]), (1, ["beb"]), (2, ["beb", "egreedy"]),
    ]  # fmt: skip
    assert comparison.sequence()[-1] == (3, ["opps"])
    assert comparison.sequence(0.5) == []


def test_the_online_bound_applies_to_the_chosen_feature() -> None:
    agents = [agent("slow", 5, online=2), agent("fast", 1, online=1)]
    assert Comparison(agents).within(online=3) == Best([0, 1], [0])
    assert Comparison(agents, online="max").within(online=3) == Best([1], [1])


def test_stability_of_certain_and_of_equal_agents() -> None:
    rng = np.random.default_rng(0)
    certain = Comparison([agent("a", 10), agent("b", 5)])
    assert certain.stability(9, 9, rng) == {"a": 1.0, "b": 0.0}
    equal = Comparison([agent("a", 10), agent("b", 10)])
    assert equal.stability(9, 9, rng) == {"a": 1.0, "b": 1.0}
    assert equal.stability(0, 0, rng) == {}


@pytest.mark.parametrize("honest", [False, True])
def test_stability_counts_wins_of_resamples(honest: bool) -> None:
    data = np.random.default_rng(1)
    returns = data.standard_normal((4, 60)) + np.array([0, 0.1, 0.3, -5])[:, None]
    agents = [summary(name, 1, 1, row) for name, row in zip("abcd", returns, strict=True)]
    found = Comparison(agents, honest=honest).stability(9, 9, np.random.default_rng(2), 400)
    assert list(found) == list("abcd")
    assert 1 <= sum(found.values()) <= 4  # at least one wins every time
    assert found["c"] > 0.8
    assert found["d"] == 0
    again = Comparison(agents, honest=honest).stability(9, 9, np.random.default_rng(2), 400)
    assert found == again


def test_stability_against_the_definition() -> None:
    returns = np.random.default_rng(4).standard_normal((3, 30))
    agents = [summary(name, 1, 1, row) for name, row in zip("abc", returns, strict=True)]

    def resampled() -> Iterator[Comparison]:
        for chosen in np.random.default_rng(5).integers(0, 30, size=(200, 30)):
            resampled = [replace(a, returns=a.returns[chosen]) for a in agents]
            yield Comparison(resampled, honest=False)

    wins = dict.fromkeys("abc", 0)
    for comparison in resampled():
        best = comparison.within()
        assert best is not None
        for i in best.winners:
            wins["abc"[i]] += 1
    found = Comparison(agents, honest=False).stability(9, 9, np.random.default_rng(5), 200)
    assert found == {name: number / 200 for name, number in wins.items()}


@pytest.mark.parametrize("honest", [False, True])
def test_no_agents(honest: bool) -> None:
    nobody = Comparison([], honest=honest)
    assert nobody.within() is None
    assert nobody.regions().at(1, 1) is None
    assert nobody.sequence() == []


def test_unlike_numbers_of_mdps_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"played \[3, 4\] MDPs can't be compared"):
        Comparison([summary("a", 1, 1, np.zeros(n)) for n in (3, 4)])


@pytest.mark.parametrize("level", [0, 1, -1, 95])
def test_impossible_levels_are_refused(level: float) -> None:
    with pytest.raises(InvalidInput, match=r"level = .*: must be a number between 0 and 1"):
        Comparison([], level)
