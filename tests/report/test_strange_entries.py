"""Entries beside other results: they are read like compact files, and pass for nobody else."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import brlbench as bb
from brlbench.report import loading
from brlbench.report.data import ExperimentData, ReportData
from brlbench.report.loading import load
from brlbench.report.web.content import page_content
from brlbench.results.compact import ExperimentHeader, read_summaries, write_summaries
from brlbench.results.learning import Learning
from brlbench.results.result import Stopped
from brlbench.results.sealed import parse_parquet
from brlbench.results.summary import RACE, Summary
from helpers.made_entries import BUILT_IN, OWN, changed, settings, summaries
from helpers.shell import Shell


@pytest.fixture(autouse=True)
def parsing_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries are parsed in this process, which is quicker; the first test starts another one."""
    if request.function is not test_an_entry_appears_beside_other_results:
        monkeypatch.setattr(loading, "parser_in", lambda child: parse_parquet)


def labels(*places: Path) -> list[str]:
    [experiment] = load(*places).experiments
    return sorted(summary.label for summary in experiment.summaries)


def test_an_entry_appears_beside_other_results(made_entry: Path, shell: Shell) -> None:
    own = f"{OWN}(patience=9)"
    assert labels(made_entry) == [BUILT_IN, own]
    done = shell("compare", made_entry, "--all")
    assert done.code == 0 and own in done.out
    done = shell("report", made_entry, "-o", "report", "--format", "csv", "--format", "html")
    assert done.code == 0, done
    assert own in Path("report/agents.csv").read_text()
    assert "Steady" in Path("report/report.html").read_text()
    # The same results twice are one agent.
    assert labels(made_entry, made_entry.parent / "results") == [BUILT_IN, own]


def test_other_results_of_the_same_label_get_the_name_of_the_entry(
    made_entry: Path, tmp_path: Path
) -> None:
    better = summaries(returns=lambda each: each.returns + 1)
    forged = changed(made_entry, tmp_path / "a.entry.parquet", better, name="Rival")
    expected = [
        BUILT_IN,
        "beb [Rival](beta=2.0)",
        f"{OWN} [Rival](patience=9)",
        f"{OWN}(patience=9)",
    ]
    for places in (
        (made_entry.parent / "results", forged),
        (forged, made_entry.parent / "results"),
    ):
        assert labels(*places) == sorted(expected)
    again = changed(
        made_entry,
        tmp_path / "b.entry.parquet",
        summaries(returns=lambda e: e.returns + 2),
        name="Rival",
    )
    data = load(made_entry, forged, again)
    assert sum("hold different results of beb [Rival]" in note for note in data.notes) == 1


def test_more_results_than_are_known_get_the_name_of_the_entry(
    made_entry: Path, tmp_path: Path
) -> None:
    """Else a forger could continue what somebody else has stopped."""
    stopped = [
        (header, replace(each.first(100), stopped=Stopped(RACE, "left the race")))
        for header, each in read_summaries(made_entry)
        if each.algorithm == "beb"
    ]
    known = tmp_path / "known.parquet"
    write_summaries(known, [(header, [each]) for header, each in stopped])
    expected = [BUILT_IN, "beb [Steady & sons](beta=2.0)", f"{OWN}(patience=9)"]
    assert labels(known, made_entry) == sorted(expected)


def test_agents_of_one_label_stay_apart_where_only_one_has_played(
    made_entry: Path, tmp_path: Path
) -> None:
    """Else one would be taken for the other on boards of several sets."""
    elsewhere = bb.frozen_set("GDL/accurate/v1")
    header = ExperimentHeader(elsewhere.name, elsewhere.hash, elsewhere.settings())
    other = changed(
        made_entry, tmp_path / "a.entry.parquet", lambda _, each: (header, each), name="Rival"
    )
    found = {each.name: each.summaries for each in load(made_entry, other).experiments}
    assert {each.algorithm for each in found["GC"]} == {"beb", OWN}
    assert {each.algorithm for each in found["GDL"]} == {"beb", f"{OWN} [Rival]"}


def _named(algorithm: str, **changes: Any) -> Callable[..., Any]:
    return lambda header, each: (
        header,
        replace(each, algorithm=algorithm, label=algorithm, **changes),
    )


def test_an_entry_sets_no_scale_with_parameters_that_random_lacks(
    made_entry: Path, tmp_path: Path
) -> None:
    forged = changed(
        made_entry, tmp_path / "a.entry.parquet", _named("random", parameters={"x": 1})
    )
    [experiment] = load(forged).experiments
    assert experiment.score_of("random") is None
    within = settings(deadline=1.0)

    def late(header: Any, each: Summary) -> Any:
        head, same = within(header, each)
        return _named("random", parameters={}, deadline=1.0, quantities={"overruns": 0.0})(
            head, same
        )

    [experiment] = load(changed(made_entry, tmp_path / "b.entry.parquet", late)).experiments
    assert experiment.score_of("random") is None


def test_a_label_that_hides_its_agent_is_not_shown(made_entry: Path, tmp_path: Path) -> None:
    path = changed(made_entry, tmp_path / "a.entry.parquet", summaries(label=lambda each: "bamcp"))
    assert labels(path) == [BUILT_IN, f"{OWN}(patience=9)"]


def test_names_of_agents_are_escaped_wherever_they_are_shown(
    made_entry: Path, tmp_path: Path, shell: Shell
) -> None:
    name = "<script>x</script>[bold]\x1b[31m\u202e=1+1"
    path = changed(made_entry, tmp_path / "a.entry.parquet", _named(name))
    done = shell("compare", path, "--all", "--notes")
    assert done.code == 0, done
    assert "<script>x</script>[bold]\\x1b[31m\\u202e=1+1" in done.out
    assert not {"\x1b", "\u202e"} & set(done.out + done.err)
    done = shell("report", path, "-o", "report", "--format", "html")
    assert done.code == 0, done
    assert not {"\x1b", "\u202e"} & set(done.out + done.err)
    assert "<script>x" not in Path("report/report.html").read_text()


@pytest.mark.parametrize(
    ("change", "texts", "sentence"),
    [
        (settings("0" * 64), {}, "can't be used as an entry: GC/accurate/v1 has hash"),
        (settings(test="Best"), {}, "GC/accurate/v1 has test = 'GC', not 'Best'"),
        (settings(), {"name": "<b>"}, "name = '<b>': must have no HTML tags"),
        (settings(), {"code": "javascript:x"}, "code = 'javascript:x': must be an address"),
    ],
)
def test_what_breaks_the_rules_is_left_out(
    change: Any, texts: dict[str, str], sentence: str, made_entry: Path, tmp_path: Path
) -> None:
    path = changed(made_entry, tmp_path / "a.entry.parquet", change, **texts)
    data = load(made_entry, path)
    [experiment] = data.experiments
    assert len(experiment.summaries) == 2
    assert any(sentence in note for note in data.notes)


def test_an_entry_cannot_rename_an_experiment(made_entry: Path, tmp_path: Path) -> None:
    path = changed(
        made_entry,
        tmp_path / "a.entry.parquet",
        lambda head, each: (head._replace(name="Best"), each),
    )
    assert [each.name for each in load(path).experiments] == ["GC"]


def test_learning_curves_at_other_decisions_are_shown_together(made_entry: Path) -> None:
    [experiment] = load(made_entry).experiments
    first, second = experiment.summaries
    assert first.learning is not None and second.learning is not None
    few = Learning._make(each[::3] for each in second.learning)
    mixed = replace(experiment, summaries=[first, replace(second, learning=few)])
    shown = _learning(mixed)
    assert shown["decisions"] == first.learning.decisions.tolist()
    assert [len(each) for each in shown["curves"][1]] == 2 * [len(shown["decisions"])]
    again = few.at(second.learning.decisions)
    assert again.mean[::3].tolist() == few.mean.tolist()


def _learning(experiment: ExperimentData) -> Any:
    return page_content(ReportData([experiment], []))["experiments"][0]["learning"]


def test_python_packs_what_the_command_line_packs(made_entry: Path, tmp_path: Path) -> None:
    with pytest.raises(bb.InvalidInput, match="code is missing"):
        bb.new_entry(
            made_entry, tmp_path / "a.entry.parquet", name="A", authors="Ada", description="It.",
            licence="MIT",
        )  # fmt: skip
    entry = bb.new_entry(
        made_entry, tmp_path / "a.entry.parquet", name="A", authors="Ada", description="It.",
        licence="MIT", only="beb",
    )  # fmt: skip
    assert entry.authors == ("Ada",)
    assert labels(tmp_path / "a.entry.parquet") == [BUILT_IN]
