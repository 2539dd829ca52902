"""Experiments: a prior, MDPs drawn from a test distribution, a discount and a horizon."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .. import streams
from ..agents.base import Task
from ..errors import InvalidInput, short
from ..mdps.dirichlet import FlatDirichlet
from ..mdps.mdp import MDP, check_discount
from ..mdps.sparse import Floats, Integers
from ..memory import check_memory
from ..problems import distribution
from ..streams import Words
from ..values import COUNT, INDEX, POSITIVE, check

DEFAULT_HORIZON = 250
_MOST_HELD = 2**23  # numbers; more MDPs than that are drawn again where they are needed
_DECISIONS_AT_ONCE = 2**20
BYTES_PER_TRAJECTORY = 64  # for its return, its times and its seeds
_BYTES_PER_DECISION = 128  # of a trajectory, while it is played, with what agents count
DRAWN = "drawn"
"""The origin of MDPs that depend on the test distribution, the seed and their number alone."""
ARGUMENTS = ("num_mdps", "discount", "horizon", "trajectories_per_mdp", "seed", "deadline")
"""The arguments of an experiment that are numbers."""


class Experiment:
    """An experiment: agents are trained on the prior and play MDPs of the test distribution.

    MDP i and the noise in it depend on the content of the test distribution, the seed and i alone.
    """

    def __init__(
        self,
        prior: str | Path | FlatDirichlet,
        test: str | Path | FlatDirichlet | None = None,
        num_mdps: int = 500,
        discount: float = 0.95,
        horizon: int | None = None,
        seed: int = 0,
        accuracy: float | None = None,
        trajectories_per_mdp: int = 1,
        deadline: float | None = None,
        mdps: Floats | None = None,
        origin: str | None = None,
    ) -> None:
        """Validate.

        Args:
            prior: what agents are trained on: a problem's name, a file, or a distribution.
            test: what the MDPs are drawn from; by default the prior.
            num_mdps: how many MDPs are drawn.
            discount: the discount factor, between 0 and 1.
            horizon: decisions per trajectory; 250 if neither this nor `accuracy` is given.
            seed: the seed of everything that is random.
            accuracy: instead of `horizon`, how much of the return may be cut off.
            trajectories_per_mdp: how many trajectories are played in each MDP.
            deadline: seconds that a decision may take; agents that can stop early keep it.
            mdps: probabilities [num_mdps, E] of MDPs of your own, which need not come from `test`.
                Then there are no adjusted scores.
            origin: where the MDPs come from: a frozen set's name, or "drawn" if they were drawn
                from `test` before. Experiments of one origin that differ only in the number of MDPs
                begin with the same MDPs.
        """
        test = prior if test is None else test
        self.prior, self.test = distribution(prior).as_prior(), distribution(test)
        _check_same_world(self.prior, self.test)
        self.num_mdps = check(num_mdps, "num_mdps", COUNT)
        self.discount = check_discount(discount)
        self.seed = check(seed, "seed", INDEX)
        self.trajectories_per_mdp = check(trajectories_per_mdp, "trajectories_per_mdp", COUNT)
        self.deadline = None if deadline is None else check(deadline, "deadline", POSITIVE)
        if horizon is not None and accuracy is not None:
            raise InvalidInput(
                f"horizon = {short(horizon)} and accuracy = {short(accuracy)}: give one of them, "
                "not both"
            )
        if accuracy is not None:
            horizon = horizon_for(accuracy, self.discount, self.test.max_reward)
        self.horizon = check(DEFAULT_HORIZON if horizon is None else horizon, "horizon", COUNT)
        self._check_memory()
        self.given_mdps = None if mdps is None else self._check_mdps(mdps)
        self.origin = origin if origin or mdps is not None else DRAWN

    def _check_memory(self) -> None:
        mdps, per_mdp = short(self.num_mdps), short(self.trajectories_per_mdp)
        what = f"num_mdps = {mdps} with trajectories_per_mdp = {per_mdp}"
        check_memory(self.num_trajectories * BYTES_PER_TRAJECTORY, what, "play fewer")
        check_horizon(self.horizon)

    def _check_mdps(self, mdps: Floats) -> Floats:
        shape = (self.num_mdps, len(self.test.counts.values))
        if mdps.size != math.prod(shape):
            raise InvalidInput(f"mdps has {mdps.size} numbers: must have shape {list(shape)}")
        return _read_only(np.ascontiguousarray(mdps).reshape(shape))

    def replace(self, **changes: Any) -> "Experiment":
        """The same experiment with other arguments; with the same MDPs unless others are given."""
        mdps = self.probabilities if self.holds_mdps and "mdps" not in changes else None
        settings = {**self.arguments(), "mdps": mdps, "origin": self.origin, **changes}
        return Experiment(self.prior, self.test, **settings)

    def arguments(self) -> dict[str, Any]:
        """Arguments that, with distributions and MDPs, make the experiment again."""
        return {name: getattr(self, name) for name in ARGUMENTS}

    def __repr__(self) -> str:
        return (
            f"Experiment({self.name}: {self.num_mdps} MDPs, discount {self.discount}, "
            f"horizon {self.horizon}, seed {self.seed})"
        )

    @property
    def name(self) -> str:
        """The test distribution's name, and the prior's if it differs."""
        prior, test = self.prior.name or "unnamed", self.test.name or "unnamed"
        accurate = self.prior.digest == self.test.as_prior().digest
        return test if accurate else f"{test} from {prior}"

    @property
    def num_trajectories(self) -> int:
        """The total number of trajectories."""
        return self.num_mdps * self.trajectories_per_mdp

    @property
    def task(self) -> Task:
        """The discount, horizon and deadline, which agents are told besides the prior."""
        return Task(self.discount, self.horizon, self.deadline)

    @property
    def trajectories_at_once(self) -> int:
        """The number of trajectories that fit in little memory together, at least 1."""
        numbers = 1 if self.holds_mdps else len(self.test.counts.values)
        return max(1, min(_DECISIONS_AT_ONCE // self.horizon, _MOST_HELD // numbers))

    @property
    def holds_mdps(self) -> bool:
        """False if the MDPs are too many to be held: they are drawn again for each part."""
        numbers = self.num_mdps * len(self.test.counts.values)
        return self.given_mdps is not None or numbers <= _MOST_HELD

    @cached_property
    def probabilities(self) -> Floats:
        """The transition probabilities [num_mdps, E] of the MDPs, entries as in `test.counts`."""
        if self.given_mdps is not None:
            return self.given_mdps
        return _read_only(draw_mdps(self.test, self.seed, range(self.num_mdps)))

    def probabilities_of(self, mdps: range) -> Floats:
        """The transition probabilities [n, E] of some consecutive MDPs."""
        if self.holds_mdps:
            return self.probabilities[mdps.start : mdps.stop]
        return _read_only(draw_mdps(self.test, self.seed, mdps))

    def mdp(self, index: int) -> MDP:
        """One of the MDPs."""
        number = range(self.num_mdps)[index]
        probabilities = self.probabilities_of(range(number, number + 1))[0]
        table = self.test.counts.replace(probabilities.copy())
        return MDP(table, self.test.rewards, self.test.start)

    @cached_property
    def noise_words(self) -> Words:
        """The seed of the environment's noise in each trajectory, the same for all agents."""
        names = ("noise", self.test.digest, self.seed)
        keys = streams.keys(names, self.numbers_of(range(self.num_trajectories)))
        return streams.first_words(keys)[:, 0].copy()

    def mdps_of(self, trajectories: range) -> tuple[Floats, Integers]:
        """The MDPs [n, E] of consecutive trajectories, and each trajectory's place among them."""
        mdps = np.asarray(trajectories) // self.trajectories_per_mdp
        return self.probabilities_of(range(mdps[0], mdps[-1] + 1)), mdps - mdps[0]

    def numbers_of(self, trajectories: range) -> Iterator[tuple[int, int]]:
        """The MDP of each trajectory, and the trajectory's number within that MDP."""
        return (divmod(index, self.trajectories_per_mdp) for index in trajectories)

    def settings(self) -> dict[str, Any]:
        """The experiment as plain data, for a file's metadata; distributions by name and digest."""
        return {
            "name": self.name,
            "prior": self.prior.name,
            "prior_digest": self.prior.digest,
            "test": self.test.name,
            "test_digest": self.test.as_prior().digest,
            **self.arguments(),
            "origin": self.origin,
        }

    @cached_property
    def hash(self) -> str:
        """A SHA-256 digest of the settings and the MDPs, without names, deadline and origin.

        Leaving the deadline out makes agents with and without one comparable.
        """
        left_out = ("name", "prior", "test", "deadline", "origin")
        settings = {key: value for key, value in self.settings().items() if key not in left_out}
        # Hashes of the frozen sets are computed with this name.
        settings["trajectories"] = settings.pop("trajectories_per_mdp")
        text = json.dumps(settings, sort_keys=True)
        digest = hashlib.sha256(text.encode())
        size = max(1, _MOST_HELD // len(self.test.counts.values))
        for first in range(0, self.num_mdps, size):
            mdps = range(first, min(first + size, self.num_mdps))
            digest.update(self.probabilities_of(mdps).tobytes())
        return digest.hexdigest()


def _read_only(array: Floats) -> Floats:
    view = array.view()
    view.flags.writeable = False
    return view


def draw_mdps(test: FlatDirichlet, seed: int, indices: Iterable[int]) -> Floats:
    """The transition probabilities [n, E] of some of an experiment's MDPs."""
    return test.sample_many([streams.generator("mdp", test.digest, seed, i) for i in indices])


def horizon_for(accuracy: float, discount: float, max_reward: float) -> int:
    """The number of decisions after which the rest of a return is below the accuracy."""
    check(accuracy, "accuracy", POSITIVE)
    if max_reward == 0 or accuracy * (1 - discount) >= max_reward:
        return 1
    part = math.log(accuracy) + math.log(1 - discount) - math.log(max_reward)
    # The paper's sum runs from t = 0 to T, which is T + 1 decisions.
    return math.floor(part / math.log(discount)) + 1


def check_horizon(horizon: int) -> None:
    """Raise if a trajectory is longer than fits in memory."""
    needed = horizon * _BYTES_PER_DECISION
    check_memory(needed, f"horizon = {short(horizon)}", "choose a shorter one")


def _check_same_world(prior: FlatDirichlet, test: FlatDirichlet) -> None:
    if prior.counts.shape != test.counts.shape:
        raise InvalidInput(
            f"the prior has {prior.num_states} states and {prior.num_actions} actions, the test "
            f"distribution {test.num_states} and {test.num_actions}: they must agree"
        )
    known, real = prior.rewards.mean.at(test.counts), test.rewards.mean.at(test.counts)
    wrong = np.flatnonzero(known != real)
    if len(wrong):
        raise InvalidInput(
            f"the reward at {test.counts.locate(int(wrong[0]))} is {known[wrong[0]]} in the prior "
            f"and {real[wrong[0]]} in the test distribution: agents know rewards, so both must be "
            "equal"
        )
