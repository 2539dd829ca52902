"""Entries of strangers: they can neither end the process that reads them nor impersonate others."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from ..agents import AGENTS
from ..agents.labels import label_of
from ..errors import InvalidInput, StoreError
from ..executors.base import Call, Done, Limits
from ..executors.child import Child
from ..results.compact import ExperimentHeader
from ..results.sealed import Parse
from ..results.summary import REFERENCE, Summary
from ..storage.entries import Entry
from ..storage.frozen import why_not_frozen

Pairs = Sequence[tuple[ExperimentHeader, Summary]]

_SCALE = ("random", REFERENCE)  # normalised scores depend on them
_FUNCTION = "brlbench.results.sealed:parse_for_parent"
_LIMITS = Limits(seconds=30.0, memory=2**30)  # of parsing; entries are much smaller


def parser_in(child: Child) -> Parse:
    """A parser for files of strangers, in a child process.

    Polars allocates what a file announces, and ends its process if that fails. So the child parses
    the file, and hands back a table that it has made itself.
    """

    def parse(data: bytes) -> tuple[pl.LazyFrame, str]:
        outcome = child.perform(Call(_FUNCTION, data, _LIMITS))
        if not isinstance(outcome, Done):
            raise ValueError(outcome.reason)
        table, metadata = outcome.value
        return pl.read_ipc(table).lazy(), metadata

    return parse


def genuine(header: ExperimentHeader, path: Path) -> ExperimentHeader:
    """The experiment of an entry under its own name; a StoreError unless it is a frozen set."""
    if problem := why_not_frozen(header.hash, header.settings):
        raise StoreError(f"{path} can't be used as an entry: {problem}")
    return header._replace(name=header.settings["name"])


def with_distinct_names(
    pairs: Pairs, entry: Entry, known: Mapping[str, Mapping[str, Summary]]
) -> list[tuple[ExperimentHeader, Summary]]:
    """The summaries of an entry; impersonators of known agents get the entry's name.

    They are then agents of their own in all experiments, and set no scale of normalised scores.

    Args:
        pairs: the summaries, each with its experiment.
        entry: whose they are.
        known: the summaries of others, by the experiment's hash and the full label.
    """
    impersonators = _impersonators(pairs, known)
    renamed = []
    for header, summary in pairs:
        algorithm, label = summary.algorithm, summary.label
        # A stored label could hide the parameters of a built-in agent.
        if algorithm in AGENTS or not label.startswith(algorithm):
            label = label_of(algorithm, summary.parameters, summary.deadline)
        if summary.full_label in impersonators:
            algorithm = f"{algorithm} [{entry.name}]"
            label = algorithm + label.removeprefix(summary.algorithm)
        renamed.append((header, replace(summary, algorithm=algorithm, label=label)))
    return renamed


def _impersonators(pairs: Pairs, known: Mapping[str, Mapping[str, Summary]]) -> set[str]:
    """The full labels of agents that have the label of another one.

    They have other results than a known agent with this label, or more of them, or parameters that
    no built-in agent has. Agents of users share a label by chance unless they share a result, too.
    """
    everywhere = {label for agents in known.values() for label in agents}
    differing, repeated = set[str](), set[str]()
    for header, summary in pairs:
        label = summary.full_label
        same = known.get(header.hash, {}).get(label)
        if not _is_possible(summary):
            differing.add(label)
        elif same is not None:
            # A summary with more returns than the known one would replace it.
            has_more = len(summary.returns) > len(same.returns)
            is_known = not has_more and is_repeated(summary, same)
            (repeated if is_known else differing).add(label)
    of_users = {summary.full_label for _, summary in pairs if summary.is_own}
    return differing | ((of_users & everywhere) - repeated)


def is_repeated(one: Summary, other: Summary) -> bool:
    """True if two results of one label can be of one agent: their common returns are the same."""
    if one.deadline is not None:  # under a deadline, another run of the agent can differ
        return True
    common = min(len(one.returns), len(other.returns))
    return bool(np.allclose(one.returns[:common], other.returns[:common], rtol=1e-9))


def _is_possible(summary: Summary) -> bool:
    """False if a summary has a built-in agent's name, and parameters that the agent lacks."""
    if summary.algorithm not in AGENTS:
        return True
    try:
        known = AGENTS[summary.algorithm].declarations_with(summary.parameters)
    except InvalidInput:
        return False
    limits_scale = summary.algorithm in _SCALE and summary.deadline is not None
    return summary.parameters.keys() <= known.keys() and not limits_scale
