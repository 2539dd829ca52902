"""Tabular environments of Gymnasium, read as problems."""

import itertools
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...arguments import parse_parameters, require
from ...beliefs.base import Family
from ...beliefs.flat import FlatDirichlet
from ...beliefs.flat.single import SingleMDP, alike_actions
from ...beliefs.hypotheses import Hypotheses
from ...errors import InvalidInput
from ...mdps.mdp import MDP, Rewards
from ...mdps.sparse import SparseTable
from ...values import POSITIVE, check, words

Outcomes = list[list[list[tuple[float, int, float, bool]]]]
"""By state and action, the outcomes: probability, next state, reward, whether the episode ends."""

Transition = tuple[int, int, int]
"""State, action, next state."""

_TERMINAL, _ACTIONS = words("restart", "absorb"), words("known", "alike")


def from_source(text: str) -> Family:
    """The environment of a text like `FrozenLake-v1` or `FrozenLake-v1:map_name=8x8,counts=2`.

    Alternatives, as in `FrozenLake-v1:is_slippery=true|false` or `A-v1|B-v1`, are hypotheses: the
    environment is one of them, all equally likely. Combinations of alternatives are all there.
    """
    names, _, assignments = text.rpartition(":")
    if "=" not in assignments:
        names, assignments = text, ""
    choices = [_alternatives(each) for each in filter(None, assignments.split(","))]
    variants = [
        from_gym(name, **parse_parameters(chosen))
        for name, *chosen in itertools.product(names.split("|"), *choices)
    ]
    if len(variants) == 1:
        return variants[0]
    for choice in ("counts", "actions"):
        if any(each[0].startswith(f"{choice}=") for each in choices):
            raise InvalidInput(f"gym:{text}: {choice} is of the prior of one environment: drop it")
    sizes = {variant.num_actions for variant in variants}
    if len(sizes) > 1:
        raise InvalidInput(f"gym:{text}: these have {sorted(sizes)} actions: must have as many")
    num_states = max(variant.num_states for variant in variants)
    mdps = [_with_states(variant.mean(), num_states) for variant in variants]
    return Hypotheses(mdps, name=f"gym:{text}", description=f"one of {len(mdps)} of Gymnasium")


def _alternatives(assignment: str) -> list[str]:
    """One assignment per value that `|` separates."""
    key, equals, values = assignment.partition("=")
    return [f"{key}{equals}{value}" for value in values.split("|")]


def _with_states(mdp: MDP, num_states: int) -> MDP:
    """An MDP with further states, which nothing leads to and which are never left."""
    if mdp.num_states == num_states:
        return mdp
    shape = num_states, mdp.num_actions

    def wide(table: SparseTable, loops: float) -> SparseTable:
        pairs = np.arange(table.num_pairs, num_states * mdp.num_actions)
        states = pairs // mdp.num_actions
        place = np.concatenate(
            [table.pair * num_states + table.next_state, pairs * num_states + states]
        )
        numbers = np.concatenate([table.values, np.full(len(pairs), loops)])
        return SparseTable.from_places(*shape, place, numbers)

    rewards = Rewards(wide(mdp.rewards.mean, 0.0), wide(mdp.rewards.variance, 0.0))
    start = np.pad(mdp.start, (0, num_states - mdp.num_states))
    return MDP(wide(mdp.transitions, 1.0), rewards, start)


def from_gym(
    environment: Any,
    terminal: str = "restart",
    counts: float = 1.0,
    actions: str = "known",
    **settings: Any,
) -> SingleMDP:
    """A tabular environment of Gymnasium as a problem: one MDP, the environment itself.

    Args:
        environment: an environment with a table `P` of transitions, or the id of one.
        terminal: what follows the end of an episode. With `restart`, transitions to the end lead
            to the start; with `absorb`, the end is never left and pays nothing.
        counts: the prior's count for each transition that it allows.
        actions: which transitions those are. With `known`, the environment's own; with `alike`,
            each action may lead wherever any action leads from the same state.
        settings: further arguments of `gymnasium.make`, if an id is given.

    A transition that may pay different rewards pays their mean. Priors may allow a transition that
    only other actions can make; it pays the mean of theirs.
    """
    check(terminal, "terminal", _TERMINAL)
    check(actions, "actions", _ACTIONS)
    check(counts, "counts", POSITIVE)
    label, table, start = _read(environment, settings)
    steps = _restarting(table, start) if terminal == "restart" else _absorbing(table, start, label)
    probabilities: dict[Transition, float] = defaultdict(float)
    paid: dict[Transition, float] = defaultdict(float)
    for place, probability, reward in steps:
        probabilities[place] += probability
        paid[place] += probability * reward
    shape = (len(table), len(table[0]))
    transitions = SparseTable.from_dict(*shape, probabilities, "transitions")
    known = transitions.replace(np.full(len(transitions.values), float(counts)))
    arguments = {"terminal": terminal, "counts": counts, "actions": actions, **settings}
    defaults = {"terminal": "restart", "counts": 1.0, "actions": "known"}
    chosen = [f"{key}={value}" for key, value in arguments.items() if value != defaults.get(key)]
    prior = FlatDirichlet(
        known if actions == "known" else alike_actions(transitions, counts),
        SparseTable.from_dict(*shape, _rewards(probabilities, paid, shape[1]), "rewards"),
        start,
        name=":".join(filter(None, ["gym", label, ",".join(chosen)])),
        description=f"{label} of Gymnasium",
    )
    return SingleMDP(transitions, prior)


def _read(environment: Any, settings: dict[str, Any]) -> tuple[str, Outcomes, Any]:
    """The name of an environment, its table, and the probabilities [S] of its start states."""
    if isinstance(environment, str):
        require("gym", "gymnasium")
        import gymnasium

        label = environment
        try:
            environment = gymnasium.make(label, **settings)
        except Exception as error:  # an environment can raise anything
            raise InvalidInput(f"the environment {label!r} can't be made: {error}") from error
    else:
        label = environment.spec.id if environment.spec else type(environment.unwrapped).__name__
    table = getattr(environment.unwrapped, "P", None)
    start = getattr(environment.unwrapped, "initial_state_distrib", None)
    if table is None or start is None:
        raise InvalidInput(
            f"the environment {label!r} has no table of transitions: it must have the attributes P "
            "and initial_state_distrib, as FrozenLake-v1 has"
        )
    rows = [
        [row[action] for action in range(len(row))]
        for row in map(table.__getitem__, range(len(table)))
    ]
    return label, rows, np.asarray(start, dtype=np.float64)


def _outcomes(table: Outcomes) -> Iterator[tuple[int, int, float, int, float, bool]]:
    for state, row in enumerate(table):
        for action, outcomes in enumerate(row):
            for probability, next_state, reward, is_end in outcomes:
                if probability > 0:
                    yield state, action, probability, int(next_state), float(reward), bool(is_end)


def _restarting(table: Outcomes, start: Any) -> Iterator[tuple[Transition, float, float]]:
    begin = [(int(state), start[state]) for state in np.flatnonzero(start)]
    for state, action, probability, next_state, reward, is_end in _outcomes(table):
        for target, share in begin if is_end else [(next_state, 1.0)]:
            yield (state, action, target), probability * share, reward


def _absorbing(
    table: Outcomes, start: Any, label: str
) -> Iterator[tuple[Transition, float, float]]:
    ends = {next_state for _, _, _, next_state, _, is_end in _outcomes(table) if is_end}
    within = defaultdict(set)
    for state, _, _, next_state, _, is_end in _outcomes(table):
        if not is_end:
            within[state].add(next_state)
    reached, new = set(), set(np.flatnonzero(start).tolist())
    while new:
        reached |= new
        new = set().union(*(within[state] for state in new)) - reached
    if reached & ends:
        raise InvalidInput(
            f"the environment {label!r} can pass through its end state {min(reached & ends)} "
            "without ending, so the state can't be absorbing: use terminal=restart"
        )
    for state, action, probability, next_state, reward, _ in _outcomes(table):
        if state in ends:
            yield (state, action, state), probability, 0.0
        else:
            yield (state, action, next_state), probability, reward


def _rewards(
    probabilities: dict[Transition, float],
    paid: dict[Transition, float],
    num_actions: int,
) -> dict[Transition, float]:
    rewards = {place: paid[place] / probability for place, probability in probabilities.items()}
    by_move = defaultdict(list)
    for (state, _, next_state), reward in rewards.items():
        by_move[state, next_state].append(reward)
    for (state, next_state), seen in by_move.items():
        for action in range(num_actions):
            rewards.setdefault((state, action, next_state), sum(seen) / len(seen))
    return rewards
