"""The browser's winners within bounds are Python's, on all results that come with the project."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium.webdriver import Chrome

from brlbench.analysis.bounds import LEVEL, Comparison, Regions
from brlbench.report.data import ExperimentData, ReportData
from brlbench.report.loading import load
from brlbench.report.web import embedded_json
from brlbench.report.web.content import LEVELS, page_content
from brlbench.results.result import Stopped
from brlbench.results.summary import BEATEN, HALVED, Summary
from brlbench.results.times import ONLINE
from helpers.made_results import study

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("reproduction/*.parquet"), *ROOT.glob("leaderboard/*.parquet")])
# The regions of an experiment: the winning algorithms between the times at which they change.
REGIONS = """
const [number, feature, honest, level] = arguments;
const experiment = content.experiments[number];
const competes = (i) => experiment.algorithms[i] !== content.reference;
const place = content.levels.indexOf(level);
const comparison = new Comparison(experiment, feature, !honest, place, competes);
const { offline, online, cells, sets } = comparison.regions();
const { best } = comparison.within(Infinity, Infinity);
return { offline, online, cells, sets, best: best.map((i) => experiment.labels[i]) };
"""


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_winners_within_all_bounds(browser: Chrome, tmp_path: Path, file: Path) -> None:
    check_all(browser, tmp_path, load(file))


def test_winners_among_agents_that_halving_stopped(browser: Chrome, tmp_path: Path) -> None:
    """A third left after 10 MDPs, and a third was worse than a champion after 60."""
    [made] = study(0, num_agents=40, num_mdps=200).experiments
    stops = [None, (10, Stopped(HALVED, "left")), (60, Stopped(BEATEN, "worse"))]
    summaries = [
        each if stop is None or each.is_reference else replace(each.first(stop[0]), stopped=stop[1])
        for each, stop in zip(made.summaries, cycle(stops), strict=False)
    ]
    check_all(browser, tmp_path, ReportData([replace(made, summaries=summaries)], []))


def check_all(browser: Chrome, tmp_path: Path, data: ReportData) -> None:
    """The page's winners are Python's, in all experiments."""
    content = page_content(data)
    open_content(browser, tmp_path, content)
    names = [each["name"] for each in content["algorithms"]]
    for number, experiment in enumerate(data.experiments):
        features = [each["key"] for each in content["experiments"][number]["features"]]
        # Each experiment with another feature and another level.
        for question in (
            (ONLINE, True, LEVEL),
            (ONLINE, False, LEVELS[number % len(LEVELS)]),
            (features[number % len(features)], False, LEVEL),
        ):
            shown = browser.execute_script(REGIONS, number, *question)
            check(shown, experiment, names, *question)


def open_content(browser: Chrome, folder: Path, content: Any) -> None:
    """Open a page with this data and the script that finds winners."""
    source = files("brlbench.report.web")
    scripts = [source.joinpath(f"{name}.js").read_text() for name in ("data", "experiment")]
    scripts.append("let content; readContent().then((read) => { content = read; });")
    text = f'<script type="application/json" id="content">{embedded_json(content)}</script>'
    page = folder / "page.html"
    page.write_text(f"<!doctype html>{text}<script>{''.join(scripts)}</script>", encoding="utf-8")
    browser.get(page.as_uri())
    browser.execute_async_script(
        "const wait = (done) => content ? done() : setTimeout(wait, 50, done); wait(arguments[0]);"
    )


def check(
    shown: dict[str, Any],
    experiment: ExperimentData,
    names: Sequence[str],
    feature: str,
    honest: bool,
    level: float,
) -> None:
    """Both have the same winners for bounds at all times of agents, and the same best agents."""
    summaries: list[Summary] = experiment.competitors
    comparison = Comparison(summaries, level, honest, feature)
    best = comparison.within()
    labels = [summaries[i].marked_label for i in best.best_of_algorithm] if best else []
    assert shown["best"] == labels
    regions = comparison.regions()
    python = winners_at_edges(regions, summaries, names)
    rows, columns = (
        np.searchsorted(shown[name], edges, side="right") - 1
        for name, edges in (("offline", regions.offline_edges), ("online", regions.online_edges))
    )
    cells = np.array(shown["cells"]).reshape(len(shown["offline"]), len(shown["online"]))
    numbers = np.where(np.minimum(rows[:, None], columns) < 0, -1, cells[np.ix_(rows, columns)])
    sets = [*map(tuple, shown["sets"]), ()]
    assert [[sets[number] for number in row] for row in numbers.tolist()] == python


def winners_at_edges(
    regions: Regions, summaries: Sequence[Summary], names: Sequence[str]
) -> list[list[tuple[int, ...]]]:
    """Python's winning algorithms [I][J] by number, for bounds at all edges."""
    sets = [
        tuple(sorted(names.index(summaries[i].algorithm) for i in best.winners))
        for best in regions.answers
    ]
    return [[[*sets, ()][cell] for cell in row] for row in regions.cells.tolist()]
