# The public names, listed once: type checkers read this file, and so does `__init__.py`.

from . import agents as agents
from .agents import AGENTS as AGENTS
from .agents import Agent as Agent
from .agents import Task as Task
from .agents import make_agent as make_agent
from .analysis.autopsy import autopsy as autopsy
from .analysis.bayes_bound import bayes_optimal_bound as bayes_optimal_bound
from .analysis.bayes_optimal import bayes_optimal_value as bayes_optimal_value
from .analysis.significance import paired_z_test as paired_z_test
from .beliefs.flat import FlatDirichlet as FlatDirichlet
from .beliefs.flat.single import SingleMDP as SingleMDP
from .beliefs.hypotheses import Hypotheses as Hypotheses
from .beliefs.rewards import BernoulliRewards as BernoulliRewards
from .beliefs.rewards import NormalRewards as NormalRewards
from .beliefs.tied import TiedDirichlet as TiedDirichlet
from .entries import check_entry as check_entry
from .entries import new_entry as new_entry
from .errors import AgentError as AgentError
from .errors import BrlbenchError as BrlbenchError
from .errors import InvalidInput as InvalidInput
from .errors import StoreError as StoreError
from .formulas import FormulaSet as FormulaSet
from .formulas import make_formulas as make_formulas
from .mdps.mdp import MDP as MDP
from .problems import PROBLEMS as PROBLEMS
from .problems import distribution as distribution
from .protocol.evaluate import evaluate as evaluate
from .protocol.experiment import Experiment as Experiment
from .report import report as report
from .report.board import leaderboard as leaderboard
from .report.compare import compare as compare
from .report.plots import plot_autopsy as plot_autopsy
from .report.plots import plot_differences as plot_differences
from .report.plots import plot_learning as plot_learning
from .report.plots import plot_map as plot_map
from .report.plots import plot_misspecification as plot_misspecification
from .report.plots import plot_pair as plot_pair
from .report.plots import plot_returns as plot_returns
from .report.plots import plot_scores as plot_scores
from .results.result import Result as Result
from .storage import frozen_set as frozen_set
from .study.start import run as run
from .study.tuning import tune as tune
from .testing import check_rules as check_rules

__version__: str
__all__: list[str]
