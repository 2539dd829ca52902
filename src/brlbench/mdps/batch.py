"""Many MDPs with the same states and actions, as arrays over one table of places.

Notation: N MDPs, S states, E transitions that are possible in at least one of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import counted
from ..errors import InvalidInput
from .mdp import BINARY, MDP, Rewards
from .sparse import Floats, Integers, SparseTable, as_indices

_NUMBERS = ("probability", "reward", "variance", "start")
_COLUMNS = dict(zip(_NUMBERS, ("probabilities", "rewards", "variances", "starts"), strict=True))


@dataclass(frozen=True, eq=False)
class MDPs:
    """N MDPs. Rewards and starts that all of them share have one row instead of N. Immutable."""

    places: SparseTable  # the possible transitions [E]; its values mean nothing
    probability: Floats  # [N, E]
    reward: Floats  # [N or 1, E]; means
    variance: Floats  # [N or 1, E]; zero where the reward is constant
    start: Floats  # [N or 1, S]
    # Whether rewards are 1 or 0, with `reward` as the probability of 1.
    is_binary: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        for name in _NUMBERS:  # one layout, for which code is compiled
            array = getattr(self, name)
            if array.flags.writeable or not array.flags.c_contiguous:
                array = np.ascontiguousarray(array).view()
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    @classmethod
    def gather(cls, mdps: Sequence[MDP]) -> "MDPs":
        """The MDPs of a list, which may differ in transitions, rewards and start."""
        if not isinstance(mdps, Sequence) or not mdps:
            raise InvalidInput("mdps must be a list of at least one brlbench.MDP")
        first = mdps[0]
        for i, mdp in enumerate(mdps):
            if not isinstance(mdp, MDP):
                raise InvalidInput(
                    f"mdps[{i}] is of class {type(mdp).__name__}: must be a brlbench.MDP"
                )
            if mdp.transitions.shape != first.transitions.shape:
                raise InvalidInput(
                    f"MDP {i} has {counted(mdp.num_states, 'state')} and "
                    f"{counted(mdp.num_actions, 'action')}, MDP 0 has "
                    f"{first.num_states} and {first.num_actions}: all must have the same"
                )
            if mdp.rewards.is_binary != first.rewards.is_binary:
                raise InvalidInput(
                    f"the rewards of MDP {i} and of MDP 0 differ in kind: those of all MDPs must "
                    "be binary, or of none"
                )
        place = np.unique(np.concatenate([mdp.transitions.place for mdp in mdps]))
        places = SparseTable.from_places(*first.transitions.shape[:2], place, np.ones(len(place)))
        return cls(
            places=places,
            probability=np.array([mdp.transitions.at(places) for mdp in mdps]),
            reward=_shared([mdp.rewards.mean.at(places) for mdp in mdps]),
            variance=_shared([mdp.rewards.variance.at(places) for mdp in mdps]),
            start=_shared([mdp.start for mdp in mdps]),
            is_binary=first.rewards.is_binary,
        )

    @classmethod
    def from_columns(
        cls,
        num_states: int,
        num_actions: int,
        place: ArrayLike,
        columns: Mapping[str, Floats],
        is_binary: bool = False,
    ) -> "MDPs":
        """Validate and build MDPs from what `columns` returned, and the numbers of the places."""
        size = num_states * num_actions * num_states
        where = as_indices(place, size, "places")
        places = SparseTable.from_places(num_states, num_actions, where, np.ones(len(where)))
        if not np.array_equal(places.place, where):
            raise InvalidInput("places must increase")
        numbers = {name: columns[_COLUMNS[name]].reshape(-1, len(where)) for name in _NUMBERS[:3]}
        start = _shared(columns[_COLUMNS["start"]].reshape(-1, num_states))
        reward, variance = _shared(numbers["reward"]), _shared(numbers["variance"])
        mdps = cls(places, numbers["probability"], reward, variance, start, is_binary=is_binary)
        for _ in mdps:  # each checks its numbers
            pass
        return mdps

    def columns(self) -> dict[str, Floats]:
        """All numbers, with one row per MDP."""
        numbers = {column: getattr(self, name) for name, column in _COLUMNS.items()}
        return {
            name: np.broadcast_to(rows, (len(self), rows.shape[1]))
            for name, rows in numbers.items()
        }

    def __len__(self) -> int:
        return len(self.probability)

    def __getitem__(self, which: "slice | Sequence[int] | Integers") -> "MDPs":
        """Some of the MDPs, over the same places."""
        rows = which if isinstance(which, slice) else np.asarray(which, np.int64)
        reward, variance, start = (
            numbers if len(numbers) == 1 else numbers[rows]
            for numbers in (self.reward, self.variance, self.start)
        )
        return replace(
            self, probability=self.probability[rows], reward=reward, variance=variance, start=start
        )

    def over(self, places: SparseTable) -> "MDPs":
        """The same MDPs over places that include all of theirs."""
        entry = np.searchsorted(places.place, self.places.place)

        def spread(rows: Floats) -> Floats:
            wide = np.zeros((len(rows), len(places.values)))
            wide[:, entry] = rows
            return wide

        numbers = (self.probability, self.reward, self.variance)
        probability, reward, variance = map(spread, numbers)
        return MDPs(places, probability, reward, variance, self.start, is_binary=self.is_binary)

    @property
    def share_all(self) -> bool:
        """Whether the MDPs have the same rewards and the same start."""
        return self.share_rewards and len(self.start) == 1

    @property
    def share_rewards(self) -> bool:
        """Whether the MDPs have the same rewards."""
        return len(self.reward) == len(self.variance) == 1

    @property
    def rewards(self) -> Rewards | None:
        """The rewards that all MDPs share, at the places; None if they differ."""
        if not self.share_rewards:
            return None
        return Rewards(
            *map(self._table, (self.reward[0], self.variance[0])), is_binary=self.is_binary
        )

    def have_frame(self, frame: "MDPs") -> bool:
        """Whether they have the places, the rewards and the start that other MDPs share."""
        if not (self.share_all and frame.share_all) or self.is_binary != frame.is_binary:
            return False
        mine, others = self._shared_numbers(), frame._shared_numbers()
        return all(map(np.array_equal, mine, others))

    def _shared_numbers(self) -> tuple[Any, ...]:
        return self.places.place, self.reward, self.variance, self.start

    def followed_by(self, others: "MDPs") -> "MDPs":
        """These MDPs and then others, over the same places."""

        def joined(name: str) -> Floats:
            one, other = getattr(self, name), getattr(others, name)
            if name != "probability" and len(one) == len(other) == 1 and (one == other).all():
                return np.asarray(one)
            whole = ((one, len(self)), (other, len(others)))
            return np.concatenate([np.broadcast_to(r, (n, r.shape[1])) for r, n in whole])

        return MDPs(self.places, *map(joined, _NUMBERS), is_binary=self.is_binary)

    def with_probability(self, probability: Floats) -> "MDPs":
        """Other MDPs [n, E] with the same places, rewards and start."""
        return replace(self, probability=probability)

    def mdp(self, index: int) -> MDP:
        """One of the MDPs; rewards of impossible transitions are zero."""
        number = range(len(self))[index]

        def of(rows: Floats) -> Floats:
            return np.asarray(rows[number if len(rows) > 1 else 0])

        tables = self._table(of(self.reward)), self._table(of(self.variance))
        rewards = Rewards(*tables, is_binary=self.is_binary)
        return MDP(self._table(of(self.probability)), rewards, of(self.start))

    def _table(self, numbers: Floats) -> SparseTable:
        """Numbers [E] at the places; zeros are left out."""
        return SparseTable.from_places(*self.places.shape[:2], self.places.place, numbers)

    def __iter__(self) -> Iterator[MDP]:
        return map(self.mdp, range(len(self)))

    def contents(self) -> Iterator[bytes]:
        """Each MDP as bytes, which do not depend on the others."""
        numbers = (self.probability, self.reward, self.variance, self.start)
        whole = (np.broadcast_to(each, (len(self), each.shape[1])) for each in numbers)
        for probability, reward, variance, start in zip(*whole, strict=True):
            possible = probability > 0
            columns = (self.places.place, probability, reward, variance)
            parts = (*(column[possible] for column in columns), start)
            content = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
            yield content + BINARY * self.is_binary

    def content(self) -> bytes:
        """The MDPs as bytes, for digests."""
        arrays = (self.probability, self.reward, self.variance, self.start)
        sizes = np.array([array.shape for array in arrays], np.int64)
        parts = (sizes, *arrays)
        head = self.places.replace(np.ones(len(self.places.values))).content()
        content = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
        return head + content + BINARY * self.is_binary


def _shared(rows: Sequence[Floats] | Floats) -> Floats:
    """Equal rows as one."""
    array = np.asarray(rows)
    return array[:1] if (array == array[0]).all() else array
