"""brlbench entry new and entry check: they ask, they refuse, and what they print is plain."""

import io
import json
import sys
from pathlib import Path

import pytest

import brlbench as bb
from brlbench.entries import CHECKS
from brlbench.results.sealed import parse_parquet
from brlbench.storage import write_result
from brlbench.storage.entries import read_entry
from helpers.made_entries import OWN, SET, changed, summaries
from helpers.shell import Shell, assert_error

GIVEN = (
    "--name",
    "Mine",
    "--author",
    "Ada",
    "--author",
    "Bo",
    "--description",
    "Does it.",
    "--licence",
    "MIT",
    "--code",
    "https://example.org",
    "--commit",
    "abcdef0",
)


@pytest.fixture
def results(made_entry: Path) -> Path:
    return made_entry.parent / "results"


def test_an_entry_is_made_from_options_and_accepted(results: Path, shell: Shell) -> None:
    done = shell("entry", "new", results, "--only", OWN, "-o", "a.entry.parquet", *GIVEN)
    assert done.code == 0, done
    assert "check it with brlbench entry check a.entry.parquet" in done.out
    entry, _ = read_entry(Path("a.entry.parquet"), parse_parquet)
    assert (entry.name, entry.authors, entry.paper) == ("Mine", ("Ada", "Bo"), "")
    done = shell("entry", "check", "a.entry.parquet", "--replay", 0)
    assert done.code == 0, done
    assert done.out.count("✓") == len(CHECKS) - 1
    assert done.out.rstrip().endswith("accepted: Mine; not checked: replay")


def test_what_is_missing_is_named_where_nobody_can_be_asked(results: Path, shell: Shell) -> None:
    missing = shell("entry", "new", results, "-o", "a.entry.parquet", *GIVEN[:2])
    assert_error(missing, "lacks --author, --description, --licence, --code, --commit: give these")
    # A built-in agent has no code of its own.
    missing = shell("entry", "new", results, "--only", "beb", "-o", "a.entry.parquet")
    assert_error(missing, "lacks --name, --author, --description, --licence: give these")


class Terminal(io.StringIO):
    """Somebody who answers."""

    def isatty(self) -> bool:
        return True


def test_what_is_missing_is_asked_for(
    results: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = "Asked\nAda One; Bo Two\nIt plays.\nMIT\n\n"
    monkeypatch.setattr(sys, "stdin", Terminal(answers))
    done = shell("entry", "new", results, "--only", "beb", "-o", "a.entry.parquet")
    assert done.code == 0, done
    assert "Authors, separated by semicolons" in done.out + done.err
    entry, _ = read_entry(Path("a.entry.parquet"), parse_parquet)
    assert entry == ("Asked", ("Ada One", "Bo Two"), "It plays.", "", "", "", "MIT")


def test_results_that_are_unfit_are_told(results: Path, shell: Shell) -> None:
    new = ("entry", "new")
    assert_error(shell(*new, results, "-o", "a.parquet"), "must end with .entry.parquet")
    unknown = shell(*new, results, "--only", "bamcp", "-o", "a.entry.parquet")
    assert_error(
        unknown, f"only = 'bamcp': no result is of this algorithm: must be one of beb, {OWN}"
    )
    for name, experiment, sentence in (
        ("a", bb.Experiment("GC", num_mdps=3), "GC is no frozen set of this version of brlbench"),
        ("b", bb.frozen_set(SET, 3), "random on GC has 3 of 500 MDPs: play them all"),
    ):
        write_result(Path(f"{name}.parquet"), bb.evaluate(bb.make_agent("random"), experiment))
        unfit = shell(*new, f"{name}.parquet", "-o", "a.entry.parquet", *GIVEN)
        assert_error(unfit, sentence)
    wrong = shell(*new, results, "-o", "a.entry.parquet", *GIVEN, "--paper", "ftp://a.org")
    assert_error(wrong, "paper = 'ftp://a.org': must be an address")


def test_a_refused_entry_has_exit_code_1_and_its_texts_are_escaped(
    made_entry: Path, shell: Shell
) -> None:
    markup = summaries(parameters=lambda each: {**each.parameters, "x": "[red]\x1b[31m\u202e"})
    path = changed(made_entry, Path("a.entry.parquet"), markup, name="[bold]\x1b[2J", licence="<x>")
    done = shell("entry", "check", path, "--replay", 0)
    assert done.code == 1
    assert "✗" in done.out and "refused: " in done.out
    assert "\x1b" not in done.out and "\u202e" not in done.out
    assert "name = '[bold]" in done.out
    told = json.loads(shell("entry", "check", path, "--replay", 0, "--json").out)
    assert not told["accepted"]
    assert "texts" in told["refused"]
    assert told["findings"]["sets"]["verdict"] == "kept"


def test_a_damaged_entry_is_refused(made_entry: Path, shell: Shell) -> None:
    data = bytearray(made_entry.read_bytes())
    data[len(data) // 2] ^= 1
    Path("a.entry.parquet").write_bytes(data)
    done = shell("entry", "check", "a.entry.parquet")
    assert done.code == 1
    assert "a.entry.parquet is damaged" in done.out
    assert "refused: 1 of 1 check failed" in done.out


def test_help_names_both(shell: Shell) -> None:
    told = shell("entry", "--help").out
    assert "new" in told and "check" in told
    assert "--agent" in shell("entry", "check", "--help").out
