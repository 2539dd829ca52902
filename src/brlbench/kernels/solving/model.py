"""The mean MDP of a posterior, kept solved exactly while the posterior learns.

Every Q-value is computed by the one formula in `q_value`, so that values which are equal by
symmetry stay equal.

How the model is solved depends on its plan: `endless` has values without end, `episodes` those of
episodes. Both provide the functions with `plan` in their names.
"""

from typing import Any, NamedTuple

from .. import families
from ..arrays import at, copy_matrix, copy_vector
from ..choice import first_greedy, greedy
from ..counts import Counts
from ..counts import reset as reset_counts
from ..dispatch import by_type
from ..jit import inlined, kernel
from ..types import Floats, Integers, Words

SUM, SCALE = 0, 1  # slots of `norms`
_MANY_PAIRS = 64


class Model(NamedTuple):
    """A belief, its counts, and the optimal solution of their mean MDP."""

    counts: Counts
    belief: Any  # what changes the counts, see `families`
    discount: float
    bonus: Floats  # [P]; added to the expected reward of the pair
    policy: Integers  # [S]
    pending: Integers  # [S]; work space: the policy to switch to
    inverse: Floats  # [S, S], or [0, 0] where sweeps take its place
    row: Floats  # [S]; work space
    value: Floats  # [S]
    q: Floats  # [P]
    norms: Floats  # [2]; SUM of the values; SCALE, the largest absolute value
    entry_reward: Floats  # [pool]; of each entry, or [0] for agents that don't need them
    plan: Any  # Endless or Episode


@inlined
def with_counts(model: Model, counts: Counts) -> Model:
    """The same model with other counts."""
    return Model(counts, *model[1:])  # `counts` is the first field


@inlined
def as_flat(model: Model) -> Model:
    """The same model with a flat belief about transitions."""
    belief = families.as_flat(model.belief)
    return Model(model.counts, belief, *model[2:])  # the second field is the belief


@inlined
def without_belief(model: Model) -> Model:
    """The same model with its counts alone, as solving needs it.

    So solving is compiled once, and not for each family of beliefs.
    """
    return Model(model.counts, families.Flat(), *model[2:])  # the second field is the belief


@inlined
def reset(model: Model, initial: Model, x: int) -> int:
    """Back to the initial model, which is solved, and learn from the start state x.

    Return the number of pairs whose counts changed; then `update_start` is due.
    """
    reset_counts(model.counts, initial.counts)
    families.reset(model.belief, initial.belief)
    if families.revalues(model.belief):
        copy_vector(model.entry_reward, initial.entry_reward)
    copy_vector(model.bonus, initial.bonus)
    copy_vector(model.policy, initial.policy)
    copy_matrix(model.inverse, initial.inverse)
    copy_vector(model.value, initial.value)
    copy_vector(model.q, initial.q)
    copy_vector(model.norms, initial.norms)
    reset_plan(model.plan, initial.plan)
    if families.begin(model.belief, x):
        return families.recount(model.belief, model.counts, model.entry_reward)
    return 0


@by_type
def reset_plan(plan: Any, initial: Any) -> None:
    """Back to the initial plan."""


@inlined
def update_start(model: Model, number: int) -> None:
    """Bring the solution up to date after the start state changed `number` pairs' counts."""
    if number > 0:
        update_start_plan(model.plan, model, number)


@by_type
def update_start_plan(plan: Any, model: Model, number: int) -> None:
    """`update_start`, by the plan."""


@inlined
def start(model: Model, initial: Model, x: int) -> None:
    """Back to the initial model, and learn from the start state x."""
    update_start(model, reset(model, initial, x))


@inlined
def scale(model: Model) -> float:
    """The size of the values, to which tolerances are relative."""
    return model.norms[SCALE]


@inlined
def best_action(model: Model, x: int, rng: Words) -> int:
    """A best action; ties are broken at random."""
    actions = model.counts.num_actions
    return greedy(model.q, x * actions, actions, scale(model), rng)


@inlined
def first_best_action(model: Model, x: int) -> int:
    """The lowest-numbered best action."""
    actions = model.counts.num_actions
    return first_greedy(model.q, x * actions, actions, scale(model))


@inlined
def q_value(model: Model, pair: int) -> float:
    """The value of a pair, from the values of the states."""
    return with_reward(model, pair, next_values(model, pair))


@inlined
def next_values(model: Model, pair: int) -> float:
    """The sum of a pair's counts times the values of the next states."""
    counts, row = model.counts, at(pair)
    first = counts.row_start[row]
    total = counts.background[row] * model.norms[SUM]
    for entry in range(first, first + counts.row_length[row]):
        total += counts.entry_count[at(entry)] * model.value[at(counts.entry_next[at(entry)])]
    return total


@inlined
def with_reward(model: Model, pair: int, future: float) -> float:
    """The value of a pair, from its `next_values`."""
    counts, row = model.counts, at(pair)
    expected = (counts.reward_sum[row] + model.discount * future) / counts.total[row]
    return expected + model.bonus[row]


@inlined
def measure(model: Model) -> None:
    """Compute the sum and the scale of the values."""
    total, largest = 0.0, 0.0
    for value in model.value:
        total += value
        largest = max(largest, abs(value))
    model.norms[SUM], model.norms[SCALE] = total, largest


@kernel
def solve(model: Model) -> None:
    """Solve from scratch."""
    solve_plan(model.plan, without_belief(model))


@by_type
def solve_plan(plan: Any, model: Model) -> None:
    """`solve`, by the plan."""


@by_type
def update_plan(plan: Any, model: Model, x: int, u: int, y: int, number: int) -> None:
    """`update`, by the plan."""


@inlined
def solve_again(model: Model) -> None:
    """Bring the solution up to date after many bonuses changed."""
    solve_again_plan(model.plan, without_belief(model))


@by_type
def solve_again_plan(plan: Any, model: Model) -> None:
    """`solve_again`, by the plan."""


@inlined
def skip(model: Model) -> None:
    """A decision was made from which nothing is learned."""
    skip_plan(model.plan, without_belief(model))


@by_type
def skip_plan(plan: Any, model: Model) -> None:
    """`skip`, by the plan."""


@inlined
def last_q(model: Model, pair: int) -> float:
    """The Q-value of a pair, as it is known now, at the decision that was made last."""
    return last_q_plan(model.plan, without_belief(model), pair)


@by_type
def last_q_plan(plan: Any, model: Model, pair: int) -> float:  # type: ignore[empty-body]
    """`last_q`, by the plan."""


@inlined
def learn(model: Model, x: int, u: int, y: int, r: float) -> None:
    """Learn from a transition and bring the solution up to date."""
    number = count(model, x * model.counts.num_actions + u, y, r)
    update(model, x, u, y, number)


@inlined
def count(model: Model, pair: int, y: int, r: float) -> int:
    """Learn from a transition; return the number of pairs whose counts changed."""
    return families.count(model.belief, model.counts, pair, y, r)


@inlined
def count_rewarded(model: Model, pair: int, y: int, r: float) -> int:
    """As `count`, and keep the rewards of all entries."""
    return families.count_rewarded(model.belief, model.counts, model.entry_reward, pair, y, r)


@inlined
def changed(model: Model, pair: int, i: int) -> int:
    """The i-th pair whose counts changed when a transition of `pair` was counted last."""
    return families.changed(model.belief, pair, i)


@inlined
def update(model: Model, x: int, u: int, y: int, number: int) -> None:
    """Bring the solution up to date after (x, u, y) was counted and `number` pairs changed."""
    update_plan(model.plan, model, x, u, y, number)


@inlined
def set_q_values(model: Model) -> None:
    """Compute all Q-values."""
    q = model.q
    if len(q) < _MANY_PAIRS:
        for pair in range(len(q)):
            q[at(pair)] = q_value(model, pair)
    else:  # the same in two loops: the second one is vectorised
        for pair in range(len(q)):
            q[at(pair)] = next_values(model, pair)
        for pair in range(len(q)):
            q[at(pair)] = with_reward(model, pair, q[at(pair)])
