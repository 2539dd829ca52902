"""Entries: what they say about themselves comes back, and rules for texts hold both ways."""

from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import brlbench as bb
from brlbench.errors import InvalidInput, StoreError
from brlbench.results.compact import ExperimentHeader, read_summaries, write_summaries
from brlbench.results.learning import Learning, learning_of
from brlbench.results.sealed import parse_parquet
from brlbench.results.summary import summarise
from brlbench.storage import write_result
from brlbench.storage.entries import Entry, problems_of, read_entry, write_entry, wrong_with
from helpers.fuzzing import fuzzing
from helpers.made_entries import TOLD
from helpers.shell import Shell
from helpers.stored import experiment

ENTRY = Entry(**TOLD)


@cache
def pairs() -> list[Any]:
    made = experiment()
    summary = summarise(bb.evaluate(bb.make_agent("random"), made))
    return [(ExperimentHeader(made.name, made.hash, made.settings()), [summary])]


def test_an_entry_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "a.entry.parquet"
    write_entry(path, ENTRY, pairs())
    entry, [(header, summary)] = read_entry(path, parse_parquet)
    assert entry == ENTRY
    assert (header.name, summary.label) == ("GC from uniform:GC", "random")
    write_summaries(tmp_path / "plain.parquet", pairs())
    with pytest.raises(StoreError, match="no entry: make one with entry new"):
        read_entry(tmp_path / "plain.parquet", parse_parquet)


def test_a_byte_that_changes_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.entry.parquet"
    write_entry(path, ENTRY, pairs())
    data = bytearray(path.read_bytes())
    data[data.index(b"Steady")] ^= 1
    path.write_bytes(data)
    with pytest.raises(StoreError, match="damaged"):
        read_entry(path, parse_parquet)


def test_its_file_is_named_like_an_entry(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"must end with \.entry\.parquet"):
        write_entry(tmp_path / "a.parquet", ENTRY, pairs())
    write_summaries(tmp_path / "a.parquet", pairs(), entry=ENTRY._asdict())
    with pytest.raises(StoreError, match=r"is an entry: its name must end with \.entry\.parquet"):
        list(read_summaries(tmp_path / "a.parquet"))


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "HTML": ({"name": "<b>best</b>"}, "name = '<b>best</b>': must have no HTML tags"),
    "script": ({"description": "good<script src=x>"}, "must have no HTML tags"),
    "escape": ({"name": "red\x1b[31m"}, r"control characters, such as '\x1b'"),
    "direction": ({"authors": ("Ada", "\u202eevil")}, r"control characters, such as '\u202e'"),
    "line": ({"description": "one\ntwo"}, r"control characters, such as '\n'"),
    "long": ({"name": 61 * "x"}, "must have at most 60 characters, not 61"),
    "empty": ({"name": ""}, "name is missing: give it"),
    "blank": ({"authors": ("Ada", " ")}, "authors = ' ': must not be empty"),
    "nobody": ({"authors": ()}, "authors is missing"),
    "crowd": ({"authors": ("Ada",) * 51}, "authors has 51 names: must have at most 50"),
    "scheme": ({"code": "javascript:alert(1)"}, "must be an address that begins with https://"),
    "file": ({"paper": "file:///etc/passwd"}, "must be an address"),
    "host": ({"code": "https:///x"}, "must be an address"),
    "user": ({"code": "https://example.org@evil.org/"}, "must be an address"),
    "quote": ({"paper": 'https://a.org/"onclick="x'}, "must be an address"),
    "commit": ({"commit": "main"}, "commit = 'main': must be the hash of a commit"),
    "licence": ({"licence": "MIT; <x>"}, "licence = 'MIT; <x>': must"),
    "alone": ({"commit": ""}, "code and commit belong together: give both"),
}


@pytest.mark.parametrize("case", WRONG)
def test_texts_that_break_the_rules_are_neither_written_nor_read(case: str, tmp_path: Path) -> None:
    changes, sentence = WRONG[case]
    wrong = ENTRY._replace(**changes)
    with pytest.raises(InvalidInput) as refused:
        write_entry(tmp_path / "a.entry.parquet", wrong, pairs())
    assert sentence in str(refused.value)
    path = tmp_path / "forged.entry.parquet"
    write_summaries(path, pairs(), entry=wrong._asdict())
    with pytest.raises(StoreError) as unread:
        read_entry(path, parse_parquet)
    assert str(path) in str(unread.value) and sentence in str(unread.value)
    assert read_entry(path, parse_parquet, strict=False)[0] == wrong


@pytest.mark.parametrize("content", [1, [], {"name": "x"}, {**ENTRY._asdict(), "authors": [1]}])
def test_what_is_no_entry_is_damage(content: Any, tmp_path: Path) -> None:
    write_summaries(tmp_path / "a.entry.parquet", pairs(), entry=content)
    with pytest.raises(StoreError, match="damaged"):
        read_entry(tmp_path / "a.entry.parquet", parse_parquet, strict=False)


def test_texts_of_many_languages_are_fine() -> None:
    authors = (
        "Ærø Þór",
        "山田 太郎",
        "\u0645\u06cc\u200c\u062e\u0648",
        "O'Neil & Söhne",
        "x < y",
        "👩\u200d🔬",
    )
    assert problems_of(ENTRY._replace(authors=authors, paper="http://a.org/~b?c=d#e")) == []


class Tags(HTMLParser):
    """Finds tags as browsers do."""

    found = 0

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.found += 1

    handle_endtag = handle_comment = handle_decl = handle_pi = handle_starttag  # type: ignore[assignment]


@fuzzing(100)
@given(text=st.text(max_size=30) | st.text("<>!/abc \u202e\x1b\n?-=", max_size=12))
def test_what_may_be_shown_is_one_line_that_can_be_seen(text: str) -> None:
    if not wrong_with(text, 30):
        seen = [sign for sign in text if sign not in "\u200c\u200d" and not sign.isspace()]
        assert "".join(seen).isprintable()
        assert len(text.splitlines()) == 1
        tags = Tags()
        tags.feed(text)
        assert not tags.found


def test_compact_files_keep_learning_curves(tmp_path: Path, shell: Shell) -> None:
    made = experiment(horizon=60)
    result = bb.evaluate(bb.make_agent("random"), made)
    write_result(tmp_path / "a.parquet", result)
    assert shell("compact", "a.parquet", "-o", "b.parquet").code == 0
    [(_, summary)] = read_summaries(tmp_path / "b.parquet")
    expected = learning_of(result)
    assert expected is not None and summary.learning is not None
    assert len(summary.learning.decisions) <= 25
    assert summary.learning.decisions[-1] == 60
    for one, other in zip(summary.learning, expected, strict=True):
        assert one.tolist() == other.tolist()


def test_learning_curves_of_episodes_have_a_point_at_the_end_of_each() -> None:
    result = bb.evaluate(bb.make_agent("random"), experiment(horizon=60, episode=20, discount=1))
    curve = learning_of(result)
    assert curve is not None
    assert curve.decisions.tolist() == [20, 40, 60]
    sums = result.rewards[:, 0].cumsum(axis=1)
    assert curve.mean == pytest.approx(sums[:, [19, 39, 59]].mean(axis=0))
    assert curve.mean[-1] == pytest.approx(result.mean)
    [panel] = bb.plot_learning(result).axes
    assert panel.get_xlabel() == "episode"
    assert panel.lines[0].get_xdata() == pytest.approx([1, 2, 3])


@pytest.mark.parametrize("decisions", [[1, np.inf], [np.inf, np.inf, 60], [np.nan, 60], [0.5, 60]])
def test_learning_curves_that_fit_no_experiment_are_refused(
    decisions: list[float], tmp_path: Path
) -> None:
    [(header, [summary])] = pairs()
    numbers = np.array(decisions)
    curve = Learning(numbers, np.zeros(len(numbers)), np.zeros(len(numbers)))
    settings = {**header.settings, "horizon": 60}
    wrong = replace(summary, learning=curve)
    write_summaries(tmp_path / "a.parquet", [(header._replace(settings=settings), [wrong])])
    with pytest.raises(StoreError, match="damaged"):
        list(read_summaries(tmp_path / "a.parquet"))
