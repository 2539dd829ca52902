"""Scores, times and answers in words."""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from ..arguments import format_seconds
from ..results.display import html_table
from ..results.score import named
from ..results.summary import Summary
from .answers import Answer, Question
from .data import REFERENCE, ExperimentData
from .pairs import Pair

WINNER, OWN, STRADDLES, ABOVE = "★", "◆", "≈", "△"


class FeatureTexts(NamedTuple):
    """The names of a time feature."""

    title: str  # in controls
    within: str  # after a bound
    sentence: str  # in figures and sentences
    per_decision: bool = False  # whether bounds on it are comparable with those on other ones


_FEATURES = {
    "processor": FeatureTexts(
        "processor time per decision", "per decision", "processor time per decision", True
    ),
    "mean": FeatureTexts(
        "mean per decision", "per decision (mean)", "mean online time per decision", True
    ),
    "median": FeatureTexts(
        "median per decision", "per decision (median)", "median online time per decision", True
    ),
    "p95": FeatureTexts(
        "95th percentile per decision",
        "per decision (95th percentile)",
        "95th percentile of the online time per decision",
        True,
    ),
    "max": FeatureTexts(
        "longest decision", "for the longest decision", "longest online time per decision", True
    ),
    "total": FeatureTexts("total per trajectory", "per trajectory", "online time per trajectory"),
    "max_with_training": FeatureTexts(
        "longest of training and decisions",
        "for training and for each decision",
        "longest time of training and decisions",
    ),
    "offline": FeatureTexts("training", "offline", "offline time"),
}


def feature_texts(name: str) -> FeatureTexts:
    """The texts of a feature; a user's own is called by its name."""
    return _FEATURES.get(name) or FeatureTexts(name, f"online ({name})", f"time feature {name}")


def mark(
    summary: Summary, bound: float | None, winner: bool = False, straddles: bool = False
) -> str:
    """The marks of an agent: a winner, of a user, near the online bound, above that on scores."""
    marks = {
        WINNER: winner,
        OWN: summary.is_own,
        STRADDLES: straddles,
        ABOVE: summary.is_above(bound),
    }
    return "".join(sign for sign, is_shown in marks.items() if is_shown)


def format_p(p_value: float) -> str:
    """A p-value with three decimals."""
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def describe_bounds(question: Question) -> str:
    """The bounds of a question in words; empty if there are none."""
    bounds = {"offline": question.offline, "online": question.online}
    return ", ".join(
        f"{name} ≤ {format_seconds(bound)}" for name, bound in bounds.items() if bound < math.inf
    )


def sentence(answer: Answer) -> str:
    """The best agents, in one sentence."""
    bounds = describe_bounds(answer.question)
    start = f"{answer.experiment.name}{f' within {bounds}' if bounds else ''}: "
    summaries = answer.experiment.competitors
    if not summaries:
        return start + "there are no agents to compare."
    if not answer.rows:
        least = {
            "offline": min(summary.seconds["offline"] for summary in summaries),
            "online": min(summary.seconds[answer.question.feature] for summary in summaries),
        }
        times = " and ".join(f"{format_seconds(time)} {name}" for name, time in least.items())
        return start + f"no agent is within the bounds; the shortest times are {times}."
    first = answer.rows[0]
    best = f"{first.summary.label} is best with {named(first.score, first.unadjusted)}"
    others = [summary.label for summary in answer.winners[1:]]
    if others:
        return start + f"{best}; not significantly worse: {', '.join(others)}."
    if len(answer.rows) == 1:
        return start + f"{best}; there is no other algorithm."
    return start + f"{best}; the other algorithms are significantly worse."


def score_label(experiment: ExperimentData) -> str:
    """The name of the column of scores, with the mean return in brackets if it stands beside."""
    is_adjusted = any(each.adjusted is not None for each in experiment.summaries)
    return "score (mean return)" if is_adjusted else "mean return"


def score_axis(experiments: Sequence[ExperimentData]) -> str:
    """The name of an axis with scores."""
    adjusted = {each.adjusted is not None for one in experiments for each in one.summaries}
    kinds = {True: "adjusted mean return", False: "mean return"}
    return f"score ({' or '.join(kinds[each] for each in sorted(adjusted, reverse=True))})"


def format_bound(bound: float) -> str:
    """A bound with two decimals, or three digits if it is small; rounded up, so that it holds."""
    digits = 2 - math.floor(math.log10(abs(bound))) if bound else 2
    decimals = max(2, min(9, digits))
    return f"{math.ceil(bound * 10**decimals) / 10**decimals:.{decimals}f}"


PAST = "no agent that has to learn can pass"
"""The words before the bound on scores."""

LIMIT = "bound: a one-sided 95% limit"
"""The words after it."""

PASSES = "above it by more than chance: the agent may know the MDP, or have written its returns"
"""The meaning of the mark of such scores."""


def bound_sentence(bound: float | None, summaries: Sequence[Summary] = ()) -> str:
    """The bound on scores in a few words, and the mark of those above; empty if it is unknown."""
    if bound is None:
        return ""
    above = any(each.is_above(bound) for each in summaries)
    return f"{PAST} {format_bound(bound)} ({LIMIT})" + (f"; {ABOVE} {PASSES}" if above else "")


def selection_words(honest: bool) -> str:
    """The MDPs that choose the best agent of an algorithm, and those that score it."""
    if honest:
        return "chosen on the first quarter of its MDPs and scored on the rest"
    return "chosen and scored on the same MDPs"


def scale_sentence(experiments: Sequence[ExperimentData]) -> str:
    """The meaning of 0 and 1 among normalised scores."""
    known = [each.upper_bound is not None for each in experiments]
    bound, reference = f"the bound that {PAST}", f"{REFERENCE}, which knows the MDP"
    if all(known):
        return f"0 is random, 1 is {bound}"
    if not any(known):
        return f"0 is random, 1 is {reference}"
    return f"0 is random, 1 is {bound}, or where none is known {reference}"


def pair_sentence(pair: Pair) -> str:
    """The comparison of two agents, in a few sentences."""
    first, second, test = pair.first.label, pair.second.label, pair.test
    ahead, behind = (first, second) if test.difference >= 0 else (second, first)
    verdict = "is better than" if pair.significant else "is not significantly better than"
    sign = 1 if test.difference >= 0 else -1
    low, high = sorted(sign * end for end in (test.low, test.high))
    chance, (least, most) = pair.probability
    if sign < 0:
        chance, least, most = 1 - chance, 1 - most, 1 - least
    return (
        f"{pair.experiment}: {ahead} {verdict} {behind}, by "
        f"{abs(test.difference):.2f} (95% interval: {low:.2f} to {high:.2f}; paired test, "
        f"two-sided: p {_p(test.p_value)}; cautious test: p {_p(test.p_cautious)}). On a "
        f"drawn MDP, {ahead} has the higher return with probability {100 * chance:.0f}% (95% "
        f"interval: {100 * least:.0f}% to {100 * most:.0f}%; equal returns count one half)."
    )


def _p(p_value: float) -> str:
    text = format_p(p_value)
    return text if text.startswith("<") else f"= {text}"


def answer_html(answer: Answer) -> str:
    """The best agents, for notebooks: a sentence, a table and the notes."""
    head = ("", "agent", score_label(answer.experiment), "offline", "online", "behind", "p")
    rows = [
        (
            mark(
                row.summary,
                answer.experiment.upper_bound,
                row.winner,
                answer.question.straddles(row.summary),
            ),
            row.summary.label,
            f"{row.score}" + (f" ({row.unadjusted})" if row.unadjusted else ""),
            format_seconds(row.summary.seconds["offline"]),
            format_seconds(row.summary.seconds[answer.question.feature]),
            f"{row.test.difference:.2f}" if row.test else "",
            format_p(row.test.p_value) if row.test else "",
        )
        for row in answer.rows
    ]
    notes = "".join(f"<p>note: {escape(note)}</p>" for note in answer.notes)
    table = html_table(head, rows) if rows else ""
    shown = [row.summary for row in answer.rows]
    bound = bound_sentence(answer.experiment.upper_bound, shown)
    text = sentence(answer) + (f" {bound[0].upper()}{bound[1:]}." if bound else "")
    return f"<p>{escape(text)}</p>{table}{notes}"


def read_map(answer: Answer) -> str:
    """The winning algorithms on the map from left to right, as the paper lists them."""
    below, steps = answer.reading
    bound = f" trained in less than {format_seconds(below.seconds['offline'])}" if below else ""
    if not steps:
        return f"{answer.experiment.name}{bound}: no agent."
    sets = [f"({', '.join(names)})" for _, names in steps]
    froms = ["", *(f" from {format_seconds(time)}" for time, _ in steps[1:])]
    parts = [text + begin for text, begin in zip(sets, froms, strict=True)]
    return f"{answer.experiment.name}{bound}: {', '.join(parts)}."
