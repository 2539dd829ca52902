"""Agents: one folder each, listed in `registry`.

The classes are listed here as well, so that editors complete `bb.agents.Bamcp(simulations=…)`.
"""

from .ann import Ann
from .bamcp import Bamcp
from .base import Agent, CompiledAgent, Task
from .beb import Beb
from .bfs3 import Bfs3
from .bolt import Bolt
from .bonus import Bonus
from .boss import Boss
from .epsilon_greedy import EpsilonGreedy
from .eubrl import Eubrl
from .formula import FormulaAgent
from .gittins import Gittins
from .hindsight import Hindsight
from .ids import Ids
from .lookahead import Lookahead
from .mbie_eb import MbieEb
from .mc_brl import McBrl
from .opps_cs import OppsCs
from .opps_ds import OppsDs
from .opsrl import Opsrl
from .optimal import Optimal
from .psrl import Psrl
from .q_learning import QLearning
from .r_max import RMax
from .random import Random
from .random_mix import RandomMix
from .registry import AGENTS, check_agent, default_parameters, describe, identity, make_agent
from .rlsvi import Rlsvi
from .sboss import Sboss
from .shift_prior import ShiftPrior
from .soft_max import SoftMax
from .sparse_prior import SparsePrior
from .spread import Spread
from .ucbvi import Ucbvi
from .ucrl2 import Ucrl2
from .vbrb import Vbrb
from .vdbe import Vdbe
from .vpi import Vpi

__all__ = [
    "AGENTS",
    "Agent",
    "Ann",
    "Bamcp",
    "Beb",
    "Bfs3",
    "Bolt",
    "Bonus",
    "Boss",
    "CompiledAgent",
    "EpsilonGreedy",
    "Eubrl",
    "FormulaAgent",
    "Gittins",
    "Hindsight",
    "Ids",
    "Lookahead",
    "MbieEb",
    "McBrl",
    "OppsCs",
    "OppsDs",
    "Opsrl",
    "Optimal",
    "Psrl",
    "QLearning",
    "RMax",
    "Random",
    "RandomMix",
    "Rlsvi",
    "Sboss",
    "ShiftPrior",
    "SoftMax",
    "SparsePrior",
    "Spread",
    "Task",
    "Ucbvi",
    "Ucrl2",
    "Vbrb",
    "Vdbe",
    "Vpi",
    "check_agent",
    "default_parameters",
    "describe",
    "identity",
    "make_agent",
]
