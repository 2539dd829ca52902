"""VBRB, the variance-based reward bonus (Sorg, Singh and Lewis, 2010).

The bonus of a pair is beta times the square root of the summed posterior variances of its
transition probabilities. For mean probabilities p and a count of n, this is
beta * sqrt((1 - sum of p^2) / (n + 1)), a member of the family `bonus`.

Deviations: the paper has a second term for the reward's posterior deviation. It is zero here where
rewards are known. Where they are not, outcomes are next states with rewards, in one term. The paper
proves its bounds for a beta that depends on the problem; here it is a parameter. The model is
solved exactly after every transition; ties are broken at random.
"""

from ..bonus import BonusMember


class Vbrb(BonusMember):
    """Takes the best action of the mean MDP, with a bonus for uncertain transitions."""

    name = "vbrb"
    reference = "Sorg et al., 2010"
    exponents = {"spread": 0.5, "decay": 0.5, "shift": 1.0}
