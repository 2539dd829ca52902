"""The page on what was reproduced, made from the shipped results alone."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brlbench.agents.labels import label_of
from brlbench.arguments import format_seconds
from brlbench.report.data import ExperimentData
from brlbench.report.loading import load
from brlbench.results.score import Score
from brlbench.results.summary import Summary
from brlbench.results.times import ONLINE

from . import guez
from .conclusions import Ranking, check_claims
from .differences import Together
from .exponents import INFLUENCES, exponents
from .markdown import listed, template
from .paper_grids import FILES as GRIDS
from .paper_grids import Grid, grids, total
from .published import PublishedRow, published_rows
from .verdicts import CLOSE, Compared, compare_rows, constant_policies

FOLDER = Path(__file__).parent
RESULTS, MORE, ARITHMETIC, TIMES = (
    FOLDER / f"{name}.parquet" for name in ("results", "more-mdps", "arithmetic", "times")
)
ONLINE_BOUNDS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, math.inf)
OFFLINE_BOUNDS = (1e-2, math.inf)
# Parameters that the paper does not mention.
_SETTINGS = (
    "ties",
    "bonus",
    "exploration",
    "rollout_epsilon",
    "reuse_tree",
    "skip_complete",
    "batch",
)
_NEVER_AGAIN = 3.47  # bound on how far the mean of a pair with two outcomes moves; see sboss


def make_page() -> str:
    """The page as Markdown."""
    more, arithmetic, times = (load(path).experiments for path in (MORE, ARITHMETIC, TIMES))
    experiments = load(RESULTS, *GRIDS).experiments
    compared = compare_rows(experiments, more, arithmetic)
    without_defect = [each for each in compared if not each.has_defect]
    played = [summary for each in experiments for summary in each.summaries]
    filters = (
        *(_score, _adjusted, _unadjusted, _z, _seconds, _time, _agent, _number, _gain),
        *(_hours, _grid, listed),
    )
    page = template("page.md.j2", **{each.__name__.lstrip("_"): each for each in filters})
    return page.render(
        experiments=experiments,
        num_agents=len({summary.label for summary in played}),
        num_results=len(played),
        together=Together(without_defect),
        machine=experiments[0].summaries[0].machine,
        timed_as_played=sorted({each.algorithm for each in played if "timed" not in each.machine}),
        tables=_by_experiment(experiments, compared),
        without_defect=without_defect,
        close=sum(each.is_close for each in without_defect),
        explained=sum(each.is_explained for each in without_defect),
        beyond=[each for each in without_defect if not (each.is_close and each.is_explained)],
        originals=[each for each in compared if each.gain is not None],
        farthest=max((abs(each.z) for each in without_defect), default=0.0),
        limit=CLOSE,
        missing=[row for row in published_rows() if all(each.row != row for each in compared)],
        soft_max=_beside_constant("soft-max", compared),
        sboss=[_sboss(each) for each in compared if each.row.algorithm == "sboss"],
        rankings=[Ranking(experiment) for experiment in experiments],
        online=ONLINE_BOUNDS,
        more_mdps=more[0].settings["num_mdps"],
        offline=OFFLINE_BOUNDS,
        claims=check_claims(experiments),
        still_open=_still_open(grids(experiments)),
        guez=guez,
        influences=[(each, exponents([*times, *experiments], each)) for each in INFLUENCES],
        longest_training=format_seconds(
            max(summary.seconds["offline"] for summary in played if summary.algorithm != "opps-ds")
        ),
    )


def _by_experiment(
    experiments: Sequence[ExperimentData], compared: Sequence[Compared]
) -> list[tuple[ExperimentData, list[Compared]]]:
    return [(e, [each for each in compared if each.row.is_of(e)]) for e in experiments]


def _beside_constant(algorithm: str, compared: Sequence[Compared]) -> list[dict[str, Any]]:
    """The published rows of an algorithm, the constant policy's exact values, and our best."""
    ours = {(c.row.prior, c.row.test): c for c in compared if c.row.algorithm == algorithm}
    return [
        {"constant": each, "ours": ours[each.row.prior, each.row.test]}
        for each in constant_policies(algorithm)
        if (each.row.prior, each.row.test) in ours
    ]


def _still_open(found: Sequence[Grid]) -> dict[str, Any]:
    """The grids of algorithms of which some agents are left to play, by experiment."""
    algorithms = dict.fromkeys(each.algorithm for each in found)
    names = [name for name in algorithms if any(e.is_open for e in found if e.algorithm == name)]
    rows: dict[str, list[Grid]] = {}
    for each in found:
        if each.algorithm in names:
            rows.setdefault(each.experiment, []).append(each)
    costs = {
        experiment: total(each.cost for each in row if each.is_open)
        for experiment, row in rows.items()
    }
    return {
        "algorithms": names,
        "others": [name for name in algorithms if name not in names],
        "rows": rows,
        "costs": costs,
        "cost": total(costs.values()),
    }


def _sboss(compared: Compared) -> dict[str, Any]:
    """A published row of SBOSS, with what explains it."""
    row = compared.row
    if row.prior == row.test and row.test == "GDL":
        [constant] = [each for each in constant_policies("sboss") if each.row == row]
        text = (
            "all rows of the states in which rewards are paid were lost, so every value was "
            f"0 and the first action was always taken: worth {constant.score.mean:.2f} exactly, "
            f"{constant.z:+.1f} standard errors from the published score"
        )
    elif row.prior == row.test:
        text = (
            f"nothing is ever drawn again, with the defect or without: with two outcomes a mean "
            f"moves by less than {_NEVER_AGAIN} deviations, and δ is {row.parameters['delta']:g}"
        )
    else:
        text = "only half of the counts were remembered at a sampling"
        if compared.is_explained:
            text += "; the score does not show it"
    return {"compared": compared, "text": text}


def _score(of: Summary | PublishedRow | None) -> str:
    return "\N{EN DASH}" if of is None else str(of.score)


def _adjusted(of: Summary) -> str:
    return _score(of if of.adjusted else None)


def _unadjusted(of: Summary) -> str:
    return str(of.unadjusted)


def _gain(score: Score) -> str:
    return _minus(f"{round(score.mean, 2) + 0.0:+.2f} ± {score.ci95:.2f}")


def _z(value: float) -> str:
    return _minus(f"{value:+.1f}")


def _number(value: float) -> str:
    return _minus(f"{round(value, 2) + 0.0:.2f}")


def _hours(value: float) -> str:
    return f"{value:.1f}" if value >= 0.05 else "< 0.1"


def _grid(of: Grid) -> str:
    """The part of a grid that was played."""
    if of.is_halved:
        return f"all {of.planned}, by halving"
    return f"all {of.planned}" if of.played == of.planned else f"{of.played} of {of.planned}"


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def _seconds(value: float) -> str:
    return "any" if math.isinf(value) else f"≤ {format_seconds(value)}"


def _time(of: Summary) -> str:
    """The processor time per decision."""
    return format_seconds(of.seconds[ONLINE])


def _agent(of: Summary | PublishedRow | Compared) -> str:
    """An agent with the parameters that the paper mentions."""
    if isinstance(of, Compared):
        return label_of(of.row.algorithm, of.row.parameters, defaults={})
    mentioned = {k: v for k, v in of.parameters.items() if k not in _SETTINGS}
    return label_of(of.algorithm, mentioned, defaults={})
