"""Distributions of users: any object with sizes and `sample`."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.beliefs.copying import private_copy
from brlbench.beliefs.own import PARTICLES, PROBES
from brlbench.errors import InvalidInput
from brlbench.streams import generator
from helpers.own_problems import KnownRiver, River, RiverBelief, river


class Stateful(River):
    """Draws from something besides the generator."""

    def __init__(self) -> None:
        super().__init__()
        self.rng = np.random.default_rng(0)

    def sample(self, rng: np.random.Generator) -> bb.MDP:
        return river(self.rng.random())


class Large(River):
    def sample(self, rng: np.random.Generator) -> bb.MDP:
        return bb.MDP(np.full((5, 1, 5), 0.2), 0)


class Late(River):
    """Draws an MDP of another size now and then."""

    def sample(self, rng: np.random.Generator) -> Any:
        return river(0.5) if rng.random() < 0.999 else "none"


class Broken(River):
    def sample(self, rng: np.random.Generator) -> Any:
        return 1 / 0


class Numbers(River):
    def sample(self, rng: np.random.Generator) -> Any:
        return rng.random(3)


class Sizeless:
    def sample(self, rng: np.random.Generator) -> bb.MDP:
        return river(0.5)


class Forgetful(KnownRiver):
    def belief(self) -> Any:
        return object()


def own(source: Any = None, particles: int | None = None) -> Any:
    return bb.distribution(source or River(), particles)


def test_it_is_what_the_object_says() -> None:
    known = own()
    assert (known.num_states, known.num_actions, known.name) == (3, 2, "River")
    drawn = known.sample(generator("a")).transitions.values
    np.testing.assert_array_equal(drawn, River().sample(generator("a")).transitions.values)
    batch = known.draw([generator("a"), generator("b")])
    np.testing.assert_array_equal(batch.mdp(0).transitions.values, drawn)


def test_its_digest_is_of_its_draws() -> None:
    assert own().digest == own().digest == own(KnownRiver()).digest
    assert own(River(slips=3)).digest != own().digest
    assert own(particles=7).digest != own().digest
    assert pickle.loads(pickle.dumps(own())).digest == own().digest
    assert private_copy(own()).digest == own().digest


def test_particles_are_equally_likely_draws() -> None:
    told = own(particles=400).for_kernels()
    assert isinstance(told, bb.Hypotheses) and len(told) == 400
    assert len(own().for_kernels()) == PARTICLES > PROBES
    slips = [mdp.transitions.to_dense()[2, 1, 0] for mdp in told.mdps]
    assert abs(np.mean(slips) - 0.2) < 5 * np.sqrt(16 / 1100 / 400)
    expected = own(particles=400).mean().transitions.to_dense()[2, 1, 0]
    assert expected == pytest.approx(np.mean(slips))


def test_without_a_belief_of_its_own_it_has_that_of_its_particles() -> None:
    belief = own().belief()
    belief.observe(0, 1, 0, 0.0)
    exact = RiverBelief(3, 8).mean().transitions.to_dense()
    assert abs(belief.mean().transitions.to_dense() - exact).max() < 0.03


def test_its_own_belief_is_given_to_agents() -> None:
    belief = own(KnownRiver()).belief()
    belief.begin(1)  # which it does not have: start states teach it nothing
    belief.observe(0, 1, 0, 0.0)
    assert (belief.slips, belief.swims) == (3, 8)
    assert (copy.deepcopy(belief).slips, own(KnownRiver()).belief().slips) == (3, 2)


def test_its_own_belief_can_learn_from_start_states() -> None:
    class Begun(RiverBelief):
        def begin(self, state: int) -> None:
            self.slips += 10 * state

    class Known(KnownRiver):
        def belief(self) -> Any:
            return Begun(self.slips, self.swims)

    belief = own(Known()).belief()
    assert isinstance(belief, Begun)
    belief.begin(1)
    assert belief.slips == 12


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Stateful(), "Stateful.sample draws other MDPs from an equal generator: draw from the"),
        (Large(), "Large.sample returned an MDP of 5 states and 1 action: must have 3 and 2"),
        (Broken(), "Broken.sample failed: ZeroDivisionError: division by zero"),
        (Numbers(), "Numbers.sample returned .*: must return a brlbench.MDP"),
        (Sizeless(), "Sizeless has no num_states: a distribution has num_states, num_actions and"),
    ],
)
def test_objects_that_are_no_distributions(source: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        bb.Experiment(source)


def test_every_draw_is_checked() -> None:
    with pytest.raises(InvalidInput, match=r"Late.sample returned 'none': must return a"):
        own(Late()).draw([generator("late", i) for i in range(10_000)])


def test_a_belief_without_methods_is_refused() -> None:
    with pytest.raises(
        InvalidInput, match=r"Forgetful.belief\(\) returns object, which has no obs"
    ):
        own(Forgetful()).belief()


def test_particles_are_for_distributions_of_users() -> None:
    with pytest.raises(InvalidInput, match="particles = 5: only for distributions of your own"):
        bb.distribution("GC", particles=5)
    with pytest.raises(InvalidInput, match="particles = 0: must be a whole number at least 1"):
        own(particles=0)
