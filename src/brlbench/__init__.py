"""Measure Bayesian reinforcement-learning agents: train on a prior, play unknown MDPs, compare.

The public names are loaded when they are first used, so that importing the package is quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agents import AGENTS, Agent, Task, make_agent
    from .agents.formulas import FormulaSet, make_formulas
    from .analysis.bayes_bound import bayes_optimal_bound
    from .analysis.significance import paired_z_test
    from .entries import check_entry, new_entry
    from .errors import AgentError, BrlbenchError, InvalidInput, StoreError
    from .mdps.bayes_optimal import bayes_optimal_value
    from .mdps.dirichlet import FlatDirichlet
    from .mdps.mdp import MDP
    from .mdps.single import SingleMDP
    from .problems import PROBLEMS, distribution
    from .protocol.evaluate import evaluate
    from .protocol.experiment import Experiment
    from .protocol.result import Result
    from .report import report
    from .report.compare import compare
    from .report.plots import (
        plot_differences,
        plot_learning,
        plot_map,
        plot_misspecification,
        plot_pair,
        plot_returns,
        plot_scores,
    )
    from .storage import frozen_set
    from .study.start import run
    from .testing import check_rules

__version__ = "0.1.0"

_MODULES = {
    "AGENTS": "agents",
    "Agent": "agents",
    "AgentError": "errors",
    "BrlbenchError": "errors",
    "Experiment": "protocol.experiment",
    "FlatDirichlet": "mdps.dirichlet",
    "FormulaSet": "agents.formulas",
    "InvalidInput": "errors",
    "MDP": "mdps.mdp",
    "PROBLEMS": "problems",
    "Result": "protocol.result",
    "SingleMDP": "mdps.single",
    "StoreError": "errors",
    "Task": "agents",
    "bayes_optimal_bound": "analysis.bayes_bound",
    "bayes_optimal_value": "mdps.bayes_optimal",
    "check_entry": "entries",
    "check_rules": "testing",
    "compare": "report.compare",
    "distribution": "problems",
    "evaluate": "protocol.evaluate",
    "frozen_set": "storage",
    "make_agent": "agents",
    "make_formulas": "agents.formulas",
    "new_entry": "entries",
    "paired_z_test": "analysis.significance",
    "plot_differences": "report.plots",
    "plot_learning": "report.plots",
    "plot_map": "report.plots",
    "plot_misspecification": "report.plots",
    "plot_pair": "report.plots",
    "plot_returns": "report.plots",
    "plot_scores": "report.plots",
    "report": "report",
    "run": "study.start",
}

__all__ = [
    "AGENTS",
    "MDP",
    "PROBLEMS",
    "Agent",
    "AgentError",
    "BrlbenchError",
    "Experiment",
    "FlatDirichlet",
    "FormulaSet",
    "InvalidInput",
    "Result",
    "SingleMDP",
    "StoreError",
    "Task",
    "bayes_optimal_bound",
    "bayes_optimal_value",
    "check_entry",
    "check_rules",
    "compare",
    "distribution",
    "evaluate",
    "frozen_set",
    "make_agent",
    "make_formulas",
    "new_entry",
    "paired_z_test",
    "plot_differences",
    "plot_learning",
    "plot_map",
    "plot_misspecification",
    "plot_pair",
    "plot_returns",
    "plot_scores",
    "report",
    "run",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
