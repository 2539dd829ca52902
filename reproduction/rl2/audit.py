"""What the replay says about the published tables. Scores are means over blocks of MDPs."""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars

from brlbench.analysis.bounds import num_choosing
from brlbench.kernels.types import Floats

from .library import LIBRARY
from .replay import PUBLISHED

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.parquet"
ROUNDING = 0.05  # of the published numbers
TOLERANCE = 0.06  # of the replay: how the last digit was rounded is unknown
CLOSE = 2.0  # combined standard errors
NOT_PLAYED = ("rl2", "ots")  # OTS, optimistic Thompson sampling, takes longer than all others


class Mean(NamedTuple):
    """A mean, with its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, blocks: Floats) -> "Mean":
        """The mean of blocks of equal size."""
        return cls(float(blocks.mean()), float(blocks.std(ddof=1) / math.sqrt(len(blocks))))

    def z(self, other: "Mean") -> float:
        """The difference from an independent mean, in combined standard errors."""
        return (self.mean - other.mean) / math.hypot(self.error, other.error)


@dataclass(frozen=True, eq=False)
class Grid:
    """An agent of a table at one length, with all parameters."""

    parameters: tuple[float | None, ...]
    blocks: Floats  # [parameters, blocks]

    @property
    def best(self) -> int:
        """The best parameter on all MDPs, as the authors choose."""
        return int(self.blocks.mean(axis=1).argmax())

    @property
    def score(self) -> Mean:
        """The score of the best parameter on the MDPs that chose it."""
        return Mean.of(self.blocks[self.best])

    @property
    def parameter(self) -> float | None:
        """The best parameter."""
        return self.parameters[self.best]

    @property
    def honest_blocks(self) -> Floats:
        """The MDPs that did not choose, with the parameter that the first quarter chooses."""
        first = num_choosing(self.blocks.shape[1])
        chosen = int(self.blocks[:, :first].mean(axis=1).argmax())
        return np.asarray(self.blocks[chosen, first:])

    @property
    def tested(self) -> Floats:
        """The honest blocks, or all if there is nothing to choose."""
        return self.honest_blocks if len(self.parameters) > 1 else self.blocks[0]

    @property
    def gain_of_choosing(self) -> Mean:
        """On the same MDPs: the score if they choose too, minus the honest one."""
        rest = self.blocks[:, num_choosing(self.blocks.shape[1]) :]
        return Mean.of(rest[int(rest.mean(axis=1).argmax())] - self.honest_blocks)


@dataclass(frozen=True)
class Cell:
    """A published number, and what was played."""

    agent: str
    n: int
    arms: int | None
    published: float

    @property
    def grid(self) -> Grid:
        """The replay."""
        return grid(self.table, PUBLISHED, self.agent, self.n, self.arms)

    @property
    def table(self) -> str:
        """The table."""
        return "mdps" if self.arms is None else "bandits"

    @property
    def difference(self) -> float:
        """The replay's score minus the published one."""
        return self.grid.score.mean - self.published

    @property
    def is_exact(self) -> bool:
        """Whether the replay gives the published number."""
        return abs(self.difference) < TOLERANCE

    @property
    def published_mean(self) -> Mean:
        """The published number, with the standard error that the replay has, and its rounding."""
        return Mean(self.published, math.hypot(self.grid.score.error, ROUNDING / math.sqrt(3)))


@cache
def results() -> polars.DataFrame:
    """All that was played."""
    return polars.read_parquet(RESULTS)


@cache
def grid(table: str, variant: str, agent: str, n: int, arms: int | None = None) -> Grid:
    """What was played of an agent."""
    rows = results().filter(
        (polars.col("table") == table)
        & (polars.col("variant") == variant)
        & (polars.col("agent") == agent)
        & (polars.col("n") == n)
        & (polars.col("arms").eq_missing(arms))
    )
    parts = rows.sort("parameter", "block").partition_by("parameter", maintain_order=True)
    blocks = np.array([part["mean"].to_numpy() for part in parts], np.float64)
    return Grid(tuple(part["parameter"][0] for part in parts), blocks)


@cache
def published(table: str) -> tuple[Cell, ...]:
    """The published numbers, RL²'s own included."""
    lines = [
        line
        for line in (FOLDER / f"published-{table}.csv").read_text().splitlines()
        if not line.startswith("#")
    ]
    return tuple(
        Cell(agent, int(row["n"]), int(row["arms"]) if "arms" in row else None, float(number))
        for row in csv.DictReader(lines)
        for agent, number in row.items()
        if agent not in ("n", "arms")
    )


def cells(table: str) -> list[Cell]:
    """The published numbers of agents that were played."""
    return [cell for cell in published(table) if cell.agent not in NOT_PLAYED]


def rl2(n: int, arms: int | None = None) -> float:
    """RL²'s own number."""
    [cell] = [
        c
        for c in published("mdps" if arms is None else "bandits")
        if c.agent == "rl2" and (c.n, c.arms) == (n, arms)
    ]
    return cell.published


def mine(agent: str, n: int, arms: int | None = None) -> Mean:
    """The score of one of brlbench's own agents; other MDPs choose among several parameters."""
    return Mean.of(grid("mdps" if arms is None else "bandits", LIBRARY, agent, n, arms).tested)


def own_z(cell: Cell) -> float:
    """The score of brlbench's own agent minus the published number, in combined standard errors."""
    return mine(cell.agent, cell.n, cell.arms).z(cell.published_mean)


def by_agent(table: str) -> dict[str, list[Cell]]:
    """The published numbers by agent."""
    found: dict[str, list[Cell]] = {}
    for cell in cells(table):
        found.setdefault(cell.agent, []).append(cell)
    return found


def change(agent: str, variant: str, n: int) -> Mean:
    """How much better a variant of a published agent is on the same MDPs, each at its best."""
    other, before = (grid("mdps", each, agent, n) for each in (variant, PUBLISHED))
    return Mean.of(other.blocks[other.best] - before.blocks[before.best])


def agreeing(agents: Sequence[str]) -> list[str]:
    """The agents whose rows brlbench's own play agrees with at all lengths."""
    return [
        agent
        for agent in agents
        if all(abs(own_z(cell)) <= CLOSE for cell in by_agent("mdps")[agent])
    ]
