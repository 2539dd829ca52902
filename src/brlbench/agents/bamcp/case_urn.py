"""An urn of hypotheses: one is drawn at the root of each simulation, and then plays.

Alias tables draw the hypothesis, and its transitions. The table of hypotheses is made anew after
each real transition. So that this is cheap, it draws one of at most 1,024 groups of equal size; of
a group with several hypotheses, one is then drawn by running through the group.

A transition has a label where its reward is constant and differs between hypotheses: the number of
that reward.
"""

from typing import NamedTuple

import numpy as np

from ...beliefs.hypotheses import Hypotheses
from ...beliefs.hypotheses import kernel as hypotheses
from ...beliefs.hypotheses.kernel import NO_ENTRY, Cases, Weights, find_entry
from ...beliefs.hypotheses.rewards import REWARD_TOLERANCE
from ...builders.belief import build_belief
from ...builders.model import copy
from ...builders.planning import build_alias
from ...kernels import families
from ...kernels.arrays import at
from ...kernels.jit import cold, inlined, kernel
from ...kernels.loop.environment import scan
from ...kernels.random.alias import Alias, build, pick
from ...kernels.random.rng import State, advance, next_word, uniform
from ...kernels.types import Floats, Integers, ShortIntegers, Words
from ...memory import check_memory

_BYTES = 32  # of a transition of a hypothesis: its cell of a table and its reward
_MOST_GROUPS = 1024


class Rows(NamedTuple):
    """The transitions of all hypotheses, one hypothesis after the other. Never changes."""

    tables: Alias  # [K * E]; draw a transition
    reward: Floats  # [K, E], or [1, E] if all have the same

    @property
    def is_shared(self) -> bool:
        """Copies of urns share it."""
        return True


class Groups(NamedTuple):
    """The hypotheses that are left, in up to G consecutive groups of equal size."""

    table: Alias  # [G]; draws a group
    number: Integers  # [G]; 0, 1, 2, …
    weight: Floats  # [G]
    sizes: Integers  # [2]; how many GROUPS there are, and how many MEMBERS each has


GROUPS, MEMBERS = 0, 1  # slots of `sizes`; the last group may have fewer members


class CaseUrn(NamedTuple):
    """The weights of the hypotheses, and the one that was drawn last."""

    belief: Weights
    initial: Weights
    rows: Rows
    limit: int  # L: most steps of a simulation
    groups: Groups
    last: Integers  # [2]; the HYPOTHESIS, and the TRANSITION that was drawn last
    pair_of: ShortIntegers  # [L]; the pair of each draw


HYPOTHESIS, TRANSITION = 0, 1  # slots of `last`


def build_case_urn(prior: Hypotheses, limit: int) -> CaseUrn:
    """The prior as an urn for simulations of `limit` steps; it must be reset first."""
    initial = build_belief(prior, 0).belief
    cells = len(prior) * len(initial.cases.next_state)
    check_memory(_BYTES * cells, f"bamcp: tables for {len(prior):,} hypotheses", "use fewer")
    rows = Rows(tables=build_alias(cells), reward=np.ascontiguousarray(initial.cases.reward.T))
    entries = np.tile(np.arange(len(initial.cases.next_state)), len(prior))
    make_tables(initial.cases, rows.tables, entries, prior.mdps.probability.ravel())
    most = min(len(prior), _MOST_GROUPS)
    return CaseUrn(
        belief=copy(initial),
        initial=initial,
        rows=rows,
        limit=limit,
        groups=Groups(
            table=build_alias(most),
            number=np.arange(most),
            weight=np.zeros(most),
            sizes=np.zeros(2, np.int64),
        ),
        last=np.zeros(2, np.int64),
        pair_of=np.zeros(limit, np.int32),
    )


@kernel
def make_tables(cases: Cases, tables: Alias, entries: Integers, probability: Floats) -> None:
    """Make the tables of all rows, from their values and weights [K * E]."""
    for hypothesis in range(0, len(entries), len(cases.next_state)):
        for pair in range(len(cases.row_start) - 1):
            first = cases.row_start[pair]
            length = cases.row_start[pair + 1] - first
            build(tables, entries, probability, hypothesis + first, length)


@cold
def make_groups(urn: CaseUrn) -> None:
    """Divide the hypotheses that are left into groups, and make the table that draws one."""
    groups, left = urn.groups, urn.belief.left[0]
    members = (left - 1) // len(groups.number) + 1
    number = (left - 1) // members + 1
    groups.sizes[GROUPS], groups.sizes[MEMBERS] = number, members
    for group in range(number):
        first = group * members
        groups.weight[group] = total(urn.belief.weight, first, min(first + members, left))
    build(groups.table, groups.number, groups.weight, 0, number)


@inlined
def total(numbers: Floats, first: int, end: int) -> float:
    """The sum of some numbers, in four sums that need not wait for each other."""
    a = b = c = d = 0.0
    i = first
    while i + 4 <= end:
        a += numbers[i]
        b += numbers[i + 1]
        c += numbers[i + 2]
        d += numbers[i + 3]
        i += 4
    while i < end:
        a += numbers[i]
        i += 1
    return a + b + c + d


def reset(urn: CaseUrn, x: int) -> None:
    """Back to the prior, and learn from the start state."""
    families.reset(urn.belief, urn.initial)
    families.begin(urn.belief, x)
    make_groups(urn)


def learn(urn: CaseUrn, pair: int, y: int, r: float) -> None:
    """Learn from a real transition."""
    if hypotheses.learn(urn.belief, pair, y, r):
        make_groups(urn)


@inlined
def begin(urn: CaseUrn, rng: Words) -> None:
    """Draw the hypothesis of a simulation."""
    belief, groups = urn.belief, urn.groups
    group = pick(groups.table, 0, groups.sizes[GROUPS], next_word(rng))
    members = groups.sizes[MEMBERS]
    place = group * members
    if members > 1:
        end = min(place + members, belief.left[0])
        place = scan(belief.weight, place, end, uniform(rng) * groups.weight[group])
    urn.last[HYPOTHESIS] = belief.case[place]


@inlined
def draw(urn: CaseUrn, pair: int, state: State) -> tuple[int, State]:
    """Draw a next state."""
    cases, row = urn.belief.cases, at(pair)
    word, state = advance(state)
    first = cases.row_start[row]
    length = cases.row_start[at(pair + 1)] - first
    start = urn.last[HYPOTHESIS] * len(cases.next_state) + first
    entry = pick(urn.rows.tables, start, length, word)
    urn.last[TRANSITION] = entry
    return int(cases.next_state[at(entry)]), state


@inlined
def draw_after(urn: CaseUrn, pair: int, _: np.uint64, state: State) -> tuple[int, State]:
    """The same: half a word does not suffice."""
    return draw(urn, pair, state)


@inlined
def push(urn: CaseUrn, draws: int, pair: int, y: int) -> None:
    """Keep the pair of a draw; later draws do not depend on it."""
    urn.pair_of[at(draws)] = pair


@inlined
def undo(urn: CaseUrn, draws: int) -> None:
    """Nothing to take back."""


@inlined
def reward(urn: CaseUrn, pair: int, y: int) -> float:
    """The reward of the transition that was drawn last; its mean, if it is Gaussian."""
    rewards = urn.rows.reward
    number: float = rewards[urn.last[HYPOTHESIS] if len(rewards) > 1 else 0, urn.last[TRANSITION]]
    return number


@inlined
def outcome(urn: CaseUrn, pair: int, y: int) -> int:
    """The next state and the label of the transition that was drawn last, as one number."""
    cases, entry = urn.belief.cases, urn.last[TRANSITION]
    if cases.outcome_start[entry + 1] == cases.outcome_start[entry] + 1:
        return y
    return y + (len(cases.row_start) - 1) * int(cases.label[entry, urn.last[HYPOTHESIS]])


@inlined
def real_outcome(urn: CaseUrn, pair: int, y: int, r: float) -> int:
    """The next state and the label of a real transition, as one number."""
    cases = urn.belief.cases
    entry = find_entry(cases, pair, y)
    if entry != NO_ENTRY:
        first = cases.outcome_start[entry]
        for o in range(first, cases.outcome_start[entry + 1]):
            known = cases.outcome_reward[o]
            if abs(r - known) <= REWARD_TOLERANCE * max(1.0, abs(known)):
                return y + (len(cases.row_start) - 1) * int(o - first)
    return y
