"""Results of strangers beside others: an entry can't pass for what somebody else has played."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..agents import AGENTS
from ..errors import InvalidInput, StoreError
from ..protocol.summary import REFERENCE, Summary
from ..storage.compact import ExperimentHeader
from ..storage.entries import Entry
from ..storage.frozen import why_not_frozen

Pairs = Sequence[tuple[ExperimentHeader, Summary]]

_SCALE = ("random", REFERENCE)  # normalised scores depend on them


def genuine(header: ExperimentHeader, path: Path) -> ExperimentHeader:
    """The experiment of an entry under its own name; a StoreError unless it is a frozen set."""
    if problem := why_not_frozen(header.hash, header.settings):
        raise StoreError(f"{path} can't be used as an entry: {problem}")
    return header._replace(name=header.settings["name"])


def apart(
    pairs: Pairs, entry: Entry, found: Mapping[str, Mapping[str, Summary]]
) -> list[tuple[ExperimentHeader, Summary]]:
    """The summaries of an entry; those that only seem to be of known agents get the entry's name.

    Then they are of agents of their own in all experiments, and set no scale of normalised scores.

    Args:
        pairs: the summaries, each with its experiment.
        entry: whose they are.
        found: the summaries that are known, by the experiment's hash and the full label.
    """
    marked = _pretending(pairs, found)
    named = []
    for header, summary in pairs:
        algorithm, label = summary.algorithm, summary.label
        if not label.startswith(algorithm):
            label = summary.full_label
        if summary.full_label in marked:
            algorithm = f"{algorithm} [{entry.name}]"
            label = algorithm + label.removeprefix(summary.algorithm)
        named.append((header, replace(summary, algorithm=algorithm, label=label)))
    return named


def _pretending(pairs: Pairs, found: Mapping[str, Mapping[str, Summary]]) -> set[str]:
    """The full labels of agents that have the label of another one.

    They have other results than a known agent with this label, or more of them, or parameters that
    no built-in agent has. Agents of users share a label by chance unless they share a result, too.
    """
    everywhere = {label for agents in found.values() for label in agents}
    differing, repeated = set(), set()
    for header, summary in pairs:
        label = summary.full_label
        known = found.get(header.hash, {}).get(label)
        if not _is_possible(summary) or (known is not None and not _is_known(summary, known)):
            differing.add(label)
        elif known is not None:
            repeated.add(label)
    own = {summary.full_label for _, summary in pairs if summary.is_own}
    return differing | ((own & everywhere) - repeated)


def _is_known(summary: Summary, known: Summary) -> bool:
    """Whether a summary has nothing that the known one has not, so it can't take its place."""
    return len(summary.returns) <= len(known.returns) and is_repeated(summary, known)


def is_repeated(one: Summary, other: Summary) -> bool:
    """Whether two results of one label can be of one agent: their common returns are the same."""
    if one.deadline is not None:  # under a deadline, another run of the agent can differ
        return True
    common = min(len(one.returns), len(other.returns))
    return bool(np.allclose(one.returns[:common], other.returns[:common], rtol=1e-9))


def _is_possible(summary: Summary) -> bool:
    """False if a summary has the name of a built-in agent, and parameters that this has not."""
    if summary.algorithm not in AGENTS:
        return True
    try:
        known = AGENTS[summary.algorithm].rules_with(summary.parameters)
    except InvalidInput:
        return False
    limits_scale = summary.algorithm in _SCALE and summary.deadline is not None
    return summary.parameters.keys() <= known.keys() and not limits_scale
