"""The formulas of OPPS: a small language over the Q-functions of three models.

A formula gives each action an index, and the action with the largest index is played. Its features
are Qmean, Qself and Quniform, the optimal Q-functions of three models which learn from the same
transitions but start from different counts (see `agents.formula`).

Where an operation has no finite value (ln or sqrt of a negative number, ln of 0, division by 0,
overflow) the whole formula is undefined.
"""

from .formula import FEATURES, OPERATORS, Formula
from .generation import SETS, formula_set
from .parser import parse
from .sets import FormulaSet, make_formulas

__all__ = [
    "FEATURES",
    "OPERATORS",
    "SETS",
    "Formula",
    "FormulaSet",
    "formula_set",
    "make_formulas",
    "parse",
]
