"""One finite Markov decision process: its arrays, their validation and its exact solution."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import counted
from ..errors import InvalidInput, short
from ..values import BETWEEN_0_AND_1, check
from .sparse import Floats, Integers, SparseTable, as_array, as_indices

if TYPE_CHECKING:  # imported where it is used, because importing it is slow
    import scipy.sparse

PROBABILITY_TOLERANCE = 1e-9
_ROUNDING = 1e-3 + PROBABILITY_TOLERANCE  # of a sum of probabilities that people write down
LARGEST_REWARD = 1e100
BINARY = b"binary"  # marks binary rewards where an MDP is written as bytes
UNIFORM = "uniform"  # a start in any state, all equally likely
# A policy switch must gain this fraction of the largest value, or rounding could cycle.
_SWITCH_TOLERANCE = 1e-12
_DENSE_IS_FASTER = 64  # states up to which dense matrix-vector products are faster (measured)


class Solution(NamedTuple):
    """The optimal values of an MDP and one optimal policy."""

    q: Floats  # [S, A]
    value: Floats  # [S]
    policy: Integers  # [S]


@dataclass(frozen=True, eq=False)
class Rewards:
    """The reward of each (state, action, next state): constant, or Gaussian where it varies.

    Or all are binary, 1 or 0; then the mean is the probability of 1, and no variance is given.
    """

    mean: SparseTable
    variance: SparseTable
    is_binary: bool = field(default=False, kw_only=True)

    @classmethod
    def build(
        cls,
        shape: tuple[int, int, int],
        mean: "ArrayLike | SparseTable | Rewards",
        variance: "ArrayLike | SparseTable | None" = None,
        is_binary: bool = False,
    ) -> "Rewards":
        """Validate means and variances, each an array that broadcasts to [S, A, S] or a table."""
        if isinstance(mean, Rewards):
            variance = mean.variance if variance is None else variance
            is_binary = mean.is_binary
            mean = mean.mean
        tables = []
        for what, numbers in (("rewards", mean), ("reward_variances", variance)):
            table = numbers if isinstance(numbers, SparseTable) else _table(shape, numbers, what)
            if table.shape != shape:
                raise InvalidInput(f"{what} has shape {list(table.shape)}: must be {list(shape)}")
            large = np.flatnonzero(np.abs(table.values) > LARGEST_REWARD)
            if len(large):
                raise InvalidInput(
                    f"{what} at {table.locate(int(large[0]))} is {table.values[large[0]]}: must be "
                    f"at most {LARGEST_REWARD}, since squares of returns are added"
                )
            tables.append(table)
        negative = np.flatnonzero(tables[1].values < 0)
        if len(negative):
            raise InvalidInput(
                f"reward_variances at {tables[1].locate(int(negative[0]))} is "
                f"{tables[1].values[negative[0]]}: must not be negative"
            )
        if is_binary:
            _check_binary(*tables)
        return cls(*tables, is_binary=is_binary)

    def renumbered(self, order: Integers) -> "Rewards":
        """The same rewards where state x has become state `order[x]`."""
        tables = (self.mean.renumbered(order), self.variance.renumbered(order))
        return Rewards(*tables, is_binary=self.is_binary)

    def content(self) -> bytes:
        """The rewards as bytes, for digests."""
        return self.mean.content() + self.variance.content() + BINARY * self.is_binary


def _check_binary(mean: SparseTable, variance: SparseTable) -> None:
    wrong = np.flatnonzero(~((mean.values >= 0) & (mean.values <= 1)))
    if len(wrong):
        raise InvalidInput(
            f"rewards at {mean.locate(int(wrong[0]))} is {mean.values[wrong[0]]}: must be from 0 "
            "to 1, since binary rewards are 1 with this probability"
        )
    if len(variance.values):
        raise InvalidInput("reward_variances: binary rewards have none of their own: leave it out")


def _table(shape: tuple[int, int, int], numbers: ArrayLike | None, what: str) -> SparseTable:
    if numbers is None:  # an array of zeros would be searched for entries
        return SparseTable.from_entries(*shape[:2], [], [], [], [], what)
    array = as_array(numbers, what)
    try:
        return SparseTable.from_dense(np.broadcast_to(array, shape), what)
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            f"{what} has shape {list(array.shape)}: must broadcast to {list(shape)}"
        ) from None


def start_distribution(num_states: int, start: int | str | ArrayLike) -> Floats:
    """The probabilities [S] of the start states, from one state, "uniform" or a distribution."""
    if isinstance(start, str) and start == UNIFORM:
        start = np.full(num_states, 1 / num_states)
    array = as_array(start, "start")
    if array.ndim == 0:
        if not np.issubdtype(array.dtype, np.integer) or not 0 <= int(array) < num_states:
            raise InvalidInput(
                f"start = {short(array.item())}: must be a state from 0 to {num_states - 1}, "
                f'"{UNIFORM}", or probabilities'
            )
        probabilities = np.zeros(num_states)
        probabilities[int(array)] = 1.0
    elif array.dtype.kind not in "iuf":
        raise InvalidInput("start must be an array of numbers, all rows of one length")
    else:
        probabilities = array.astype(np.float64)
        if probabilities.shape != (num_states,):
            raise InvalidInput(
                f"start has {probabilities.size} probabilities: must have one for each of the "
                f"{counted(num_states, 'state')}"
            )
        # Written so that NaN is refused too.
        wrong = np.flatnonzero(~(probabilities >= 0))
        if len(wrong):
            raise InvalidInput(
                f"start[{wrong[0]}] = {probabilities[wrong[0]]}: must not be negative"
            )
        with np.errstate(over="ignore"):
            total = float(probabilities.sum())
        if not abs(total - 1) <= _ROUNDING:
            raise InvalidInput(f"start sums to {total}: must sum to 1")
        if abs(total - 1) > PROBABILITY_TOLERANCE:
            probabilities /= total
    probabilities.flags.writeable = False
    return probabilities


def check_discount(discount: float) -> float:
    """Refuse a discount outside (0, 1)."""
    return check(discount, "discount", BETWEEN_0_AND_1)


class MDP:
    """A finite MDP: transition probabilities, rewards on (state, action, next state), a start."""

    num_states: int
    """The number of states."""
    num_actions: int
    """The number of actions."""

    def __init__(
        self,
        transitions: ArrayLike | SparseTable,
        rewards: ArrayLike | SparseTable | Rewards,
        start: int | str | ArrayLike = 0,
        reward_variances: ArrayLike | SparseTable | None = None,
        binary_rewards: bool = False,
    ) -> None:
        """Validate.

        Args:
            transitions: the probabilities, an array [S, A, S] or a sparse table.
            rewards: mean rewards, an array that broadcasts to [S, A, S] or a sparse table.
            start: the start state, "uniform" for any, or probabilities [S].
            reward_variances: like `rewards`; where positive, the reward is Gaussian.
            binary_rewards: whether a reward is 1 or 0, with its mean as the probability of 1.
        """
        if not isinstance(transitions, SparseTable):
            transitions = SparseTable.from_dense(transitions, "transitions")
        self.transitions = _summing_to_1(transitions)
        self.num_states, self.num_actions = transitions.num_states, transitions.num_actions
        self.rewards = Rewards.build(transitions.shape, rewards, reward_variances, binary_rewards)
        self.start = start_distribution(transitions.num_states, start)

    @cached_property
    def _expected_rewards(self) -> Floats:  # [S * A]
        table = self.transitions
        return table.replace(table.values * self.rewards.mean.at(table)).row_sums()

    @cached_property
    def _matrix(self) -> "scipy.sparse.csr_array":  # [S * A, S]
        import scipy.sparse

        table = self.transitions
        shape = (table.num_pairs, table.num_states)
        return scipy.sparse.csr_array((table.values, table.next_state, table.row_start), shape)

    def solve(self, discount: float) -> Solution:
        """The optimal Q-function, exact up to rounding: policy iteration with a sparse solver."""
        import scipy.sparse.linalg

        gamma = check_discount(discount)
        shape = (self.num_states, self.num_actions)
        states = np.arange(self.num_states)
        identity = scipy.sparse.eye_array(self.num_states, format="csr")
        discounted = gamma * self._matrix
        policy = self._expected_rewards.reshape(shape).argmax(axis=1)
        while True:
            chosen = states * self.num_actions + policy
            system = (identity - discounted[chosen]).tocsc()
            value = scipy.sparse.linalg.spsolve(system, self._expected_rewards[chosen])
            q = (self._expected_rewards + discounted @ value).reshape(shape)
            better = q.max(axis=1) > q[states, policy] + _SWITCH_TOLERANCE * np.abs(value).max()
            if not better.any():
                return Solution(q, value, policy)
            policy = np.where(better, q.argmax(axis=1), policy)

    def expected_return(self, policy: ArrayLike, discount: float, horizon: int) -> float:
        """The exact expected discounted return of a policy over a number of decisions.

        The policy is an array [S] of actions, or [S, A] of probabilities.
        """
        gamma = check_discount(discount)
        weights = self._policy_weights(policy)
        rewards, sparse = weights @ self._expected_rewards, gamma * (weights @ self._matrix)
        matrix = sparse.toarray() if self.num_states <= _DENSE_IS_FASTER else sparse
        value = np.zeros(self.num_states)
        for _ in range(horizon):
            value = rewards + matrix @ value
        return float(self.start @ value)

    def renumbered(self, order: Integers) -> "MDP":
        """The same MDP where state x has become state `order[x]`."""
        start = self.start[np.argsort(order)]
        return MDP(self.transitions.renumbered(order), self.rewards.renumbered(order), start)

    def _policy_weights(self, policy: ArrayLike) -> "scipy.sparse.csr_array":  # [S, S * A]
        import scipy.sparse

        shape = (self.num_states, self.num_actions)
        rows = as_array(policy, "policy")
        if rows.shape == shape[:1]:
            rows = np.eye(self.num_actions)[as_indices(rows, self.num_actions, "policy: action")]
        if rows.shape != shape:
            raise InvalidInput(
                f"policy has shape {list(rows.shape)}: must be actions {list(shape[:1])} or "
                f"probabilities {list(shape)}"
            )
        wrong = ~(rows >= 0).all(axis=1) | ~(np.abs(rows.sum(axis=1) - 1) < PROBABILITY_TOLERANCE)
        if wrong.any():
            state = int(wrong.argmax())
            raise InvalidInput(
                f"policy[{state}] = {rows[state].tolist()}: must be probabilities that sum to 1"
            )
        starts = np.arange(self.num_states + 1) * self.num_actions
        return scipy.sparse.csr_array((rows.ravel(), np.arange(rows.size), starts))


def _summing_to_1(transitions: SparseTable) -> SparseTable:
    """Transition probabilities; those that are off by rounding only are scaled."""
    negative = np.flatnonzero(transitions.values < 0)
    if len(negative):
        raise InvalidInput(
            f"the transition probability at {transitions.locate(int(negative[0]))} is "
            f"{transitions.values[negative[0]]}: must not be negative"
        )
    sums = transitions.row_sums()
    # Written so that NaN is refused too.
    is_wrong = ~(np.abs(sums - 1) <= _ROUNDING)
    if is_wrong.any():
        pair = is_wrong.argmax()
        raise InvalidInput(
            f"the transition probabilities of {transitions.locate_pair(pair)} sum to "
            f"{sums[pair]}: must sum to 1"
        )
    rounded = np.abs(sums - 1) > PROBABILITY_TOLERANCE
    if not rounded.any():
        return transitions
    return transitions.replace(transitions.values / np.where(rounded, sums, 1.0)[transitions.pair])


def last_q_values(
    table: SparseTable, probabilities: Floats, rewards: Floats, discount: float, decisions: int
) -> Floats:
    """The optimal Q-values [N, S, A] with a number of decisions left: see `q_values`."""
    *_, last = q_values(table, probabilities, rewards, discount, decisions)
    return last


def q_values(
    table: SparseTable, probabilities: Floats, rewards: Floats, discount: float, decisions: int
) -> Iterator[Floats]:
    """The optimal Q-values [N, S, A] with 1, 2, … decisions left, by backward induction.

    The N MDPs have the possible transitions of the table, `probabilities` [N, E], and `rewards` [E]
    or [N, E].
    """
    value = np.zeros((len(probabilities), table.num_states))
    for _ in range(decisions):
        terms = probabilities * (rewards + discount * value[:, table.next_state])
        sums = np.add.reduceat(terms, table.row_start[:-1], axis=1)
        q = sums.reshape(len(value), table.num_states, -1)
        yield q
        value = q.max(axis=2)
