import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from brlbench.report import build as builds
from brlbench.report.answers import Question, answer
from brlbench.report.build import build
from brlbench.report.data import ReportData
from brlbench.report.figures import render
from brlbench.report.latex import TABLES, make_pdf, render_report, render_table
from brlbench.report.latex.escaping import breakable, escape, plain
from brlbench.report.notes import Note
from helpers.made_results import SPECIAL_NAMES, experiment, study, summary

RNG = np.random.default_rng(0)
SPECIAL = experiment(
    [summary(name, RNG.normal(i, 1, 40), 0.0, 1e-6) for i, name in enumerate(SPECIAL_NAMES)],
    name="50%_a&b [x] ε",
)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("beb(beta=0.5, ties=first)", "beb(beta=0.5, ties=first)"),
        ("<script>", r"\textless{}script\textgreater{}"),
        ("50%_a&b", r"50\%\_a\&b"),
        ("a\\b{}~^#$", r"a\textbackslash{}b\{\}\textasciitilde{}\textasciicircum{}\#\$"),
        ("ε-greedy", r"$\varepsilon$-greedy"),
        ("1 ± 2 µs", r"1 $\pm$ 2 \textmu{}s"),
        ("Couëtoux Š ï", r"Cou\"{e}toux \v{S} \"{\i}"),
        ("a--b,,c", "a-{}-b,{},c"),
        ("[x]*", "{[}x{]}{*}"),
        ("中\x07\n b", r"{[}U+4E2D{]}{[}U+0007{]} b"),
        ("\"'`|", r"\textquotedbl{}\textquotesingle{}\textasciigrave{}\textbar{}"),
    ],
)
def test_escaping(text: str, latex: str) -> None:
    assert escape(text) == latex
    assert escape(escape(text)) == latex


def test_long_names_may_break() -> None:
    assert breakable("my_module:Agent a: b") == r"my\_\allowbreak{}module:\allowbreak{}Agent a: b"
    assert plain(r"50%_a&b \x [y] ε (1)") == "50ab x y  (1)"


def test_tables() -> None:
    found = answer(study(0, num_agents=30, num_mdps=40).experiments[0])
    best, tests, agents = (render_table(kind, found) for kind in TABLES)
    assert best.count(r"\\") == len(found.rows) + 1
    assert best.count(r"$\star$") == len(found.winners)
    assert r"\toprule" in best
    assert tests.count(r"\%") == len(found.rows) + 1
    assert agents.count(r"\\") == len(found.experiment.summaries) + 1
    assert "optimal (reference)" in agents
    assert "optimal" not in best + tests


def test_everything_is_ascii_and_escaped() -> None:
    found = answer(SPECIAL)
    report = render_report(ReportData([SPECIAL], [Note("a note on 50%_a&b")]), [found], ["slug"])
    for text in (report, *(render_table(kind, found) for kind in TABLES)):
        assert text.isascii()
        assert r"50\%\_" in text
        assert "<script>" not in text
    assert r"\section{\texorpdfstring{50\%\_a\&b {[}x{]} $\varepsilon$}{50ab x }}" in report
    assert "a note on" in report


def test_honest_reports_say_so() -> None:
    data = ReportData([SPECIAL], [])
    honest, paper = (
        render_report(data, [answer(SPECIAL, Question(honest=value))], ["slug"])
        for value in (True, False)
    )
    assert "chosen on the first quarter" in honest
    assert "flatters the best" in paper


@pytest.mark.latex
@pytest.mark.slow
def test_a_report_with_special_names_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads nothing beside the report: neither what a name says, nor a package in its folder."""
    blank = render(Figure(figsize=(1, 1)), ".pdf")  # other tests are about figures
    monkeypatch.setattr(builds, "_rendered", lambda draw, suffix: blank)
    (tmp_path / "secret.tex").write_text("secret")
    (tmp_path / "booktabs.sty").write_text(r"\errmessage{read}")
    names = [rf"\input{{{tmp_path}/secret}}", r"\write18{touch trace}", r"^^5cinput secret"]
    harmful = [summary(name, RNG.normal(size=40)) for name in names]
    special = experiment([*SPECIAL.summaries, *harmful], name=names[0])
    empty = experiment([summary("optimal", RNG.normal(size=40))], name="nobody")
    one_mdp = experiment([summary("a", np.ones(1)), summary("b", np.zeros(1))], name="one MDP")
    notes = [Note("a note: $ % & _"), *map(Note, names)]
    made = build(ReportData([special, empty, one_mdp], notes), tmp_path, ["latex"])
    assert made.notes[:4] == notes
    few, *gaps = map(str, made.notes[4:])
    assert few.startswith("one MDP: only 0 MDPs test agents: intervals and tests")
    assert ["lacks" in gap for gap in gaps] == [True, True, True]
    pdf = (tmp_path / "report.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    left = {path.name for path in tmp_path.iterdir()}
    beside = {"secret.tex", "booktabs.sty", ".brlbench-made.json"}
    assert left == {"figures", "tables", "report.tex", "report.pdf", *beside}
    parts = [tmp_path / "report.tex", *tmp_path.glob("tables/*.tex")]
    written = "".join(path.read_text() for path in parts)
    assert r"\input{tables/" in written
    assert not re.search(r"\\input\{(?!tables/)|\\write|\^\^", written)


def test_a_note_where_latex_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    note = make_pdf(tmp_path / "report.tex")
    assert str(note) == "report.pdf was not made because latexmk is not installed; report.tex was"


@pytest.mark.latex
def test_a_note_where_latex_fails(tmp_path: Path) -> None:
    source = tmp_path / "report.tex"
    source.write_text(r"\documentclass{article}\begin{document}\nosuchcommand\end{document}")
    note = make_pdf(source)
    assert str(note) == "report.pdf was not made: latexmk says '! Undefined control sequence.'"
    assert not (tmp_path / "report.pdf").exists()
