"""Checks whether an entry can be listed on a board."""

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..arguments import parse_seconds, whole
from ..errors import StoreError, reason
from ..storage.entries import Entry
from ..testing.rules import BROKEN, UNKNOWN, Finding
from . import content, returns, times
from .opened import Opened, open_entry
from .repeated import same_returns, same_times
from .replay import OnReplay, Replay, classes_of, replay_some

REPLAYED_MDPS = 3
WITHIN = "5m"


class Check(NamedTuple):
    """A check: what must hold, how it is found out, and which checks come before it."""

    statement: str
    judge: Callable[..., Finding]
    needs: tuple[str, ...] = ()


_NEEDED = ("sets", "MDPs", "returns")

CHECKS: dict[str, Check] = {
    "file": Check("The file is whole", content.whole),
    "texts": Check("Its texts are plain", content.texts),
    "sets": Check("Its experiments are frozen sets", content.sets),
    "MDPs": Check("All MDPs were played", content.mdps),
    "versions": Check("Machine and versions are known", content.versions),
    "agents": Check("Labels and parameters fit agents", content.agents),
    "returns": Check("Returns are possible", returns.within_limits, ("sets", "MDPs")),
    "best": Check("No score is better than can be", returns.not_better_than_best, _NEEDED),
    "scores": Check("Scores and curves fit returns", returns.consistent, _NEEDED),
    "times": Check("Times are possible", times.possible_times, ("versions",)),
    "replay": Check("Returns repeat", same_returns, ("sets", "MDPs", "versions", "agents")),
    "replayed times": Check("Times repeat, roughly", same_times),
}
"""The checks by name, in their order."""


@dataclass(frozen=True)
class CheckedEntry:
    """What was found out about an entry, check by check."""

    path: str
    """The file."""
    entry: Entry | None
    """What the entry says about itself; None if it can't be read."""
    findings: dict[str, Finding]
    """What was seen, by check."""

    @property
    def refused(self) -> list[str]:
        """The checks that the entry fails."""
        return [name for name, found in self.findings.items() if found.verdict == BROKEN]

    @property
    def accepted(self) -> bool:
        """Whether no check failed."""
        return not self.refused

    @property
    def unknown(self) -> list[str]:
        """The checks that could not be made."""
        return [name for name, found in self.findings.items() if found.verdict == UNKNOWN]

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "path": self.path,
            "entry": None if self.entry is None else self.entry._asdict(),
            "accepted": self.accepted,
            "refused": self.refused,
            "findings": {name: found._asdict() for name, found in self.findings.items()},
        }

    def __str__(self) -> str:
        lines = [f"{self.path}: {'accepted' if self.accepted else 'refused'}"]
        for name, (verdict, seen, remedy) in self.findings.items():
            lines.append(f"  {name}: {verdict}: {seen}{f': {remedy}' if remedy else ''}")
        return "\n".join(lines)


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
        on_replay: called with what is played next, how many results are done, and of how many.
    """
    number = whole(replay, "replay", least=0)
    seconds = parse_seconds(str(within), "within")
    chosen = secrets.randbelow(10**6) if seed is None else whole(seed, "seed", least=0)
    try:
        opened = open_entry(Path(path))
    except StoreError as error:
        remedy = "ask for the file as it was written"
        return CheckedEntry(str(path), None, {"file": Finding(BROKEN, reason(error), remedy)})
    classes = classes_of(opened, [agents] if isinstance(agents, str) else list(agents))

    def play() -> Replay:
        return replay_some(opened, classes, number, seconds, chosen, on_replay)

    return CheckedEntry(str(path), opened.entry, _examine(opened, play))


def _examine(opened: Opened, play: Callable[[], Replay]) -> dict[str, Finding]:
    """What every check finds; one that depends on a failed check is unknown."""
    findings: dict[str, Finding] = {}
    replayed: Replay | None = None
    for name, (_, judge, needs) in CHECKS.items():
        failed = [other for other in needs if findings[other].verdict == BROKEN]
        if failed:
            first = CHECKS[failed[0]].statement
            findings[name] = Finding(UNKNOWN, f'look at "{first}" first')
        elif name == "replay":
            replayed = play()
            findings[name] = judge(opened, replayed)
        elif name == "replayed times":
            findings[name] = judge(replayed) if replayed else Finding(UNKNOWN, "nothing was played")
        else:
            findings[name] = judge(opened)
    return findings
