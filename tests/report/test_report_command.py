import json
import sys
from pathlib import Path

import polars as pl
import pytest

from brlbench import cli
from brlbench.files import slugs
from brlbench.report.build import FORMATS, MADE, build, check_formats
from brlbench.report.loading import load
from helpers.made_results import SPECIAL_NAMES, write_study

NAMES = ("random", "beb", "optimal", *SPECIAL_NAMES)


class Command:
    """The command line, within this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        patch.setenv("COLUMNS", "200")
        self.capsys, self.patch = capsys, patch

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        """Run it; returns the exit code and what was printed on both streams."""
        self.patch.setattr(sys, "argv", ["brlbench", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
            sys.exit(0)
        printed = self.capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(capsys, monkeypatch)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write_study(tmp_path, NAMES)
    return tmp_path


def test_compare_prints_winners_and_tables(run: Command, results: Path) -> None:
    code, out, err = run("compare", results)
    assert (code, err) == (0, "")
    for name in NAMES:
        assert name in out
    assert "GC: $x$ [b] -- `q' ε, µ 中 is best with " in out.replace("\n", " ")
    assert "★" in out
    assert "optimal (reference)" in out


def test_report_names_the_page_first(run: Command, results: Path) -> None:
    code, out, _ = run("report", results, "--format", "csv", "--format", "html")
    assert code == 0
    page, files, table, *_ = out.splitlines()
    assert page == f"Page: {results / 'report/report.html'}"
    content = (results / "report/report.html").read_text(encoding="utf-8")
    assert '"learning": {"unit": "decision", "decisions": [1, 2, 3, 4, 5]' in content
    assert (files, table) == ("Files:", f"  {results / 'report/agents.csv'}")


def test_report_shows_its_progress(results: Path) -> None:
    told = []
    built = build(load(results), results / "out", ["csv", "json", "html"],
                  show=lambda *news: told.append(news))  # fmt: skip
    assert told == [("report.html", 0, 3), ("agents.csv", 1, 3), ("agents.json", 2, 3)]
    assert len(built.files) == 3


def test_compare_within_bounds(run: Command, results: Path) -> None:
    _, out, _ = run("compare", results, "--offline", "1ms", "--online", "5s", "--experiment", "GC")
    assert "GC within offline ≤ 1 ms, online ≤ 5 s: beb(value=1) is best" in out
    assert "Grid" not in out
    _, out, _ = run("compare", results, "--online", "1ns")
    assert "no agent is within the bounds" in out


def test_compare_for_programs(run: Command, results: Path) -> None:
    _, out, _ = run("compare", results, "--format", "json", "--as-in-paper", "--level", "0.9")
    found = json.loads(out)
    assert [each["name"] for each in found["experiments"]] == ["GC", "Grid"]
    _, out, err = run("compare", results, "--format", "csv", "--experiment", "Grid")
    table = pl.read_csv(out.encode())
    assert table.height == len(NAMES) - 1
    assert err == ""


def test_compare_by_another_feature(
    run: Command, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(results, "my_own_times.py").write_text("def twice(offline, decisions):\n    return 2.0\n")
    monkeypatch.chdir(results)
    monkeypatch.syspath_prepend(results)
    _, out, _ = run("compare", results, "--feature", "my_own_times:twice", "--format", "csv")
    assert set(pl.read_csv(out.encode())["online_seconds"]) == {2.0}
    _, out, _ = run("compare", results, "--feature", "max", "--experiment", "GC")
    assert "best" in out
    _, out, _ = run("compare", results, "--feature", "max_with_training", "--format", "csv")
    table = pl.read_csv(out.encode())
    assert (table["online_seconds"] >= table["offline_seconds"]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--offline", "5 parsecs"], "offline = '5 parsecs': must be a duration like"),
        (["--experiment", "gc"], "experiment = 'gc' (did you mean 'GC'?): must be one of"),
        (["--feature", "meen"], "unknown time feature 'meen' (did you mean 'mean'?)"),
        (["--level", "95"], "level = 95.0: must be a number between 0 and 1"),
        (["--format", "xml"], "format = 'xml': must be table, csv or json"),
    ],
)
def test_wrong_arguments(run: Command, results: Path, arguments: list[str], message: str) -> None:
    code, out, err = run("compare", results, *arguments)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


def test_report_names_its_files(run: Command, results: Path) -> None:
    code, out, err = run("report", results, "--format", "csv", "--format", "json")
    assert (code, err) == (0, "")
    for name in ("agents.csv", "agents.json"):
        assert str(results / "report" / name) in out
        assert (results / "report" / name).exists()
    assert "Winners as the bound on online time grows" in out


def test_report_overwrites_what_it_made_itself(run: Command, results: Path) -> None:
    arguments = ("report", results, "--output", results / "made", "--format", "csv")
    assert [run(*arguments)[0] for _ in range(2)] == [0, 0]
    table = results / "made/agents.csv"
    table.write_text("mine")
    code, _, err = run(*arguments)
    assert code == 1
    assert "agents.csv exists already" in err
    assert table.read_text() == "mine"
    assert run(*arguments, "--overwrite")[0] == 0
    assert table.read_text() != "mine"


def test_a_pdf_is_part_of_other_formats(run: Command, results: Path) -> None:
    code, _, err = run("report", results, "--format", "pdf")
    assert code == 1
    assert "format = 'pdf': figures are PDF files, and latex makes a report as PDF" in err


def test_report_into_what_is_no_folder(run: Command, results: Path) -> None:
    (results / "file").write_text("")
    code, _, err = run("report", results, "--output", results / "file", "--format", "csv")
    assert code == 1
    assert "can't be made" in err


def test_unknown_formats_of_reports(run: Command, results: Path) -> None:
    code, _, err = run("report", results, "--format", "cvs")
    assert code == 1
    assert "format = 'cvs' (did you mean 'csv'?): must be all or one of figures, latex" in err
    assert check_formats(["all"]) == set(FORMATS)


@pytest.mark.slow
def test_report_makes_everything(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # without LaTeX, which test_latex is about
    write_study(tmp_path, ("random", "beb", "optimal"), experiments=("GC",))
    code, _, err = run("report", tmp_path)
    assert code == 0
    assert err == "note: report.pdf was not made because latexmk is not installed; report.tex was\n"
    made = {str(path.relative_to(tmp_path / "report")) for path in tmp_path.rglob("report/**/*.*")}
    figures = {f"figures/GC-{kind}" for kind in ("map", "online", "offline")}
    assert made == {
        *(f"{name}{suffix}" for name in figures for suffix in (".pdf", ".png")),
        *(f"tables/GC-{kind}.tex" for kind in ("best", "tests", "agents")),
        *(MADE, "report.tex", "report.html", "agents.csv", "agents.json", "agents.parquet"),
    }
    assert run("compare", tmp_path)[2] == ""  # the report is no result


def test_a_folder_without_results(run: Command, tmp_path: Path) -> None:
    for command in ("compare", "report"):
        code, _, err = run(command, tmp_path)
        assert code == 1
        remedy = "make some with brlbench run, play or demo"
        assert err == f"error: {tmp_path} has no results: {remedy}\n"
        code, _, err = run(command, tmp_path / "nowhere")
        assert code == 1
        assert "there is no " in err


def test_damaged_files_are_left_out_and_named(run: Command, results: Path) -> None:
    path = results / "GC-0.parquet"
    path.write_bytes(path.read_bytes()[:-50])
    code, _, err = run("compare", results)
    assert code == 0
    assert "note: left out: " in err
    assert "GC-0.parquet is damaged" in err
    assert "GC lacks 1 of 7 agents: random" in err


def test_only_damaged_files(run: Command, tmp_path: Path) -> None:
    (tmp_path / "result.parquet").write_bytes(b"PAR1 nonsense")
    code, _, err = run("compare", tmp_path)
    assert code == 1
    assert "no results that can be read (left out: " in err
    assert err.count("\n") == 1


def test_one_agent_in_one_experiment_of_few_mdps(run: Command, tmp_path: Path) -> None:
    write_study(tmp_path, ("beb",), num_mdps=3, experiments=("GC",))
    code, out, err = run("compare", tmp_path)
    assert code == 0
    assert "there is no other algorithm" in out
    assert "note: GC: only 2 MDPs test agents" in err
    assert run("report", tmp_path, "--format", "figures")[0] == 0


def test_unlike_mdps_are_not_compared(run: Command, tmp_path: Path) -> None:
    """Two experiments of one name stay apart, for their hashes differ."""
    for folder, name in (("one", "beb"), ("two", "boss")):
        (tmp_path / folder).mkdir()
        write_study(tmp_path / folder, (name,), experiments=("GC",), hash=f"{folder} of many")
    _, out, err = run("compare", tmp_path)
    assert out.count("there is no other algorithm") == 2
    assert "GC [one of]" in out
    assert "GC [two of] lacks 1 of 2 agents: beb" in err


def test_only_the_reference(run: Command, tmp_path: Path) -> None:
    write_study(tmp_path, ("optimal",), experiments=("GC",))
    code, out, _ = run("compare", tmp_path)
    assert code == 0
    assert "GC: there are no agents to compare." in out


def test_names_of_files_differ() -> None:
    assert slugs(["a b", "a-b", "ε", "A/B"]) == ["a-b", "a-b-2", "experiment", "A-B-4"]
    assert slugs(["a-3", "a", "a"], "agent") == ["a-3", "a", "a-3-3"]
