"""Solve the equations of a policy's values.

`model` keeps an inverse instead, because it is updated row by row; `mdps.MDP.solve` takes sparse
matrices of any size and needs no compiled code.
"""

from ..jit import inlined
from ..types import Floats


@inlined
def eliminate(matrix: Floats, value: Floats) -> None:
    """Solve matrix [S, S] times v = value [S]; `value` becomes v, `matrix` is used up.

    Elimination goes from the last state to the first. No pivots are needed, because the matrix,
    I - discount * P_policy, is diagonally dominant.
    """
    states = len(value)
    for k in range(states - 1, -1, -1):
        pivot = 1 / matrix[k, k]
        for i in range(k):
            factor = matrix[i, k] * pivot
            if factor != 0.0:
                value[i] -= factor * value[k]
                for j in range(k):
                    matrix[i, j] -= factor * matrix[k, j]
    for k in range(states):
        total = value[k]
        for j in range(k):
            total -= matrix[k, j] * value[j]
        value[k] = total / matrix[k, k]
