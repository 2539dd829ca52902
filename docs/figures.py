"""Make the documentation's figures, all or those named: `scripts/figures bamcp problem-GC`.

Scores are the same on every machine; times are those of one core, which each figure names.
"""

import re
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from sweeps import SWEEPS, Sweep

import brlbench as bb
from brlbench.agents.ann import Ann
from brlbench.agents.policy_search import PolicySearch
from brlbench.analysis.bounds import num_choosing
from brlbench.analysis.scores import normalised
from brlbench.mdps.sparse import Floats
from brlbench.protocol import machine
from brlbench.protocol.training import train
from brlbench.report.axes import LogAxis
from brlbench.report.data import ExperimentData, Scale
from brlbench.report.drawings import MOST_DRAWN, num_moves, transitions
from brlbench.report.figures import PLAIN, drawing, fix_layout
from brlbench.report.styles import line_styles, series
from brlbench.results.times import ONLINE

FOLDER = Path(__file__).parent / "figures"

# Effects of parameters: score and time for a few values of each, all others at their defaults.

_PROBLEMS = ("GC", "Grid")
_WITH_UNIFORM_PRIORS = ("sparse-prior",)


def effects(algorithm: str) -> Figure:
    """Score above, time below, one column per parameter."""
    sweeps = SWEEPS[algorithm]
    prefix = "uniform:" if algorithm in _WITH_UNIFORM_PRIORS else ""
    styles = series(prefix + problem for problem in _PROBLEMS)
    with drawing():
        figure = Figure(figsize=(1.0 + 2.3 * len(sweeps), 4.4), layout="constrained")
        panels = figure.subplots(2, len(sweeps), squeeze=False, sharey="row")
        times = []
        for column, sweep in zip(panels.T, sweeps, strict=True):
            for problem, style in styles.items():
                times += _draw_sweep(column, algorithm, sweep, problem, style.points)
        what = "training" if _searches(algorithm) else "a decision"
        panels[0, 0].set_ylabel("score\n(0: random, 1: bound)")
        panels[1, 0].set_ylabel(f"time of {what}\n(log scale)")
        LogAxis.of(times).set_up(panels[1, 0], "y")
        for panel in panels.flat:
            panel.grid(alpha=0.25)
        panels[0, 0].legend()
        made_with = f"{_num_mdps(algorithm)} MDPs, bars: 95% intervals"
        figure.supxlabel(f"{made_with}; one core of {machine.describe()['processor']}", fontsize=7)
    return figure


def _draw_sweep(
    column: Any, algorithm: str, sweep: Sweep, problem: str, style: dict[str, Any]
) -> list[float]:
    """Draw one parameter's effect in one problem; return the times."""
    experiment, (low, high) = _problem(problem, _num_mdps(algorithm))
    scores, widths, times = [], [], []
    for value in sweep.values:
        agent = bb.make_agent(algorithm, **sweep.others, **{sweep.parameter: value})
        result = bb.evaluate(agent, experiment)
        scores.append(normalised(result.score.mean, low, high))
        widths.append(result.score.ci95 / (high - low))
        online = result.online_seconds[ONLINE]
        times.append(_training(result) if _searches(algorithm) else online)
    places = _place(column, sweep)
    column[0].errorbar(places, scores, widths, **style, markersize=4, capsize=2, label=problem)
    column[1].plot(places, times, **style, markersize=4)
    column[1].set_xlabel(sweep.parameter)
    return times


def _training(result: bb.Result) -> float:
    return min(result.offline_seconds, result.offline_cpu_seconds)


def _place(column: Any, sweep: Sweep) -> list[float]:
    """Positions on the horizontal axis: the values, or 0, 1, … for words and for wide ranges."""
    values = sweep.values
    if not isinstance(values[0], str) and max(values) <= 10 * min(v for v in values if v > 0):
        return list(values)
    words = isinstance(values[0], str)
    labels = [value if words else f"{value:g}" for value in values]
    for panel, shown in zip(column, ([""] * len(values), labels), strict=True):
        panel.set_xticks(
            range(len(values)), shown, rotation=35 * words, ha="right" if words else "center"
        )
    return list(range(len(values)))


def _searches(algorithm: str) -> bool:
    """Whether the agent's time is spent offline."""
    return issubclass(bb.AGENTS[algorithm], PolicySearch)


def _num_mdps(algorithm: str) -> int:
    if bb.AGENTS[algorithm].anytime:  # these plan, which takes long
        return 50
    return 100 if _searches(algorithm) else 200


@cache
def _problem(name: str, num_mdps: int) -> tuple[bb.Experiment, Scale]:
    """An experiment, and the scale from random actions to the bound on agents that learn."""
    experiment = bb.Experiment(name, name.removeprefix("uniform:"), num_mdps=num_mdps)
    scale = ExperimentData(name, experiment.hash, experiment.settings(), []).scale
    assert scale is not None  # both of its ends are shipped
    return experiment, scale


# How a network is trained.


def ann_training() -> Figure:
    """The errors of a network on the samples that it learns from, and on others."""
    styles = {name: style.points for name, style in series(["learning", "validation"]).items()}
    with drawing():
        figure = Figure(figsize=(6.5, 2.8), layout="constrained")
        panels = figure.subplots(1, 2)
        for panel, problem in zip(panels, ("GC", "Grid"), strict=True):
            experiment, agent = bb.Experiment(problem), Ann()
            train(agent, experiment.prior, experiment.task, experiment.seed)
            outcome = agent.outcome
            for part, style in styles.items():
                panel.plot(outcome["epoch"], outcome[part], **style, markersize=3, label=part)
            panel.axhline(
                outcome["test_error"][-1], color=PLAIN, linestyle=":", label="test, at the end"
            )
            falls = outcome["epoch"][1:][np.diff(outcome["rate"]) < 0]
            panel.plot(falls, np.full(len(falls), 0.04), "v", color=PLAIN, label="the rate falls")
            panel.set(xlabel="epoch", title=problem, ylim=(0, None))
            panel.grid(alpha=0.25)
        panels[0].set_ylabel("mean squared error")
        panels[1].legend()
    return figure


# The protocol and its statistics, on GC.

AGENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("random", {}),
    ("optimal", {}),
    *(("epsilon-greedy", {"epsilon": value}) for value in (0.0, 0.1, 0.3)),
    *(("beb", {"beta": value}) for value in (0.5, 2.5)),
    *(("opps-ds", {"draws": value}) for value in (50, 1000)),
    ("psrl", {}),
    ("boss", {}),
    *(("bamcp", {"simulations": value}) for value in (10, 100)),
)


@cache
def _results() -> dict[str, bb.Result]:
    """A small study on GC."""
    experiment = bb.Experiment("GC", "GC", num_mdps=300)
    results = [bb.evaluate(bb.make_agent(name, **given), experiment) for name, given in AGENTS]
    return {result.label: result for result in results}


def learning() -> Figure:
    """The mean reward at every step, and the weight that the discount gives it."""
    shown = {
        "optimal": "optimal",
        "epsilon-greedy(epsilon=0.0)": "epsilon-greedy, 0",
        "epsilon-greedy(epsilon=0.3)": "epsilon-greedy, 0.3",
        "random": "random",
    }
    styles = line_styles({label: _results()[label].algorithm for label in shown})
    with drawing():
        figure = Figure(figsize=(6.5, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        for label, name in shown.items():
            mean = _results()[label].rewards.mean(axis=(0, 1))
            smooth = mean.reshape(-1, 10).mean(axis=1)
            left.plot(5 + 10 * np.arange(25), smooth, label=name, **styles[label], markersize=3)
        left.set(xlabel="decision", ylabel="mean reward (of ten decisions)", ylim=(0, None))
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=4)
        steps = np.arange(250)
        for discount, dashes in ((0.9, ":"), (0.95, "--"), (0.99, "-")):
            right.plot(steps, discount**steps, dashes, color=PLAIN, label=f"discount {discount}")
        right.set(xlabel="decision", ylabel="weight of its reward")
        right.legend()
        for panel in (left, right):
            panel.grid(alpha=0.25)
    return figure


def scores() -> Figure:
    """Scores against online time."""
    return bb.plot_scores(_results().values())


def best_map() -> Figure:
    """The map of the best algorithms."""
    return bb.plot_map(_results().values())


def paired() -> Figure:
    """Returns of two agents on the same MDPs, and the intervals of their difference."""
    return bb.plot_pair(*(_results()[f"epsilon-greedy(epsilon={e})"] for e in (0.0, 0.3)))


def selection() -> Figure:
    """How choosing the best of many equal agents raises its score."""
    sizes = (1, 2, 4, 8, 16, 32)
    # Agents that differ only in their random streams: their epsilons are too close to matter.
    agents = [bb.make_agent("epsilon-greedy", epsilon=0.3 + i * 1e-12) for i in range(max(sizes))]
    reported = []  # [seeds, sizes, 2]: less the mean of all agents on the same MDPs
    truths = []
    for seed in range(100):
        experiment = bb.Experiment("GC", "GC", num_mdps=60, horizon=100, seed=seed)
        returns = np.array([bb.evaluate(agent, experiment).returns for agent in agents])
        truths.append(returns.mean())
        reported.append([_reported(returns, size) for size in sizes])
    truth = float(np.mean(truths))
    honest, flattered = (truth + np.mean(reported, axis=0)).T
    with drawing():
        figure = Figure(figsize=(5, 3.0), layout="constrained")
        axes = figure.subplots()
        styles = series(["same", "other"])
        axes.plot(
            sizes, flattered, **styles["other"].points, label="chosen and scored on the same MDPs"
        )
        axes.plot(
            sizes, honest, **styles["same"].points, label="chosen on a quarter, scored on the rest"
        )
        axes.axhline(
            truth, color="0.4", linestyle="--", linewidth=1, label="true score of all of them"
        )
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.set(
            xlabel="number of equal agents to choose from", ylabel="score reported (GC, N = 60)"
        )
        axes.legend()
        axes.grid(alpha=0.25)
    return figure


def _reported(returns: Floats, size: int) -> tuple[float, float]:
    """The score of the best of `size` agents, less the mean of all: honest and flattered."""
    choosing = num_choosing(returns.shape[1])
    honest, flattered = [], []
    for first in range(0, len(returns), size):
        some = slice(first, first + size)
        flattered.append(returns[some].mean(axis=1).max() - returns.mean())
        for turn in range(4):  # each quarter chooses once
            turned = np.roll(returns, turn * choosing, axis=1)
            chosen = turned[some, :choosing].mean(axis=1).argmax()
            honest.append(turned[some, choosing:][chosen].mean() - turned[:, choosing:].mean())
    return float(np.mean(honest)), float(np.mean(flattered))


# Wrong priors: the results that `reproduction/` keeps.

_WRONG_PRIORS = Path(__file__).parents[1] / "reproduction/misspecification.parquet"
_OF_THE_PAPER = ("bamcp", "bfs3", "beb", "epsilon-greedy", "opps-ds", "sboss", "soft-max")


def misspecification() -> Figure:
    """The paper's algorithms with wrong priors."""
    return bb.plot_misspecification(_WRONG_PRIORS, _OF_THE_PAPER)


def misspecification_others() -> Figure:
    """Other algorithms with wrong priors, and the paper's simplest to compare them with."""
    others = [name for name in bb.AGENTS if name not in _OF_THE_PAPER]
    return bb.plot_misspecification(_WRONG_PRIORS, ["epsilon-greedy", *others])


_VARIANTS = ("Chain:prior=full",)  # of problems, with other possible transitions

# The gallery: figures drawn by the code of its page.

_GALLERY = Path(__file__).parent / "gallery.md"


@cache
def _gallery() -> dict[str, Figure]:
    """Run the code of the gallery's page; each picture shows the figure of the code before it."""
    namespace: dict[str, Any] = {}
    drawn = {}
    block = r"```python\n(.*?)```(?:\n\n!\[.*?\]\(figures/([\w-]+)\.svg\))?"
    for code, name in re.findall(block, _GALLERY.read_text(), re.DOTALL):
        exec(code, namespace)
        if name:
            drawn[name] = namespace["figure"]
    return drawn


def _picture(name: str) -> Figure:
    return _gallery()[name]


def figures() -> Iterator[tuple[str, Callable[[], Figure]]]:
    """The names of the files, and the functions that draw them."""
    for name in (*bb.PROBLEMS, *_VARIANTS):
        if num_moves(bb.distribution(name)) <= MOST_DRAWN:
            file = name.replace(":prior=", "-")
            yield f"problem-{file}", partial(transitions, bb.distribution(name))
    for algorithm in SWEEPS:
        yield algorithm, partial(effects, algorithm)
    of_pages = (ann_training, learning, scores, best_map, paired, selection)
    for draw in (*of_pages, misspecification, misspecification_others):
        yield draw.__name__.replace("_", "-"), draw
    for name in re.findall(r"figures/(gallery-[\w-]+)\.svg", _GALLERY.read_text()):
        yield name, partial(_picture, name)


def save(figure: Figure, path: Path) -> None:
    """Write a figure; the same figure makes the same file."""
    with drawing(), matplotlib.rc_context({"svg.hashsalt": path.stem}):
        fix_layout(figure)
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")


def main(wanted: list[str]) -> None:
    """Make all figures, or some."""
    known = dict(figures())
    for name in wanted or known:
        if name not in known:
            raise SystemExit(f"there is no figure {name}: the figures are {', '.join(known)}")
        save(known[name](), FOLDER / f"{name}.svg")
        print(f"made {FOLDER / name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
