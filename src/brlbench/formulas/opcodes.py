"""The instructions of a compiled formula, in reverse Polish order.

Plain numbers, so that reading a formula doesn't load the compiler. A code below NUMBER pushes a
feature: the Q-value in the model with that number.
"""

NUMBER = 3

ABS = 4
OPPOSITE = 5
SQRT = 6
LN = 7
INVERSE = 8
LAST_UNARY = INVERSE

ADD = 9
SUBTRACT = 10
MULTIPLY = 11
MIN = 12
MAX = 13
DIVIDE = 14
