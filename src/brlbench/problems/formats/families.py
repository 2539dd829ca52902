"""Each family of distributions as plain data, and back."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...beliefs.base import Family
from ...beliefs.counting import CountingPrior
from ...beliefs.flat import FlatDirichlet
from ...beliefs.flat.single import SingleMDP
from ...beliefs.hypotheses import Hypotheses
from ...beliefs.own import OwnDistribution
from ...beliefs.rewards import KINDS, RewardPrior
from ...beliefs.tied import TiedDirichlet
from ...errors import InvalidInput, short
from ...mdps.mdp import MDP, Rewards
from ...mdps.sparse import Floats, check_entries, check_size
from ...values import COUNT, FLAG, TEXT, check
from ..guests import guest_distribution
from .lines import ALL, lines_of, tables
from .original import start_state


class Kind(NamedTuple):
    """How a family is written in files: its keys, and the distribution of a document."""

    required: tuple[str, ...]
    optional: tuple[str, ...]
    build: Callable[[dict[str, Any]], Family]


def _shape(document: dict[str, Any]) -> tuple[int, int]:
    states, actions = (check(document[key], key, COUNT) for key in ("num_states", "num_actions"))
    check_size(states, actions)
    return states, actions


def _rewards(lines: Any, shape: tuple[int, int]) -> Rewards:
    return Rewards(*tables(lines, shape, "rewards", ("mean", "variance")))


def _given_rewards(document: dict[str, Any], shape: tuple[int, int]) -> Rewards | RewardPrior:
    """Known rewards, from lines, or the prior of unknown ones, from a table."""
    rewards = document["rewards"]
    if not isinstance(rewards, dict) or "prior" not in rewards:
        known = _rewards(rewards, shape)
        is_binary = check(document.get("binary_rewards", False), "binary_rewards", FLAG)
        return dataclasses.replace(known, is_binary=is_binary)
    names = " or ".join(f'"{name}"' for name in KINDS)
    kind = KINDS.get(str(rewards["prior"]))
    if kind is None:
        raise InvalidInput(f"rewards.prior = {short(rewards['prior'])}: must be {names}")
    for key in rewards:
        if key not in ("prior", *kind.words):
            words = ", ".join(kind.words)
            raise InvalidInput(f"unknown key 'rewards.{key}': must be one of prior, {words}")
    parameters = {key: value for key, value in rewards.items() if key != "prior"}
    prior: RewardPrior = kind(**parameters)
    return prior


def _build_flat(document: dict[str, Any]) -> Family:
    shape = _shape(document)
    (counts,) = tables(document["counts"], shape, "counts", ("count",))
    rewards = _given_rewards(document, shape)
    distribution = FlatDirichlet(counts, rewards, document.get("start", 0))
    if "transitions" not in document:
        return distribution
    (transitions,) = tables(document["transitions"], shape, "transitions", ("probability",))
    return SingleMDP(transitions, distribution)


def _build_tied(document: dict[str, Any]) -> Family:
    shape = states, actions = _shape(document)
    counts, lines = document["groups"], document["pairs"]
    first = counts[0] if isinstance(counts, list) and counts else None
    if not isinstance(first, list) or not first or not isinstance(lines, list):
        raise InvalidInput("groups and pairs must be lists of lists")
    check_entries(states * actions * len(first), "the outcomes of all pairs")
    group = np.zeros(shape, np.int64)
    following = np.full((*shape, len(first)), -1)
    for i, line in enumerate(lines):
        wanted = 3 + len(first)
        if not isinstance(line, list) or len(line) != wanted:
            names = "[state, action, group, next_state of each outcome]"
            raise InvalidInput(f"pairs[{i}] = {short(line)}: must be {names}, {wanted} numbers")
        for name, index, end in zip(("state", "action"), line, shape, strict=False):
            if index != ALL and not (type(index) is int and 0 <= index < end):
                raise InvalidInput(
                    f'pairs[{i}]: {name} {short(index)} must be 0 to {end - 1} or "{ALL}"'
                )
        if not all(type(number) is int for number in line[2:]):
            raise InvalidInput(f"pairs[{i}] = {short(line)}: must be whole numbers")
        where = tuple(slice(None) if index == ALL else index for index in line[:2])
        group[where], following[where] = line[2], line[3:]
    missing = np.argwhere(following[..., 0] < 0)
    if len(missing):
        state, action = missing[0]
        raise InvalidInput(f"pairs has no line for state {state}, action {action}: add it")
    rewards = _given_rewards(document, shape)
    return TiedDirichlet(counts, group, following, rewards, document.get("start", 0))


def _build_hypotheses(document: dict[str, Any]) -> Family:
    shape, entries = _shape(document), document["mdps"]
    if not isinstance(entries, list) or not entries or not isinstance(entries[0], dict):
        raise InvalidInput("mdps must be a list of tables, at least one")
    mdps, weights = [], []
    for i, entry in enumerate(entries):
        try:
            mdps.append(_build_mdp(entry, document, shape))
        except InvalidInput as error:
            raise InvalidInput(f"mdps[{i}]: {error}") from None
        weights.append(entry.get("weight", 1))
    return Hypotheses(mdps, weights)


def _build_mdp(entry: Any, document: dict[str, Any], shape: tuple[int, int]) -> MDP:
    if not isinstance(entry, dict) or "transitions" not in entry:
        raise InvalidInput("must be a table with transitions")
    for key in entry:
        if key not in _MDP_KEYS:
            raise InvalidInput(f"unknown key {key!r}: must be one of {', '.join(_MDP_KEYS)}")
    both = {**document, **entry}
    if "rewards" not in both:
        raise InvalidInput("rewards are missing: add them here, or once for all MDPs")
    (transitions,) = tables(both["transitions"], shape, "transitions", ("probability",))
    return MDP(transitions, _rewards(both["rewards"], shape), both.get("start", 0))


def _build_own(document: dict[str, Any]) -> Family:
    source = check(document["source"], "source", TEXT)
    own = guest_distribution(source)
    if own.digest != document["digest"]:
        raise InvalidInput(
            f"{source} draws other MDPs than when this was written: use the code of then, or make "
            "it again"
        )
    return own


_MDP_KEYS = ("weight", "start", "transitions", "rewards")
_SIZES = ("num_states", "num_actions")
_FLAT = Kind(
    (*_SIZES, "counts", "rewards"), ("start", "transitions", "binary_rewards"), _build_flat
)
_KINDS = {
    "groups": Kind(
        (*_SIZES, "groups", "pairs", "rewards"), ("start", "binary_rewards"), _build_tied
    ),
    "mdps": Kind((*_SIZES, "mdps"), ("start", "rewards"), _build_hypotheses),
    "source": Kind(("source", "digest"), (), _build_own),
}


def kind_of(document: Any) -> Kind:
    """The kind of distribution in a document."""
    keys = document if isinstance(document, dict) else ()
    return next((kind for key, kind in _KINDS.items() if key in keys), _FLAT)


def values_of(distribution: Family) -> dict[str, Any]:
    """A distribution as plain data, besides its format, its name and its description."""
    if isinstance(distribution, OwnDistribution):
        if not distribution.path:
            raise InvalidInput(
                f"{distribution.name} is an object, which files can't hold: name it as "
                '"module:name", with a module that can be imported'
            )
        return {"source": distribution.path, "digest": distribution.digest}
    sizes = {"num_states": distribution.num_states, "num_actions": distribution.num_actions}
    if isinstance(distribution, Hypotheses):
        return {**sizes, **_hypotheses_values(distribution)}
    values: dict[str, Any] = {**sizes, "start": _start_value(distribution.start)}
    if isinstance(distribution, TiedDirichlet):
        values["groups"] = distribution.group_counts.tolist()
        pairs = np.argwhere(distribution.group >= 0)
        rest = distribution.group[..., None], distribution.next_state
        flat = [part.reshape(len(pairs), -1) for part in rest]
        values["pairs"] = np.concatenate([pairs, *flat], axis=1).tolist()
        values |= _reward_values(distribution)
    elif isinstance(distribution, FlatDirichlet):
        values["counts"] = lines_of(distribution.counts, distribution.counts.values)
        values |= _reward_values(distribution)
        if isinstance(distribution, SingleMDP):
            values["transitions"] = lines_of(distribution.counts, distribution.probabilities)
    else:
        raise InvalidInput(f"{type(distribution).__name__} can't be written to a file")
    return values


def _hypotheses_values(distribution: Hypotheses) -> dict[str, Any]:
    mdps, shared = distribution.mdps, {}
    if len(mdps.start) == 1:
        shared["start"] = _start_value(mdps.start[0])
    if mdps.rewards is not None:
        shared["rewards"] = _reward_lines(mdps.rewards)
    entries = []
    for weight, mdp in zip(distribution.weights.tolist(), mdps, strict=True):
        own = {"start": _start_value(mdp.start), "rewards": _reward_lines(mdp.rewards)}
        transitions = lines_of(mdp.transitions, mdp.transitions.values)
        own = {key: value for key, value in own.items() if key not in shared}
        entries.append({"weight": weight, **own, "transitions": transitions})
    return {**shared, "mdps": entries}


def _start_value(start: Floats) -> Any:
    state = start_state(start)
    return start.tolist() if state is None else state


def _reward_values(distribution: CountingPrior) -> dict[str, Any]:
    """Known rewards as lines, or the prior of unknown ones as a table."""
    prior, rewards = distribution.reward_prior, distribution.rewards
    if prior is None:
        binary = {"binary_rewards": True} if rewards.is_binary else {}
        return {**binary, "rewards": _reward_lines(rewards)}
    name = next(name for name, kind in KINDS.items() if isinstance(prior, kind))
    numbers = {
        key: float(array.flat[0]) if (array == array.flat[0]).all() else array.tolist()
        for key, array in prior.parameters().items()
    }
    return {"rewards": {"prior": name, **numbers}}


def _reward_lines(rewards: Rewards) -> list[list[float]]:
    places = rewards.mean.union(rewards.variance)
    return lines_of(places, rewards.mean.at(places), rewards.variance.at(places))
