"""Checks whether an entry can be listed on a board."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..arguments import parse_seconds
from ..errors import StoreError, reason
from ..storage.entries import Entry, check_suffix
from ..testing import findings as checks
from ..testing.findings import BROKEN, UNKNOWN, Finding, Requirement
from ..values import INDEX, check
from . import content, returns
from .replay import OnReplay, classes_by_algorithm, has_same_returns, replay_claims
from .submission import read_submission

REPLAYED_MDPS = 3
WITHIN = "5m"
_NEEDED = ("sets", "MDPs", "returns")
_REPLAYABLE = ("sets", "MDPs", "versions", "agents")

CHECKS: dict[str, Requirement] = {
    "file": Requirement("The file is whole", content.is_intact),
    "texts": Requirement("Its texts are plain", content.has_plain_texts),
    "sets": Requirement("Its experiments are frozen sets", content.has_frozen_sets),
    "MDPs": Requirement("All MDPs were played", content.has_all_mdps),
    "versions": Requirement("Machine and versions are known", content.has_known_machines),
    "agents": Requirement("Labels and parameters fit agents", content.has_possible_agents),
    "returns": Requirement("Returns are possible", returns.within_limits, ("sets", "MDPs")),
    "best": Requirement(
        "No score beats the optimal policies", returns.not_better_than_best, _NEEDED
    ),
    "scores": Requirement("Scores and curves fit returns", returns.consistent, _NEEDED),
    "replay": Requirement("Returns repeat", has_same_returns, _REPLAYABLE),
}
"""The checks by name, in their order."""


@dataclass(frozen=True)
class CheckedEntry:
    """The findings on an entry, check by check."""

    path: str  # the file
    entry: Entry | None  # the authors' description of it; None if it can't be read
    findings: dict[str, Finding]  # by check

    @property
    def refused(self) -> list[str]:
        """The checks that the entry fails."""
        return checks.names_with(BROKEN, self.findings)

    @property
    def accepted(self) -> bool:
        """Whether no check failed."""
        return not self.refused

    @property
    def unknown(self) -> list[str]:
        """The checks that could not be made."""
        return checks.names_with(UNKNOWN, self.findings)

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "path": self.path,
            "entry": None if self.entry is None else self.entry._asdict(),
            "accepted": self.accepted,
            "refused": self.refused,
            "findings": checks.plain(self.findings),
        }

    def __str__(self) -> str:
        first = f"{self.path}: {'accepted' if self.accepted else 'refused'}"
        return "\n".join([first, *checks.lines_of(self.findings)])


def check_entry(
    path: str | Path,
    agents: str | Iterable[str] = (),
    *,
    replay: int = REPLAYED_MDPS,
    within: str | float = WITHIN,
    seed: int | None = None,
    on_replay: OnReplay = lambda name, done, total: None,
) -> CheckedEntry:
    """Check whether an entry can be listed on a board.

    Built-in agents are played again on a few MDPs, in a process of their own. Code of others is
    run only if you name it.

    Args:
        path: the entry's file.
        agents: the classes of agents that are not built in, as "module:Class". They are run.
        replay: how many MDPs to play again of each agent on each set; 0 for none.
        within: how long that may take, such as "5m" or a number of seconds.
        seed: the seed that chooses MDPs; by default one that nobody knows beforehand.
        on_replay: progress callback(next result, number done, total).
    """
    number = check(replay, "replay", INDEX)
    seconds = parse_seconds(str(within), "within")
    seed = secrets.randbelow(10**6) if seed is None else check(seed, "seed", INDEX)
    check_suffix(Path(path), "entry")
    try:
        submission = read_submission(Path(path))
    except StoreError as error:
        remedy = "ask for the file as it was written"
        return CheckedEntry(str(path), None, {"file": Finding(BROKEN, reason(error), remedy)})
    paths = [agents] if isinstance(agents, str) else list(agents)
    classes = classes_by_algorithm(submission, paths)

    findings: dict[str, Finding] = {}
    for name, (_, finding_of, needs) in CHECKS.items():
        failed = [other for other in needs if findings[other].verdict == BROKEN]
        if failed:
            first = CHECKS[failed[0]].statement
            findings[name] = Finding(UNKNOWN, f'look at "{first}" first')
        elif name == "replay":
            replays = replay_claims(submission, classes, number, seconds, seed, on_replay)
            findings[name] = finding_of(submission, replays)
        else:
            findings[name] = finding_of(submission)
    return CheckedEntry(str(path), submission.entry, findings)
