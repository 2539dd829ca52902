"""Two agents against each other: their difference, and its significance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..analysis.scores import returns_of
from ..analysis.significance import (
    Probability,
    cautious_p_value,
    effect_size,
    paired_z_test,
    probability_better,
)
from ..errors import InvalidInput, did_you_mean
from ..results.result import Result
from ..results.summary import Summary
from .answers import Answer, Test, difference_intervals
from .notes import some

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, eq=False, repr=False)
class Pair:
    """Two agents on the same MDPs. Printed, it is a sentence; p-values are two-sided."""

    experiment: str
    first: Summary
    second: Summary
    num_mdps: int
    level: float
    test: Test  # of the first minus the second
    probability: Probability  # that the first agent's return is higher on a drawn MDP

    @property
    def significant(self) -> bool:
        """Whether the agents differ at the level that was asked for."""
        return self.test.p_value < 1 - self.level

    @property
    def table(self) -> "polars.DataFrame":
        """All numbers, in one row."""
        from .tables import pairs_table

        return pairs_table([self])

    def __repr__(self) -> str:
        from .words import pair_sentence

        return pair_sentence(self)


def make_pair(answer: Answer, first: str | Result, second: str | Result) -> Pair:
    """Compare two agents of an experiment, by name: see `find_agent`."""
    one, other = find_agent(answer, first), find_agent(answer, second)
    if one is other:
        raise InvalidInput(f"both agents are {one.label}: name two different ones")
    question, num_choosing = answer.question, answer.comparison.num_choosing
    common = min(len(one.returns), len(other.returns))  # one may have stopped early
    one_common, other_common = one.first(common), other.first(common)
    mdps = slice(min(each.scored_mdps(num_choosing).start for each in (one, other)), None)
    adjusted = one.can_be_adjusted and other.can_be_adjusted
    a, b = (returns_of(each, adjusted)[mdps] for each in (one_common, other_common))
    z, one_sided, _ = paired_z_test(a, b, question.level)
    p_value = 2 * min(one_sided, 1 - one_sided)
    return Pair(
        experiment=answer.experiment.name,
        first=one,
        second=other,
        num_mdps=len(a),
        level=question.level,
        test=Test(
            float((a - b).mean()),
            *difference_intervals(answer.experiment, [a - b])[0],
            z=z,
            p_value=p_value,
            p_holm=p_value,
            p_cautious=min(1.0, 2 * cautious_p_value(a - b if z >= 0 else b - a)),
            effect_size=effect_size(a, b),
        ),
        probability=probability_better(one_common.returns[mdps], other_common.returns[mdps]),
    )


def make_pairs(answers: Sequence[Answer], first: str, second: str) -> list[Pair]:
    """Compare two agents in every experiment that has both."""
    pairs, refused = [], []
    for answer in answers:
        try:
            pairs.append(make_pair(answer, first, second))
        except InvalidInput as error:
            refused.append(error)
    if not pairs:
        raise refused[0]
    return pairs


def find_agent(answer: Answer, name: str | Result) -> Summary:
    """The agent of a label, of an algorithm (its best one within the bounds), or of a part of one.

    A part of a label must be that of one algorithm only.
    """
    summaries = answer.experiment.summaries
    if isinstance(name, Result):
        name = name.label
    wanted = name.casefold()
    for matches in (
        [each for each in summaries if name in (each.label, each.full_label)],
        [each for each in summaries if name == each.algorithm],
        [each for each in summaries if each.label.casefold().startswith(wanted)],
        [each for each in summaries if wanted in each.label.casefold()],
    ):
        if len({each.algorithm for each in matches}) == 1:
            return _best(answer, matches)
        if matches:
            names = some([each.label for each in matches])
            raise InvalidInput(
                f"agent {name!r} on {answer.experiment.name} can mean several: name one of {names}"
            )
    labels = [each.label for each in summaries]
    known = dict.fromkeys([*labels, *(each.algorithm for each in summaries)])
    raise InvalidInput(
        f"there is no agent {name!r} on {answer.experiment.name}{did_you_mean(name, known)}: "
        f"name one of {some(labels)}"
    )


def _best(answer: Answer, agents: list[Summary]) -> Summary:
    """The agent that represents its algorithm within the bounds, else the one of highest score."""
    chosen = {row.summary.label for row in answer.rows}
    return max(agents, key=lambda each: (each.label in chosen, each.score.mean))
