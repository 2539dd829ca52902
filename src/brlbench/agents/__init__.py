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
from .lookahead import Lookahead
from .mbie_eb import MbieEb
from .opps_cs import OppsCs
from .opps_ds import OppsDs
from .optimal import Optimal
from .psrl import Psrl
from .random import Random
from .random_mix import RandomMix
from .registry import AGENTS, check_agent, default_parameters, describe, identity, make_agent
from .sboss import Sboss
from .soft_max import SoftMax
from .sparse_prior import SparsePrior
from .spread import Spread
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
    "Lookahead",
    "MbieEb",
    "OppsCs",
    "OppsDs",
    "Optimal",
    "Psrl",
    "Random",
    "RandomMix",
    "Sboss",
    "SoftMax",
    "SparsePrior",
    "Spread",
    "Task",
    "Vbrb",
    "Vdbe",
    "Vpi",
    "check_agent",
    "default_parameters",
    "describe",
    "identity",
    "make_agent",
]
