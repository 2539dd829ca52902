"""MBIE-EB, model-based interval estimation with exploration bonus (Strehl and Littman, 2008).

The bonus of a pair is beta / sqrt(n), a member of the family `bonus`.

Deviations: the paper estimates the model from visits alone, n counts them, and pairs without any
have the largest possible value. Here the model is the posterior's mean, as in this benchmark's
other agents, and n is the posterior's count, so that the prior takes the place of that optimism.
The model is solved exactly after every transition; ties are broken at random.
"""

from ..bonus import BonusMember


class MbieEb(BonusMember):
    """Takes the best action of the mean MDP, with a bonus that falls with the root of the count."""

    name = "mbie-eb"
    reference = "Strehl and Littman, 2008"
    exponents = {"spread": 0.0, "decay": 0.5, "shift": 0.0}
