"""The experiments and the agents of a board, and the names of their pages."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ...analysis.bounds import Comparison
from ...analysis.scores import returns_of
from ...files import slugs
from ...mdps.sparse import Floats
from ...problems.frozen import HASHES
from ...results.score import Score
from ...results.summary import REFERENCE, Summary
from ...storage.entries import Entry
from ...storage.frozen import why_not_frozen
from ..answers import rows_on
from ..data import ExperimentData, ReportData


@dataclass(frozen=True, eq=False)
class Contest:
    """One experiment: its agents, ready to be compared, and the scale of its scores."""

    number: int
    data: ExperimentData
    frozen: str  # the name of the frozen set that it is; empty if it is none
    name: str  # of the frozen set, unless two have the same, or of the experiment
    page: str  # the name of its page's file, without its suffix

    @property
    def problem(self) -> str:
        """The problem that MDPs were drawn from."""
        return self.frozen.partition("/")[0] or str(self.data.settings["test"] or "unnamed")

    @property
    def case(self) -> str:
        """The kind of prior, in words."""
        prior = self.data.settings["prior"] or "unnamed"
        return "accurate prior" if self.data.accurate else f"wrong prior, {prior}"

    @cached_property
    def entrants(self) -> list[Summary]:
        """All agents: those that compete, in the comparison's order, then the reference."""
        others = [each for each in self.data.summaries if each.is_reference]
        return [*self.comparison.summaries, *others]

    @cached_property
    def comparison(self) -> Comparison:
        """The agents that compete."""
        return Comparison(self.data.competitors)

    @cached_property
    def scores(self) -> list[Score]:
        """The scores of all agents, on the MDPs that test them."""
        rows = rows_on(self.data, self.entrants, self.comparison.num_choosing)
        return [row.score for row in rows]

    def normalised_score(self, i: int) -> Score | None:
        """An agent's score and its interval on the scale; None if there is none."""
        scale = self.data.rising_scale
        return None if scale is None else scale.with_interval(self.scores[i])

    def returns(self, i: int, adjusted: bool = False) -> Floats:
        """An agent's returns, as played or without luck, on the MDPs that test it.

        They are normalised if possible.
        """
        scaled = self.data.normalised_returns(self.entrants[i], adjusted)
        returns = returns_of(self.entrants[i], adjusted) if scaled is None else scaled
        return returns[self.entrants[i].scored_mdps(self.comparison.num_choosing)]

    def is_complete(self, i: int) -> bool:
        """Whether an agent has played all MDPs."""
        return self.entrants[i].stopped is None


@dataclass(frozen=True, eq=False)
class BoardAgent:
    """An algorithm with parameters: the same agent in all experiments."""

    number: int
    page: str  # the name of its page's file, without its suffix
    label: str
    algorithm: str
    places: Mapping[int, int]  # by the number of a contest: its index among the entrants
    entry: Entry | None  # the text of its authors

    @property
    def is_reference(self) -> bool:
        """Whether it knows the MDP, and does not compete."""
        return self.algorithm == REFERENCE


@dataclass(frozen=True, eq=False)
class Field:
    """All experiments and agents of a board."""

    data: ReportData
    contests: list[Contest]
    agents: list[BoardAgent]
    algorithms: list[str]

    @cached_property
    def _numbers(self) -> dict[tuple[int, int], int]:
        return {place: each.number for each in self.agents for place in each.places.items()}

    def agent(self, contest: Contest, i: int) -> BoardAgent:
        """The agent that is one of a contest's entrants."""
        return self.agents[self._numbers[contest.number, i]]


def field_of(data: ReportData) -> Field:
    """Gather the experiments that have agents, and the agents with all their places.

    Frozen sets come first, as they are listed.
    """
    known = [
        (each, "" if why_not_frozen(each.hash, each.settings) else str(each.settings["origin"]))
        for each in data.experiments
        if each.summaries
    ]
    known.sort(key=lambda pair: [*HASHES, ""].index(pair[1]))
    used = Counter(frozen for _, frozen in known if frozen)
    names = [frozen if used[frozen] == 1 else each.name for each, frozen in known]
    pages = slugs(names, "problem")
    contests = [Contest(n, *pair, names[n], pages[n]) for n, pair in enumerate(known)]
    places: dict[str, dict[int, int]] = {}
    labels: dict[str, tuple[str, str]] = {}  # algorithm and label, by the full label
    for contest in contests:
        for i, summary in enumerate(contest.entrants):
            places.setdefault(summary.full_label, {})[contest.number] = i
            labels.setdefault(summary.full_label, (summary.algorithm, summary.label))
    keys = sorted(places, key=lambda key: (*map(_natural, labels[key]), key))
    pages = slugs([labels[key][1] for key in keys], "agent")
    agents = [
        BoardAgent(n, pages[n], labels[key][1], labels[key][0], places[key], data.entries.get(key))
        for n, key in enumerate(keys)
    ]
    names_used = {each.algorithm for each in agents}
    algorithms = sorted(names_used, key=lambda name: (name == REFERENCE, name))
    return Field(data, contests, agents, algorithms)


def _natural(text: str) -> list[tuple[float, str]]:
    """Natural sort key."""
    parts = re.split(r"(\d+(?:\.\d+)?(?:e-?\d+)?)", text)
    return [(float(part), "") if k % 2 else (-math.inf, part) for k, part in enumerate(parts)]
