import io
import json
from pathlib import Path

import numpy as np
import polars as pl

from brlbench.report.answers import Question, answer, answer_all
from brlbench.report.build import build
from brlbench.report.data import ReportData
from brlbench.report.export import (
    agents_json,
    answers_json,
    csv_of,
)
from brlbench.report.loading import load
from brlbench.report.notes import Note
from brlbench.report.tables import agents_table, best_table
from brlbench.results.sealed import pack_table
from helpers.made_results import SPECIAL_NAMES, experiment, study, summary, write_study

DATA = study(0, num_agents=30, num_mdps=40)
ANSWERS = answer_all(DATA)


def test_all_formats_hold_the_same_table(tmp_path: Path) -> None:
    build(DATA, tmp_path, ["parquet"])
    table = agents_table(ANSWERS)
    assert pl.read_parquet(tmp_path / "agents.parquet").equals(table)
    csv = pl.read_csv(io.BytesIO(csv_of(agents_table(ANSWERS))))
    assert csv["agent"].to_list() == table["agent"].to_list()
    assert csv["score"].to_list() == table["score"].to_list()
    (content,) = json.loads(agents_json(DATA, ANSWERS))["experiments"]
    assert [row["score"] for row in content["agents"]] == table["score"].to_list()
    assert content["agents"][1]["parameters"] == DATA.experiments[0].summaries[1].parameters
    assert content["answer"].startswith("GC: ")
    assert content["map"].startswith("GC")


def test_names_with_special_characters() -> None:
    special = experiment([summary(name, np.arange(40.0)) for name in (*SPECIAL_NAMES, 'a,"b"\nc')])
    answers = [answer(special)]
    names = [each.label for each in special.summaries]
    csv = pl.read_csv(io.BytesIO(csv_of(agents_table(answers))))
    assert csv["agent"].to_list() == names
    (content,) = json.loads(agents_json(ReportData([special], []), answers))["experiments"]
    assert [row["agent"] for row in content["agents"]] == names


def test_json_has_no_infinite_numbers() -> None:
    certain = experiment([summary("a", np.full(40, 2.0)), summary("b", np.full(40, 1.0))])
    data = ReportData([certain], [Note("note")])
    found = json.loads(answers_json(data, [answer(certain)], False), parse_constant=lambda _: 1 / 0)
    assert found["experiments"][0]["best"][1]["effect_size"] is None
    assert found["experiments"][0]["winners"] == ["a"]
    assert found["notes"] == ["note"]


def test_the_best_agents_as_csv() -> None:
    table = pl.read_csv(io.BytesIO(csv_of(best_table(ANSWERS))))
    assert table["agent"].to_list() == [row.summary.label for row in ANSWERS[0].rows]
    nobody = csv_of(best_table([answer(DATA.experiments[0], Question(offline=0.0))]))
    assert nobody.decode().strip().split(",") == table.columns


def test_an_exported_table_is_not_taken_for_a_result(tmp_path: Path) -> None:
    write_study(tmp_path, ("random", "beb"))
    before = load(tmp_path)
    build(before, tmp_path, ["parquet"])
    (tmp_path / "other.parquet").write_bytes(pack_table("table", {"a": [1]}, {}))
    after = load(tmp_path)
    assert after.notes == before.notes == []
    assert len(after.experiments[0].summaries) == 2


def test_no_text_is_a_formula_in_a_spreadsheet() -> None:
    names = ("=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "a=b", "fine")
    made = experiment([summary(name, np.arange(40.0)) for name in names], name="=1+1")
    for made_table in (agents_table([answer(made)]), best_table([answer(made)])):
        table = pl.read_csv(io.BytesIO(csv_of(made_table)))
        assert set(table["experiment"]) == {"'=1+1"}
        expected = {f"'{name}" if name[0] in "=+-@" else name for name in names}
        assert set(table["algorithm"]) == expected


def test_texts_that_spreadsheets_would_compute_are_quoted() -> None:
    texts = ["=1+1", "\n=1+1", "\r\n=1", " \n +1", "\t-1", "@a", "a\n=1", "a"]
    read = pl.read_csv(io.BytesIO(csv_of(pl.DataFrame({"text": texts}))))["text"].to_list()
    assert read == [*(f"'{text}" for text in texts[:6]), *texts[6:]]
