"""Index strategies given by a formula (Castronovo et al., 2012 and 2014), the strategies of OPPS.

In state x the agent plays the action u with the largest formula(Qmean, Qself, Quniform), each
feature at (x, u). The features are the optimal Q-functions of three models, which all learn online
and are solved again, exactly, after every transition:

- mean starts from the prior;
- self starts from one count per pair, back to its own state;
- uniform starts from one count per transition.

All three learn unknown rewards alike. Under sets of hypotheses that differ in rewards, self and
uniform take those that the prior expects. Only the models that a formula uses are kept. Models that
start from the same counts (mean and uniform, under a uniform prior) are kept once.

The benchmark's paper leaves open what an undefined index means (see `formulas`). Here an action
with an undefined index ranks below all others. Ties are broken at random.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...beliefs.counting import CountingPrior
from ...formulas import Formula, opcodes, parse
from ...formulas.formula import BINARY, UNARY, operator
from ...mdps.sparse import Floats, Integers, SparseTable, check_dense
from ...mdps.task import STEP
from ...values import text
from ..base import (
    PLANS,
    Arrays,
    CompiledAgent,
    Family,
    FlatDirichlet,
    Generator,
    Task,
    new_rng,
    parameter,
    replan_parameter,
)

if TYPE_CHECKING:
    from ...kernels.solving.model import Model
    from . import kernel as kernels

# The reward table, and an empty one of entries: the same for all models that use them.
_SHARED = ("reward_start", "reward_next", "reward", "entry_reward")


@dataclass
class FormulaAgent(CompiledAgent):
    """Takes the action with the largest index, a formula of the Q-values of up to three models."""

    name = "formula"
    reference = "Castronovo et al., 2012"
    needs = ("mean",)
    episodes = PLANS
    formula: str = parameter(
        "Qmean", "the index of an action", text("a formula of Qmean, Qself and Quniform", parse)
    )
    replan: str = replan_parameter()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.formula = str(parse(self.formula))  # one text for the same agent

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Solve the models that the formula uses."""
        formula = parse(self.formula)
        models, slots = build_models(prior, task, formula.features, self.replan)
        return build_agent(models, slots, formula)


def build_models(
    prior: Family, task: Task, features: tuple[str, ...], replan: str = STEP
) -> tuple["Model", dict[str, int]]:
    """The models of some features, solved and stacked, and each feature's place among them.

    The first one is that of the prior itself, if a feature needs it.
    """
    from ...builders.model import solved_model

    ordered = sorted(features or ("Qmean",), key=lambda name: name != "Qmean")
    starts = {name: _starting_point(prior, name) for name in ordered}
    distinct: dict[str, Family] = {}
    for start in starts.values():
        distinct.setdefault(start.digest, start)
    slots = {name: list(distinct).index(start.digest) for name, start in starts.items()}
    solved = [solved_model(start, task, replan=replan) for start in distinct.values()]
    return _stacked(solved), slots


def _starting_point(prior: Family, feature: str) -> Family:
    if feature == "Qmean":
        return prior
    rewards = prior.given_rewards if isinstance(prior, CountingPrior) else prior.mean().rewards
    if feature == "Quniform":
        check_dense(prior.num_states, prior.num_actions)
        ones = np.ones((prior.num_states, prior.num_actions, prior.num_states))
        return FlatDirichlet(ones, rewards, prior.start)
    states, actions = prior.num_states, prior.num_actions
    same_state = np.repeat(np.arange(states), actions)
    counts = SparseTable(
        states, actions, np.arange(states * actions + 1), same_state, np.ones(states * actions)
    )
    return FlatDirichlet(counts, rewards, prior.start)


def _stacked(parts: list[Any]) -> Any:
    """Stack models (or counts) of one size: each array gets a new first axis."""
    from ...beliefs.rewards.kernel import Rewarded

    fields: dict[str, Any] = {}
    for field in parts[0]._fields:
        values = [getattr(part, field) for part in parts]
        if field in ("belief", "inner") and not isinstance(values[0], Rewarded):
            fields[field] = values[0]
        elif isinstance(values[0], tuple):
            fields[field] = _stacked(values)
        elif field in _SHARED:
            fields[field] = values[-1]
        elif isinstance(values[0], np.ndarray):
            room = max(map(len, values))  # only vectors of counts differ in length
            fields[field] = np.stack(
                [np.pad(v, (0, room - len(v))) if v.ndim == 1 else v for v in values]
            )
        elif field == "has_background":
            fields[field] = any(values)
        else:
            fields[field] = values[0]
    return type(parts[0])(**fields)


def build_agent(models: "Model", slots: Mapping[str, int], formula: Formula) -> "kernels.Formula":
    """The arrays of an agent, with room for any formula of at most this many instructions."""
    from ...builders.model import copy
    from . import kernel as kernels

    codes, numbers = instructions(formula, slots)
    num_models = len(models.q)
    return kernels.Formula(
        rng=new_rng(),
        models=copy(models),
        initial=models,
        used=uses(formula, slots, num_models),
        program=kernels.Program(
            codes=codes,
            numbers=numbers,
            length=np.array([len(codes)]),
            stack=np.zeros((len(codes), 2)),
        ),
        indices=np.zeros((models.counts.num_actions, 2)),
        undefined=np.zeros(1, np.int64),
    )


def instructions(formula: Formula, slots: Mapping[str, int]) -> tuple[Integers, Floats]:
    """The instructions [n] of a formula and their numbers [n]; n can exceed the tokens.

    Operators of more than two values become instructions for two, from left to right.
    """
    codes = {**slots, **UNARY, **BINARY, "avg": opcodes.ADD}
    stack: list[list[tuple[int, float]]] = []
    for token in formula.tokens:
        symbol, count = operator(token)
        operands, stack = stack[len(stack) - count :], stack[: len(stack) - count]
        if isinstance(token, float):
            program = [(opcodes.NUMBER, token)]
        elif count < 2:
            program = [*(operands[0] if operands else ()), (codes[token], 0.0)]
        else:
            program = operands[0]
            for operand in operands[1:]:
                program = [*program, *operand, (codes[symbol], 0.0)]
            if symbol == "avg":
                program += [(opcodes.NUMBER, float(count)), (opcodes.DIVIDE, 0.0)]
        stack.append(program)
    return np.array([code for code, _ in stack[0]]), np.array([number for _, number in stack[0]])


def uses(formula: Formula, slots: Mapping[str, int], num_models: int) -> NDArray[np.bool_]:
    """Flags [num_models] of the models that a formula needs."""
    used = np.zeros(num_models, np.bool_)
    used[[slots[feature] for feature in formula.features]] = True
    return used
