"""Findings of checks: a verdict per requirement, the observation behind it, and the remedy."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

WAITS = "can't be judged"
"""How an observation begins that waits for another rule."""
KEPT, BROKEN, DOUBTFUL, UNKNOWN = "kept", "broken", "doubtful", "unknown"


class Finding(NamedTuple):
    """The verdict on one requirement, the observation behind it, and the remedy."""

    verdict: str  # kept, broken, doubtful or unknown
    seen: str
    remedy: str = ""

    @property
    def waits(self) -> bool:
        """Whether another rule must be kept before this one can be judged."""
        return self.verdict == UNKNOWN and self.seen.startswith(WAITS)


class Requirement(NamedTuple):
    """A requirement: its statement, its check, and those that must be met to check it."""

    statement: str
    check: Callable[..., Finding]
    needs: tuple[str, ...] = ()


def finding_of(problems: Iterable[str], seen: str, remedy: str) -> Finding:
    """The first problem and its remedy; kept, with the observation `seen`, if there is none."""
    first, *others = [*problems] or [""]
    if not first:
        return Finding(KEPT, seen)
    more = f" (and {len(others)} more)" if others else ""
    return Finding(BROKEN, first + more, remedy)


def names_with(verdict: str, findings: Mapping[str, Finding]) -> list[str]:
    """The requirements with this verdict."""
    return [name for name, finding in findings.items() if finding.verdict == verdict]


def lines_of(findings: Mapping[str, Finding]) -> list[str]:
    """A line per finding."""
    return [
        f"  {name}: {verdict}: {seen}{f': {remedy}' if remedy else ''}"
        for name, (verdict, seen, remedy) in findings.items()
    ]


def plain(findings: Mapping[str, Finding]) -> dict[str, Any]:
    """Findings as plain data."""
    return {name: finding._asdict() for name, finding in findings.items()}
