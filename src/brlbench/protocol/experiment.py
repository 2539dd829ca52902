"""Experiments: a prior, MDPs drawn from a test distribution, a discount and a horizon."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .. import streams
from ..agents.base import Task
from ..arguments import counted
from ..beliefs.base import Distribution, Family
from ..beliefs.hypotheses import Hypotheses
from ..beliefs.own import OwnDistribution
from ..errors import InvalidInput, short
from ..mdps.batch import MDPs
from ..mdps.mdp import MDP, check_discount
from ..mdps.sparse import Floats, Integers
from ..memory import check_memory
from ..problems import distribution
from ..streams import Words
from ..values import COUNT, DISCOUNT, INDEX, POSITIVE, check

DEFAULT_HORIZON = 250
_MOST_HELD = 2**23  # numbers; more MDPs than that are drawn again where they are needed
_DECISIONS_AT_ONCE = 2**20
BYTES_PER_TRAJECTORY = 64  # for its return, its times and its seeds
_BYTES_PER_DECISION = 128  # of a trajectory, while it is played, with what agents count
DRAWN = "drawn"
"""The origin of MDPs that depend on the test distribution, the seed and their number alone."""
ARGUMENTS = ("num_mdps", "discount", "horizon", "trajectories_per_mdp", "seed", "deadline")
"""The arguments of an experiment that are numbers, besides `episode`, which few have."""


class Experiment:
    """An experiment: agents are trained on the prior and play MDPs of the test distribution.

    MDP i and the noise in it depend on the content of the test distribution, the seed and i alone.
    """

    def __init__(
        self,
        prior: str | Path | Distribution,
        test: str | Path | Distribution | None = None,
        num_mdps: int = 500,
        discount: float = 0.95,
        horizon: int | None = None,
        seed: int = 0,
        accuracy: float | None = None,
        trajectories_per_mdp: int = 1,
        deadline: float | None = None,
        mdps: Sequence[MDP] | MDPs | Floats | None = None,
        origin: str | None = None,
        episode: int | None = None,
    ) -> None:
        """Validate.

        Args:
            prior: what agents are trained on: a problem's name, a file, `"module:name"`, or a
                distribution, which may be an object of your own: see `brlbench.distribution`.
            test: what the MDPs are drawn from; by default the prior.
            num_mdps: how many MDPs are drawn.
            discount: the discount factor, between 0 and 1; in episodes it may be 1.
            horizon: decisions per trajectory; 250 if neither this nor `accuracy` is given.
            seed: the seed of everything that is random.
            accuracy: instead of `horizon`, how much of the return may be cut off.
            trajectories_per_mdp: how many trajectories are played in each MDP.
            deadline: seconds that a decision may take; agents that can stop early keep it.
            mdps: MDPs of your own, which need not come from `test`: a list of `brlbench.MDP`, or
                probabilities [num_mdps, E] of the transitions of `test`. Then there are no adjusted
                scores.
            origin: where the MDPs come from: a frozen set's name, or "drawn" if they were drawn
                from `test` before. Experiments of one origin that differ only in the number of MDPs
                begin with the same MDPs.
            episode: decisions after which the state is drawn from the start again, while the MDP
                stays; agents are told. The horizon, all decisions together, must be a multiple.
        """
        test = prior if test is None else test
        self.test = distribution(test)
        self.prior = (self.test if prior is test else distribution(prior)).as_prior()
        _check_same_world(self.prior, self.test)
        self.num_mdps = check(num_mdps, "num_mdps", COUNT)
        self.episode = None if episode is None else check(episode, "episode", COUNT)
        self.discount = self._check_discount(discount)
        self.seed = check(seed, "seed", INDEX)
        self.trajectories_per_mdp = check(trajectories_per_mdp, "trajectories_per_mdp", COUNT)
        self.deadline = None if deadline is None else check(deadline, "deadline", POSITIVE)
        if horizon is not None and accuracy is not None:
            raise InvalidInput(
                f"horizon = {short(horizon)} and accuracy = {short(accuracy)}: give one of them, "
                "not both"
            )
        if accuracy is not None and episode is not None:
            raise InvalidInput(
                f"accuracy = {short(accuracy)} and episode = {short(episode)}: give a horizon, "
                "a multiple of the episode"
            )
        if accuracy is not None:
            horizon = horizon_for(accuracy, self.discount, self.test.max_reward)
        self.horizon = check(DEFAULT_HORIZON if horizon is None else horizon, "horizon", COUNT)
        self._check_episode()
        self._check_memory()
        self.given_mdps = None if mdps is None else self._check_mdps(mdps)
        self.origin = origin if origin or mdps is not None else DRAWN

    def _check_discount(self, discount: float) -> float:
        if self.episode is None and discount == 1:
            raise InvalidInput(
                f"discount = {short(discount)}: must be a number between 0 and 1, both excluded, "
                "or 1 with episode"
            )
        return check(discount, "discount", DISCOUNT) if discount == 1 else check_discount(discount)

    def _check_episode(self) -> None:
        if self.episode is not None and self.horizon % self.episode:
            multiple = self.episode * max(1, self.horizon // self.episode)
            raise InvalidInput(
                f"horizon = {self.horizon}: must be a multiple of episode = {self.episode}, such "
                f"as {multiple}"
            )

    def _check_memory(self) -> None:
        mdps, per_mdp = short(self.num_mdps), short(self.trajectories_per_mdp)
        what = f"num_mdps = {mdps} with trajectories_per_mdp = {per_mdp}"
        check_memory(self.num_trajectories * BYTES_PER_TRAJECTORY, what, "play fewer")
        check_horizon(self.horizon)

    def _check_mdps(self, mdps: Sequence[MDP] | MDPs | Floats) -> MDPs:
        frame: MDPs = self.test.frame
        if isinstance(mdps, np.ndarray):
            shape = (self.num_mdps, self.test.num_transitions)
            if mdps.size != math.prod(shape):
                raise InvalidInput(f"mdps has {mdps.size} numbers: must have shape {list(shape)}")
            if not frame.share_all:
                raise InvalidInput(
                    f"mdps are probabilities, but rewards differ between MDPs of {self.test.name}: "
                    "give a list of brlbench.MDP"
                )
            return frame.with_probability(mdps.reshape(shape))
        if not isinstance(mdps, MDPs):
            mdps = MDPs.gather(mdps)
        if len(mdps) != self.num_mdps:
            raise InvalidInput(
                f"mdps has {counted(len(mdps), 'MDP')}: num_mdps must be {len(mdps)}"
            )
        if mdps.places.shape != frame.places.shape:
            raise InvalidInput(
                f"mdps have {counted(mdps.places.num_states, 'state')} and "
                f"{counted(mdps.places.num_actions, 'action')}, "
                f"the test distribution {self.test.num_states} and {self.test.num_actions}: they "
                "must agree"
            )
        _check_rewards(self.prior, mdps, "mdps")
        return mdps

    def replace(self, **changes: Any) -> "Experiment":
        """The same experiment with other arguments; with the same MDPs unless others are given."""
        mdps = self.mdps if self.holds_mdps and "mdps" not in changes else None
        settings = {**self.arguments(), "mdps": mdps, "origin": self.origin, **changes}
        return Experiment(self.prior, self.test, **settings)

    def arguments(self) -> dict[str, Any]:
        """Arguments that, with distributions and MDPs, make the experiment again."""
        return arguments_in(vars(self))

    def __repr__(self) -> str:
        episodes = "" if self.episode is None else f" in episodes of {self.episode}"
        return (
            f"Experiment({self.name}: {counted(self.num_mdps, 'MDP')}, discount {self.discount}, "
            f"horizon {self.horizon}{episodes}, seed {self.seed})"
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
        """The discount, horizon, deadline and episode, which agents are told besides the prior."""
        return Task(self.discount, self.horizon, self.deadline, self.episode)

    @property
    def trajectories_at_once(self) -> int:
        """The number of trajectories that fit in little memory together, at least 1."""
        numbers = 1 if self.holds_mdps else self.numbers_per_mdp
        return max(1, min(_DECISIONS_AT_ONCE // self.horizon, _MOST_HELD // numbers))

    @cached_property
    def numbers_per_mdp(self) -> int:
        """How many numbers a drawn MDP has, besides those that all share."""
        frame: MDPs = self.test.frame
        others = (rows for rows in (frame.reward, frame.variance, frame.start) if len(rows) == 0)
        return len(frame.places.values) + sum(int(rows.shape[1]) for rows in others)

    @property
    def holds_mdps(self) -> bool:
        """False if the MDPs are too many to be held: they are drawn again for each part."""
        return self.given_mdps is not None or self.num_mdps * self.numbers_per_mdp <= _MOST_HELD

    @cached_property
    def mdps(self) -> MDPs:
        """The MDPs."""
        if self.given_mdps is not None:
            return self.given_mdps
        return draw_mdps(self.test, self.seed, range(self.num_mdps))

    def some_mdps(self, numbers: range) -> MDPs:
        """Some consecutive MDPs."""
        if self.holds_mdps:
            return self.mdps[numbers.start : numbers.stop]
        return draw_mdps(self.test, self.seed, numbers)

    def mdp(self, index: int) -> MDP:
        """One of the MDPs."""
        number = range(self.num_mdps)[index]
        return self.some_mdps(range(number, number + 1)).mdp(0)

    @cached_property
    def noise_words(self) -> Words:
        """The seed of the environment's noise in each trajectory, the same for all agents."""
        names = ("noise", self.test.digest, self.seed)
        keys = streams.keys(names, self.numbers_of(range(self.num_trajectories)))
        return streams.first_words(keys)[:, 0].copy()

    def mdps_of(self, trajectories: range) -> tuple[MDPs, Integers]:
        """The MDPs of consecutive trajectories, and each trajectory's place among them."""
        mdps = np.asarray(trajectories) // self.trajectories_per_mdp
        return self.some_mdps(range(mdps[0], mdps[-1] + 1)), mdps - mdps[0]

    def numbers_of(self, trajectories: range) -> Iterator[tuple[int, int]]:
        """The MDP of each trajectory, and the trajectory's number within that MDP."""
        return (divmod(index, self.trajectories_per_mdp) for index in trajectories)

    @property
    def hypotheses(self) -> Hypotheses | None:
        """The set of hypotheses that the prior is, or is told as; None for other priors."""
        told = self.prior.for_kernels()
        return told if isinstance(told, Hypotheses) else None

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
            **(self.prior.settings() if isinstance(self.prior, OwnDistribution) else {}),
        }

    @cached_property
    def hash(self) -> str:
        """A SHA-256 digest of the settings and the MDPs, without names, deadline and origin.

        Leaving the deadline out makes agents with and without one comparable.
        """
        left_out = ("name", "prior", "test", "deadline", "origin", "particles", "own_belief")
        settings = {key: value for key, value in self.settings().items() if key not in left_out}
        # Hashes of the frozen sets are computed with this name.
        settings["trajectories"] = settings.pop("trajectories_per_mdp")
        text = json.dumps(settings, sort_keys=True)
        digest = hashlib.sha256(text.encode())
        for mdps in self.batches():
            # What all MDPs share is in the digest of the test distribution.
            parts = [mdps.probability.tobytes()] if self.has_plain_mdps else mdps.contents()
            for part in parts:
                digest.update(part)
        return digest.hexdigest()

    def batches(self) -> Iterator[MDPs]:
        """All MDPs, in batches that take little memory."""
        size = max(1, _MOST_HELD // self.numbers_per_mdp)
        for first in range(0, self.num_mdps, size):
            yield self.some_mdps(range(first, min(first + size, self.num_mdps)))

    @property
    def has_plain_mdps(self) -> bool:
        """Whether the MDPs differ in probabilities alone from what the test distribution says."""
        frame: MDPs = self.test.frame
        return frame.share_all if self.given_mdps is None else self.given_mdps.have_frame(frame)


def arguments_in(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an experiment among its settings; `episode` only if there are episodes."""
    arguments = {name: settings.get(name) for name in ARGUMENTS}
    episode = settings.get("episode")
    return arguments if episode is None else {**arguments, "episode": episode}


def draw_mdps(test: Family, seed: int, indices: Iterable[int]) -> MDPs:
    """Some of an experiment's MDPs."""
    return test.draw([streams.generator("mdp", test.digest, seed, i) for i in indices])


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


def _check_same_world(prior: Family, test: Family) -> None:
    if (prior.num_states, prior.num_actions) != (test.num_states, test.num_actions):
        raise InvalidInput(
            f"the prior has {counted(prior.num_states, 'state')} and "
            f"{counted(prior.num_actions, 'action')}, the test "
            f"distribution {test.num_states} and {test.num_actions}: they must agree"
        )
    if test is not prior:
        _check_rewards(prior, test.examples, "the test distribution")


def _check_rewards(prior: Family, mdps: MDPs, what: str) -> None:
    """Raise if agents are told other rewards than MDPs have."""
    if prior.frame.is_binary and not mdps.is_binary:
        raise InvalidInput(
            f"rewards are 1 or 0 in the prior, and not in {what}: agents could not learn from "
            "them; give both binary rewards, or the prior others"
        )
    if isinstance(prior, OwnDistribution) and not _other_rewards(Hypotheses(prior.examples), mdps):
        return  # particles, of which the agents are told, are drawn in case of doubt only
    other = _other_rewards(prior.for_kernels(), mdps)
    if other:
        place, told, paid = other
        raise InvalidInput(
            f"the reward at {place} is {told} in the prior and {paid} in {what}: agents know "
            "rewards, so both must be equal"
        )


def _other_rewards(prior: Family, mdps: MDPs) -> tuple[str, float, float] | None:
    """A transition whose reward is known under a prior and differs in an MDP: where, and both."""
    known, places = prior.known_rewards, mdps.places
    if known is None:
        return None
    told = known.mean.at(places)
    differs = mdps.reward != told  # [N or 1, E]
    if len(mdps):
        differs = differs & (mdps.probability > 0)
    if isinstance(prior, Hypotheses):  # it knows no rewards of transitions that are impossible
        differs = differs & np.isin(places.place, prior.frame.places.place)
    if not differs.any():
        return None
    i, entry = (int(number) for number in np.argwhere(differs)[0])
    paid = mdps.reward[i if len(mdps.reward) > 1 else 0, entry]
    return places.locate(entry), float(told[entry]), float(paid)
