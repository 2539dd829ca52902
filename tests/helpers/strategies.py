"""Random priors for property tests."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from brlbench.beliefs.flat import FlatDirichlet
from brlbench.mdps.sparse import Floats

# The statistical properties need the same examples in every run.
reproducible = settings(derandomize=True, deadline=None, max_examples=25)

discounts = st.floats(0.05, 0.97)
rewards = st.floats(-10, 10)


@st.composite
def priors(draw: st.DrawFn) -> FlatDirichlet:
    """Priors of 2 to 8 states and 1 to 4 actions, sparse or dense, with counts from 0.01 to 100."""
    num_states, num_actions = draw(st.integers(2, 8)), draw(st.integers(1, 4))
    shape = (num_states, num_actions, num_states)
    counts = draw(arrays(np.float64, shape, elements=st.floats(0.01, 100), fill=st.nothing()))
    if draw(st.booleans()):
        possible = draw(arrays(np.bool_, shape))
        always = draw(arrays(np.int64, shape[:2], elements=st.integers(0, num_states - 1)))
        np.put_along_axis(possible, always[:, :, None], True, axis=2)
        counts = np.where(possible, counts, 0.0)
    variances = draw(st.none() | arrays(np.float64, shape, elements=st.floats(0, 4)))
    start: int | Floats = draw(st.integers(0, num_states - 1))
    if draw(st.booleans()):
        weights = draw(arrays(np.float64, num_states, elements=st.floats(0.1, 1)))
        start = weights / weights.sum()
    mean_rewards = draw(arrays(np.float64, shape, elements=rewards, fill=st.nothing()))
    return FlatDirichlet(counts, mean_rewards, start, variances, "drawn", "Drawn by Hypothesis")


@st.composite
def transitions(draw: st.DrawFn, prior: FlatDirichlet) -> list[tuple[int, int, int]]:
    """Up to 30 transitions among the states of a prior, possible or not."""
    state, action = st.integers(0, prior.num_states - 1), st.integers(0, prior.num_actions - 1)
    return draw(st.lists(st.tuples(state, action, state), max_size=30))
