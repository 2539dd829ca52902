"""Entries for tests: of an agent outside the package and a built-in one, and changes of them."""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import brlbench as bb
from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.results.compact import ExperimentHeader, write_summaries
from brlbench.results.sealed import parse_parquet
from brlbench.results.summary import Summary
from brlbench.storage import write_result
from brlbench.storage.entries import Entry, read_entry

SET = "GC/accurate/v1"
OWN = "helpers.made_entries:Steady"
SLOW = "helpers.made_entries:Slow"
BUILT_IN = "beb(beta=2.0)"
TOLD: dict[str, Any] = {
    "name": "Steady & sons",
    "authors": ("Ada One", "Bo Two"),
    "description": "Plays the optimal policy of the mean MDP; 3 < 4.",
    "code": "https://example.org/steady",
    "commit": "0123abc",
    "licence": "MIT",
}

Change = Callable[[ExperimentHeader, Summary], tuple[ExperimentHeader, Summary]]


class Steady:
    """An agent outside the package: the optimal policy of the mean MDP, with random actions."""

    def __init__(self, patience: int = 5) -> None:
        self.patience = patience

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        self.policy = prior.mean().solve(task.discount).policy.tolist()
        self.num_actions = prior.num_actions

    def start(self, state: int, rng: np.random.Generator) -> None:
        self.random, self.steps = rng.integers(self.num_actions, size=self.patience).tolist(), 0

    def act(self, state: int) -> int:
        early = self.steps < self.patience
        return int(self.random[self.steps] if early else self.policy[state])

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        self.steps += 1


class Other(Steady):
    """The same by another name."""


class Slow(Steady):
    """It takes its time."""

    def act(self, state: int) -> int:
        time.sleep(1)
        return super().act(state)


def write_made(folder: Path) -> None:
    """Results of both agents, and an entry with them."""
    results = folder / "results"
    results.mkdir()
    for number, agent in enumerate((Steady(patience=9), bb.make_agent("beb", beta=2.0))):
        made = bb.evaluate(agent, bb.frozen_set(SET), progress=False)
        write_result(results / f"{number}.parquet", made)
    bb.new_entry(results, folder / "made.entry.parquet", **TOLD)


def changed(
    path: Path, to: Path, change: Change = lambda header, summary: (header, summary), **texts: Any
) -> Path:
    """An entry as a forger writes it: other results or texts, and a seal that fits them."""
    entry, pairs = read_entry(path, parse_parquet)
    return write_forged(to, [change(*each) for each in pairs], entry._replace(**texts))


def write_forged(to: Path, pairs: Iterable[tuple[ExperimentHeader, Summary]], entry: Entry) -> Path:
    """Write an entry without checking it."""
    write_summaries(to, [(head, [each]) for head, each in pairs], True, entry=entry._asdict())
    return to


def summaries(**changes: Callable[[Summary], Any]) -> Change:
    """Another summary of each agent: what the functions make of it, by field."""
    return lambda header, summary: (
        header,
        replace(summary, **{name: change(summary) for name, change in changes.items()}),
    )


def settings(digest: str | None = None, **changes: Any) -> Change:
    """Other settings, and another hash if it is given."""

    def change(header: ExperimentHeader, summary: Summary) -> tuple[ExperimentHeader, Summary]:
        made = json.loads(json.dumps({**header.settings, **changes}))
        return header._replace(hash=digest or header.hash, settings=made), summary

    return change
