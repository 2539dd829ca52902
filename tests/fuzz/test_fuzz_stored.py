"""Results, parts, compact files, experiments and trained agents: damaged, and with other content.

A file whose digest is wrong is not parsed. Most damaged entries and agents have a right one here,
as those of forgers do; Parquet files of other kinds are trusted behind it.
"""

import io
import json
import math
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench import storage
from brlbench.agents import make_agent
from brlbench.errors import BrlbenchError, InvalidInput, StoreError
from brlbench.executors.child import Child
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.playing import Part, play_part
from brlbench.protocol.recording import make_part
from brlbench.protocol.training import load
from brlbench.report.answers import ANYTHING, answer_all
from brlbench.report.export import answers_json, csv_of
from brlbench.report.loading import load as load_results
from brlbench.report.page import write_page
from brlbench.report.strangers import parser_in
from brlbench.report.tables import agents_table, best_table
from brlbench.results import sealed
from brlbench.results.compact import ExperimentHeader, read_summaries, write_summaries
from brlbench.results.files import pack_part, pack_result, read_part
from brlbench.results.summary import summarise
from brlbench.storage.entries import Entry, is_entry, read_entry
from helpers.fuzzing import changed, damaged, fuzzing, outcome
from helpers.made_entries import TOLD
from helpers.stored import WRITERS, experiment, resealed, trained


def _write_compact(path: Path) -> None:
    made = experiment()
    header = ExperimentHeader(made.name, made.hash, made.settings())
    agents = (make_agent("random"), make_agent("beb"))
    write_summaries(path, [(header, [summarise(evaluate(agent, made)) for agent in agents])])


def _write_entry(path: Path) -> None:
    made = storage.frozen_set("GC/accurate/v1", 5)
    header = ExperimentHeader(made.name, made.hash, made.settings())
    result = evaluate(make_agent("beb"), made)
    summary = summarise(result, learning=True)
    write_summaries(path, [(header, [summary])], entry=Entry(**TOLD)._asdict())


def _write_part(path: Path) -> None:
    made = trained()
    played = play_part(made.agent, experiment(), Part(0, 5), keep_decisions=True, keep_paths=True)
    machine = {"processor": "made up"}
    part = make_part(made.agent, experiment(), made.training, played, machine)
    path.write_bytes(pack_part(part))


WRITE: dict[str, Callable[[Path], object]] = {
    **WRITERS,
    "compact": _write_compact,
    "entry": _write_entry,
    "part": _write_part,
}
COMPACT = ("compact", "entry")
TABLES = [kind for kind in WRITE if kind != "agent"]


@pytest.fixture(scope="module", autouse=True)
def _ended_child() -> Iterator[None]:
    yield
    _child.kill()


_child = Child()


@cache
def original(kind: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        WRITE[kind](Path(folder, "a"))
        return Path(folder, "a").read_bytes()


@cache
def _sound() -> bytes:
    """The result of another agent in the same experiment."""
    return pack_result(evaluate(make_agent("psrl"), experiment()))


def read(path: Path, kind: str) -> Any:
    """Read a file, and use what was read."""
    if kind == "agent":
        saved = storage.read_agent(path)
        return load(saved) if saved.agent == "beb" and saved.task.horizon < 1000 else saved
    if kind == "experiment":
        made = storage.read_experiment(path)
        return made.mdp(0).solve(made.discount)
    if kind == "part":
        return read_part(path)
    if kind == "compact":
        return read_summaries(path)
    if kind == "entry":
        return read_entry(path, parser_in(_child))
    return storage.read_result(path)


def used(content: bytes, kind: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.entry.parquet" if kind == "entry" else "a.parquet")
        path.write_bytes(content)
        made = outcome(lambda: read(path, kind))
        if isinstance(made, BrlbenchError):
            assert isinstance(made, StoreError | InvalidInput)
            assert str(path) in str(made)
        if kind in (*COMPACT, "result"):
            _report(path, Path(folder))
        return made


def _report(path: Path, folder: Path) -> None:
    """Read it with a sound file, which is always reported; every tenth time, make a report.

    Entries are read every tenth time only, since that starts a process.
    """
    is_tenth = sum(path.read_bytes()) % 10 == 0
    if is_entry(path) and not is_tenth:
        return
    Path(folder, "b.parquet").write_bytes(_sound())
    data = load_results(folder)
    assert any("psrl" in summary.label for each in data.experiments for summary in each.summaries)
    if not is_tenth:
        return
    answers = answer_all(data, ANYTHING)
    csv_of(agents_table(answers))
    csv_of(best_table(answers))
    answers_json(data, answers, False)
    write_page(data, folder / "page.html", overwrite=True)


@pytest.mark.parametrize("kind", WRITE)
@fuzzing(25)
@given(data=st.data())
def test_damaged_files(kind: str, data: st.DataObject) -> None:
    content = data.draw(damaged(original(kind)))
    if kind not in ("agent", "entry"):
        if content != original(kind):
            assert isinstance(used(content, kind), StoreError)
        return
    if sealed.OPEN_SEAL.encode()[:16] in content and data.draw(st.integers(0, 9)):
        content = resealed(content)
    used(content, kind)


@pytest.mark.parametrize("kind", WRITE)
@fuzzing(8)
@given(content=st.binary(max_size=200))
def test_random_bytes(kind: str, content: bytes) -> None:
    for data in (content, content + sealed.sealed(sealed.OPEN_SEAL.encode())):
        assert isinstance(used(data, kind), StoreError)


@pytest.mark.parametrize("kind", TABLES)
@fuzzing(30)
@given(data=st.data())
def test_other_metadata(kind: str, data: st.DataObject) -> None:
    columns, metadata = _unpacked(kind)
    content = data.draw(changed(metadata))
    if isinstance(content.get("experiments" if kind in COMPACT else "kind"), str | list):
        used(_packed(columns, content), kind)


@pytest.mark.parametrize("kind", TABLES)
@fuzzing(30)
@given(data=st.data())
def test_other_columns(kind: str, data: st.DataObject) -> None:
    columns, metadata = _unpacked(kind)
    for _ in range(data.draw(st.integers(1, 3))):
        if columns:
            _change_column(data.draw, columns, data.draw(st.sampled_from([*columns])))
    table = outcome(lambda: _packed(columns, metadata))
    if isinstance(table, bytes):
        used(table, kind)


@fuzzing(60)
@given(changed(json.loads(original("agent"))))
def test_other_content_of_agents(content: Any) -> None:
    if isinstance(content, dict):
        content["digest"] = sealed.OPEN_SEAL
        used(sealed.sealed(json.dumps(content).encode()), "agent")


def _unpacked(kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    content = io.BytesIO(original(kind))
    metadata: dict[str, Any] = json.loads(pl.read_parquet_metadata(content)["brlbench"])
    return dict(pl.read_parquet(content).to_dict()), metadata


def _packed(columns: dict[str, Any], metadata: dict[str, Any]) -> bytes:
    """A file with as many rows as the shortest column."""
    length = min((len(column) for column in columns.values()), default=0)
    table = pl.DataFrame({name: column[:length] for name, column in columns.items()})
    buffer = io.BytesIO()
    header = {"brlbench": json.dumps(metadata), "digest": sealed.OPEN_SEAL}
    table.write_parquet(buffer, compression="zstd", metadata=header)
    return sealed.sealed(buffer.getvalue())


def _change_column(draw: Any, columns: dict[str, Any], name: str) -> None:
    column = columns.pop(name)
    way = draw(st.sampled_from(["remove", "rename", "short", "long", "reverse", *_WAYS]))
    if way == "rename":
        columns[draw(st.sampled_from(["mdp", "rewards", "return", "x", "é"]))] = column
    elif way == "short":
        columns[name] = column[: draw(st.integers(0, 4))]
    elif way == "long":
        columns[name] = pl.concat([column] * 2)
    elif way == "reverse":
        columns[name] = column.reverse()
    elif way != "remove":
        rows = column.to_list()
        if rows:
            rows[draw(st.integers(0, len(rows) - 1))] = _WAYS[way](rows[0])
        kept = column.dtype if draw(st.booleans()) else None
        alike = rows[:1] * len(rows)
        columns[name] = _series(alike if draw(st.booleans()) else rows, kept)


def _series(rows: list[Any], kind: Any) -> pl.Series:
    """A column; of texts, if rows differ in type."""
    try:
        column = pl.Series(rows, dtype=kind, strict=False)
    except (pl.exceptions.PolarsError, OverflowError, TypeError, ValueError):
        column = pl.Series(list(map(str, rows)))
    return pl.Series(list(map(str, rows))) if column.dtype == pl.Object else column


def _with(number: Any) -> Callable[[Any], Any]:
    return lambda row: [number, *row[1:]] if isinstance(row, list) else number


_WAYS: dict[str, Callable[[Any], Any]] = {
    "text": str,
    "nothing": lambda row: None,
    "truth": lambda row: True,
    "list": lambda row: [row] if not isinstance(row, list) else [row, row],
    "longer": lambda row: [*row, 1] if isinstance(row, list) else row,
    "empty": lambda row: [] if isinstance(row, list) else "",
    "flat": lambda row: row[0] if isinstance(row, list) and row else row,
    **{str(number): _with(number) for number in (math.nan, math.inf, 1e308, -1, 0.5, 2**63 - 1)},
}
