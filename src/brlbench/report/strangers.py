"""Results of strangers beside others: an entry can't pass for what somebody else has played."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from ..agents import AGENTS
from ..errors import InvalidInput, StoreError
from ..protocol.summary import REFERENCE, Summary
from ..storage.compact import ExperimentHeader
from ..storage.entries import Entry
from ..storage.frozen import why_not_frozen

_SCALE = ("random", REFERENCE)  # normalised scores depend on them


def genuine(header: ExperimentHeader, path: Path) -> ExperimentHeader:
    """The experiment of an entry under its own name; a StoreError unless it is a frozen set."""
    if problem := why_not_frozen(header.hash, header.settings):
        raise StoreError(f"{path} can't be used as an entry: {problem}")
    return header._replace(name=header.settings["name"])


def apart(summary: Summary, entry: Entry, known: Summary | None) -> Summary:
    """The summary of an entry; with the entry's name if it only seems to be a known agent.

    It seems so if other results are known of an agent with its label, or if no built-in agent has
    its parameters. Then it is an agent of its own, and sets no scale of normalised scores.
    """
    if not summary.label.startswith(summary.algorithm):
        summary = replace(summary, label=summary.full_label)
    if _is_possible(summary) and (known is None or is_repeated(summary, known)):
        return summary
    marked = f"{summary.algorithm} [{entry.name}]"
    label = marked + summary.label.removeprefix(summary.algorithm)
    return replace(summary, algorithm=marked, label=label)


def is_repeated(one: Summary, other: Summary) -> bool:
    """Whether two results of one label can be of one agent: their common returns are the same."""
    if one.overruns is not None:  # under a deadline, another run of the agent can differ
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
