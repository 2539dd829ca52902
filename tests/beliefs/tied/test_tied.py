"""A tied prior against flat ones, and against Beta posteriors in closed form."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import brlbench as bb
from brlbench.errors import InvalidInput
from brlbench.streams import generator
from helpers.own_problems import RiverBelief, river, tied_river
from helpers.strategies import reproducible, transitions


@st.composite
def twins(draw: st.DrawFn) -> tuple[bb.TiedDirichlet, bb.FlatDirichlet]:
    """A tied prior with a group per pair, and the flat prior that it is."""
    states, actions = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    pairs = states * actions
    count = st.floats(0.05, 20)
    counts = np.array(draw(st.lists(count, min_size=pairs * states, max_size=pairs * states)))
    orders = [draw(st.permutations(range(states))) for _ in range(pairs)]
    following = np.array(orders).reshape(states, actions, states)
    rewards = np.arange(states)
    group = np.arange(pairs).reshape(states, actions)
    tied = bb.TiedDirichlet(counts.reshape(pairs, states), group, following, rewards, "uniform")
    dense = np.zeros((pairs, states))
    np.put_along_axis(dense, np.array(orders), counts.reshape(pairs, states), axis=1)
    flat = bb.FlatDirichlet(dense.reshape(states, actions, states), rewards, "uniform")
    return tied, flat


def dense(mdp: bb.MDP) -> Any:
    return mdp.transitions.to_dense()


def test_a_belief_holds_counts_and_no_history() -> None:
    """The more often a transition is seen, the more it counts; what is held stays as small."""
    for prior in (tied_river(), bb.FlatDirichlet(np.full((3, 2, 3), 0.1), 0)):
        belief, sizes = prior.belief(), []
        for times in (3, 50):
            for _ in range(times):
                belief.observe(0, 1, 1, 0.0)
            sizes.append(len(pickle.dumps(belief)))
        assert sizes[0] == sizes[1]
        belief.observe(2, 1, 0, 0.0)
        mark = belief.mark()
        belief.observe(2, 1, 0, 0.0)
        seen = 53 * [(0, 1, 1)] + 2 * [(2, 1, 0)]
        expected = prior.posterior(seen).counts.values
        np.testing.assert_array_equal(belief.counts().values, expected)
        belief.undo(mark)
        expected = prior.posterior(seen[:-1]).counts.values
        np.testing.assert_array_equal(belief.counts().values, expected)


@reproducible
@given(twins(), st.data())
def test_a_group_per_pair_is_a_flat_prior(
    pair: tuple[bb.TiedDirichlet, bb.FlatDirichlet], data: st.DataObject
) -> None:
    tied, flat = pair
    seen = data.draw(transitions(flat))
    beliefs = tied.belief(), flat.belief()
    for x, u, y in seen:
        for belief in beliefs:
            belief.observe(x, u, y, 0.0)
    one, other = beliefs
    np.testing.assert_allclose(dense(one.mean()), dense(other.mean()), rtol=1e-12)
    np.testing.assert_array_equal(one.counts().to_dense(), other.counts().to_dense())
    np.testing.assert_array_equal(
        tied.posterior(seen).counts.to_dense(), flat.posterior(seen).counts.to_dense()
    )
    for x, u in np.ndindex(flat.num_states, flat.num_actions):
        np.testing.assert_allclose(one.predictive(x, u)[0], other.predictive(x, u)[0], rtol=1e-12)
        assert one.predictive(x, u)[1] == pytest.approx(other.predictive(x, u)[1])


def test_in_the_same_order_it_draws_the_same_mdps() -> None:
    flat = bb.distribution("uniform:GDL")
    states, actions = flat.num_states, flat.num_actions
    group = np.arange(states * actions).reshape(states, actions)
    following = np.broadcast_to(np.arange(states), (states, actions, states))
    counts = flat.counts.to_dense().reshape(-1, states)
    tied = bb.TiedDirichlet(counts, group, following, flat.rewards, flat.start)
    one, other = (each.draw([generator("a"), generator("b")]) for each in (tied, flat))
    assert one.probability.tobytes() == other.probability.tobytes()
    assert one.have_frame(other)


def test_a_transition_teaches_about_all_pairs_of_its_group() -> None:
    belief, exact = tied_river().belief(), RiverBelief(2, 8)
    for transition in [(0, 1, 1), (1, 1, 2), (2, 1, 0), (1, 0, 0)]:
        belief.observe(*transition, 0.0)
        exact.observe(*transition, 0.0)
    np.testing.assert_allclose(dense(belief.mean()), dense(exact.mean()), rtol=1e-12)
    assert dense(belief.mean())[2, 1, 0] == pytest.approx(3 / 13)


def test_draws_are_those_of_the_shared_row() -> None:
    drawn = tied_river().draw([generator("tied", i) for i in range(3000)])
    entry = {place: i for i, place in enumerate(drawn.places.place.tolist())}
    slips = [drawn.probability[:, entry[(x * 2 + 1) * 3]] for x in range(3)]
    np.testing.assert_array_equal(slips[0], slips[1])
    np.testing.assert_array_equal(slips[0], slips[2])
    # Beta(2, 8): mean 0.2, variance 2 * 8 / (10**2 * 11).
    assert abs(slips[0].mean() - 0.2) < 5 * np.sqrt(16 / 1100 / 3000)
    np.testing.assert_allclose(slips[0].var(), 16 / 1100, rtol=0.15)
    np.testing.assert_allclose(dense(drawn.mdp(7)), dense(river(slips[0][7])))


@reproducible
@given(st.lists(st.tuples(*[st.integers(0, 2), st.integers(0, 1), st.integers(0, 2)])), st.data())
def test_undo_is_exact(seen: list[tuple[int, int, int]], data: st.DataObject) -> None:
    belief = tied_river().belief()
    number = data.draw(st.integers(0, len(seen)))
    for transition in seen[:number]:
        belief.observe(*transition, 0.0)
    before, mark = belief.counts().content(), belief.mark()
    for transition in seen[number:]:
        belief.observe(*transition, 0.0)
    belief.undo(mark)
    assert belief.counts().content() == before


def test_a_transition_of_no_outcome_teaches_nothing() -> None:
    prior = tied_river()
    assert prior.posterior([(0, 0, 2)]).content() == prior.content()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"counts": [[1.0, -1.0]]},
            "the count at group 0, outcome 1 is -1.0: must not be negative",
        ),
        ({"counts": [[0.0, 0.0]]}, "the counts of group 0 are all zero: give it an outcome"),
        ({"counts": [1.0, 2.0]}, r"counts has shape \[2\]: must be \[groups, outcomes\]"),
        ({"counts": [[1.0, np.inf]]}, r"counts\[0, 1\] = inf: must be finite"),
        ({"group": [[0], [3]]}, "group 3 is out of range: must be 0 to 0"),
        ({"group": [0, 0]}, r"group has shape \[2\]: must be \[2, 1\]"),
        ({"next_state": [[[0, 0]], [[0, 1]]]}, "several outcomes lead to .state 0, action 0"),
        ({"next_state": [[[0, 2]], [[0, 1]]]}, "next_state 2 is out of range: must be 0 to 1"),
        ({"next_state": [[[0]], [[1]]]}, r"must be \[states, actions, 2\], one state per outcome"),
    ],
)
def test_refused(changes: dict[str, Any], message: str) -> None:
    arguments = {
        "counts": [[1.0, 2.0]],
        "group": [[0], [0]],
        "next_state": [[[0, 1]], [[0, 1]]],
        "rewards": 0,
        **changes,
    }
    with pytest.raises(InvalidInput, match=message):
        bb.TiedDirichlet(**arguments)
