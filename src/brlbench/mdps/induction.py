"""Backward induction in many MDPs at once, for few calls; `kernels.luck` is for many."""

import numpy as np

from .sparse import Floats, SparseTable


def last_q_values(
    table: SparseTable, probabilities: Floats, rewards: Floats, discount: float, decisions: int
) -> Floats:
    """The optimal Q-values [N, S, A] with a number of decisions left.

    The N MDPs have the possible transitions of the table, `probabilities` [N, E], and the same
    `rewards` [E].
    """
    value = np.zeros((len(probabilities), table.num_states))
    for _ in range(decisions):
        terms = probabilities * (rewards + discount * value[:, table.next_state])
        sums = np.add.reduceat(terms, table.row_start[:-1], axis=1)
        q = sums.reshape(len(value), table.num_states, -1)
        value = q.max(axis=2)
    return q
