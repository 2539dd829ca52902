"""The page at three widths, light and dark, and in print."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from brlbench import AGENTS
from brlbench.report.data import ExperimentData, ReportData
from brlbench.report.styles import styles_of
from brlbench.results.learning import Learning
from helpers.made_results import ALGORITHMS, experiment, study, summary
from helpers.page_browser import Page

BOXES = """
const box = (node) => {
  const { left, top, right, bottom } = node.getBoundingClientRect();
  return [left, top, right, bottom];
};
const svgs = [...document.querySelectorAll("svg")].filter((svg) => svg.querySelector(".tick"));
return svgs.map((svg) => ({
  name: svg.id, frame: box(svg), ticks: [...svg.querySelectorAll(".tick")].map(box),
}));
"""
FILLS = """
return Object.fromEntries([...document.querySelectorAll("#map .region")].map((region) => {
  const id = /url\\("#(.*)"\\)/.exec(region.style.fill)?.[1];
  const tile = id && document.getElementById(id);
  const colour = getComputedStyle(tile?.querySelector("rect") ?? region).fill;
  const hatch = tile?.querySelector("path")?.getAttribute("d");
  return [JSON.parse(region.dataset.set)[0], [colour, hatch]];
}));
"""


def learnt(data: ExperimentData, scale: float) -> ExperimentData:
    """The same agents with learning curves, and all scores multiplied."""
    decisions = np.array([1, 10, 100, 250])
    made = []
    for each in data.summaries:
        curve = scale * each.score.mean * np.array([0.1, 0.4, 0.9, 1.0])
        learning = Learning(decisions, curve, np.full(4, scale))
        made.append(replace(each, returns=scale * each.returns, learning=learning))
    return replace(data, summaries=made)


@pytest.mark.parametrize(("width", "scale"), [(1400, 1.0), (1000, 1e-6), (400, 1e5)])
def test_scores_are_in_view_and_tick_labels_apart(page: Page, width: int, scale: float) -> None:
    page.resize(width)
    page.open(ReportData([learnt(study(5, 40, 50).experiments[0], scale)], []))
    for table, titles in (("best", ["Score ± 95%", "Z"]), ("agents", ["Score", "± 95%", "Z"])):
        assert page.texts(f"#{table} th")[: len(titles) + 1] == ["Agent", *titles]
        edges = page.run(
            "const table = document.getElementById(arguments[0]);"
            "const right = (node) => node.getBoundingClientRect().right;"
            "const rows = [...table.rows].slice(0, 8);"
            "return [Math.max(...rows.map((row) => right(row.cells[arguments[1]]))),"
            " right(table.parentElement)]",
            table, len(titles),
        )  # fmt: skip
        assert edges[0] <= edges[1] <= width, table
    plots = page.run(BOXES)
    assert len(plots) == 6
    for plot in plots:
        assert len(plot["ticks"]) > 1
        check_apart(plot)


def check_apart(plot: dict[str, Any]) -> None:
    left, top, right, bottom = plot["frame"]
    for i, (l1, t1, r1, b1) in enumerate(plot["ticks"]):
        assert left - 1 <= l1 and r1 <= right + 1 and top - 2 <= t1 and b1 <= bottom + 1, plot
        for l2, t2, r2, b2 in plot["ticks"][:i]:
            assert l1 > r2 + 1 or l2 > r1 + 1 or t1 >= b2 or t2 >= b1, plot


def test_every_algorithm_has_its_own_fill_and_marker(page: Page) -> None:
    rng = np.random.default_rng(0)
    names = ("soft-max", "opps-cs", "mine:Agent", "random")
    agents = [summary(name, rng.normal(9 * i, 1, 40), 1.0, 10.0**i) for i, name in enumerate(names)]
    page.open(ReportData([experiment(agents)], []))
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        fills = page.run(FILLS)
        assert len({tuple(fill) for fill in fills.values()}) == 4
        for name, style in styles_of(names).items():
            colour = style.light if scheme == "light" else style.dark
            parts = ", ".join(str(part) for part in bytes.fromhex(colour[1:]))
            assert fills[name][0] == f"rgb({parts})"
    # The mark of an algorithm is the same on a page with others.
    marks = "return [...document.querySelectorAll('#algorithms label')].map((label) =>" \
            " [label.textContent, label.querySelector('path').getAttribute('d')])"  # fmt: skip
    alone = dict(page.run(marks))
    page.open(study(1, 14, 40))
    together = dict(page.run(marks))
    assert {name: together[name] for name in alone if name in ALGORITHMS} == {
        name: alone[name] for name in alone if name in ALGORITHMS
    }


def test_print_shows_what_is_chosen_and_every_name(page: Page) -> None:
    page.open(study(0, 200, 500))
    page.tick("random")
    assert not page.one("#chosen").is_displayed()
    names = page.texts("#legend li")
    assert 2 < len(names) <= 9 and names[-1].startswith("several (up to ")
    letters = page.texts("#map .letter")
    assert [name[0] for name in names[:-1]] == letters == list("ABCDEFGH")[: len(letters)]
    page.print()
    assert page.one("#chosen").text == (
        "Problem GC, prior accurate; online time: processor time per decision; significance 95%; "
        "the first quarter of the MDPs chose the agents, the others tested them; left out: random."
    )
    assert not page.one("#controls").is_displayed()
    assert not page.one("#bounds").is_displayed()
    styles = page.run("""
      const nodes = [...document.querySelectorAll(".scroll")];
      const styles = nodes.map((node) => getComputedStyle(node));
      return styles.map(({ overflowY, maxHeight }) => [overflowY, maxHeight]);
    """)
    assert {tuple(style) for style in styles} == {("visible", "none")}
    assert page.run("return document.querySelectorAll('[title]:not(input)').length") == 0
    page.prefer("light")


@pytest.mark.parametrize("width", [1400, 1000, 400])
def test_nothing_is_cut_without_a_sign(page: Page, width: int) -> None:
    """Best agents have all columns in view; wider tables fade; names break in no number."""
    page.resize(width)
    data = study(5, 40, 50).experiments[0]
    wide = "bfs3(simulations=12345, branching={}, depth=1050)"
    labelled = [
        replace(each, label=wide.format(1000 + i)) if each.algorithm == "bfs3" else each
        for i, each in enumerate(data.summaries)
    ]
    page.open(ReportData([replace(data, summaries=labelled)], []))
    tables = page.run("""
      return [...document.querySelectorAll(".scroll")].map((node) => [
        node.querySelector("table").id, node.scrollWidth - node.clientWidth,
        getComputedStyle(node).maskImage !== "none",
      ]);
    """)
    shown = {name: (hidden > 2, fades) for name, hidden, fades in tables}
    assert shown["best"] == shown["differences"] == (False, False)
    assert all(is_cut == fades for is_cut, fades in shown.values())
    assert shown["agents"][1] == (width < 1400)
    broken = page.run("""
      const numbers = [];
      for (const part of document.querySelectorAll("#best .name .label span")) {
        for (const text of part.childNodes) {
          for (const { index, 0: number } of (text.textContent ?? "").matchAll(/[0-9.]+/g)) {
            const range = document.createRange();
            range.setStart(text, index);
            range.setEnd(text, index + number.length);
            numbers.push([number, range.getClientRects().length]);
          }
        }
      }
      return numbers;
    """)
    assert "12345" in dict(broken)
    assert set(dict(broken).values()) == {1}
    titles = page.run("""
      const svgs = [...document.querySelectorAll("svg.plot:not([hidden])")];
      return svgs.flatMap((svg) => [...svg.querySelectorAll("text")].map((text) => {
        const [a, b] = [text, svg].map((node) => node.getBoundingClientRect());
        return [text.textContent, a.left - b.left, b.right - a.right];
      }));
    """)
    assert [text for text, *rooms in titles if min(rooms) < -1] == []


def test_no_two_algorithms_of_one_colour_have_one_mark(page: Page) -> None:
    """All markers of styles are drawn on the page, and users' agents are on top."""
    rng = np.random.default_rng(1)
    names = [*AGENTS, "mine:A", "mine:B"]
    agents = [
        summary(name, rng.normal(size=40), 1.0, 10.0 ** rng.uniform(-7, -2)) for name in names
    ]
    page.open(ReportData([experiment(agents)], []))
    marks = page.run("""
      return [...document.querySelectorAll("#algorithms label")].map((label) => {
        const path = label.querySelector("path"), name = label.textContent.split(" ")[0];
        return [name, path.getAttribute("d"), getComputedStyle(path).fill];
      });
    """)
    shapes = {name: shape for name, shape, _ in marks}
    known = styles_of(names)
    assert len({(shape, colour) for _, shape, colour in marks}) == len(names)
    pairs = {(known[name].marker, shapes[name]) for name in names}
    assert len(pairs) == len(dict(pairs)) == len({shape for _, shape in pairs}) == 9
    top = page.run("""
      const dots = [...document.querySelectorAll("#online-plot g.agent")].slice(-2);
      return dots.map((dot) => dot.querySelector("path").getAttribute("d"));
    """)
    assert top == [shapes["mine:A"]] * 2 == [shapes["mine:B"]] * 2
