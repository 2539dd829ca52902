import os
from pathlib import Path

import pytest

from brlbench import memory
from brlbench.errors import StoreError
from brlbench.files import atomic_write, parse_json, read_bytes, read_stored


def test_write_and_read(tmp_path: Path) -> None:
    atomic_write(tmp_path / "a", b"one")
    assert read_bytes(tmp_path / "a") == b"one"
    assert os.listdir(tmp_path) == ["a"]


def test_the_longest_name(tmp_path: Path) -> None:
    atomic_write(tmp_path / ("a" * 255), b"one")
    assert os.listdir(tmp_path) == ["a" * 255]


def test_existing_files_are_kept_unless_allowed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    atomic_write(path, b"one")
    with pytest.raises(StoreError, match="a exists already: choose another name, or replace it"):
        atomic_write(path, b"two", overwrite=False)
    assert path.read_bytes() == b"one"
    atomic_write(path, b"two", overwrite=True)
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_a_failure_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "a").write_bytes(b"one")
    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(StoreError, match="a can't be written: No space left on device"):
        atomic_write(tmp_path / "a", b"two", overwrite=True)
    assert (tmp_path / "a").read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["a"]


def test_an_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        atomic_write(tmp_path / "a", b"one")
    assert os.listdir(tmp_path) == []


def test_missing_folders_and_files(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="a can't be written: No such file or directory"):
        atomic_write(tmp_path / "missing" / "a", b"one")
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="a can't be written: Not a directory"):
        atomic_write(tmp_path / "file" / "a", b"one")
    with pytest.raises(StoreError, match="can't be written: File name too long"):
        atomic_write(tmp_path / ("a" * 300), b"one")
    with pytest.raises(StoreError, match="can't be written: Is a directory"):
        atomic_write(tmp_path, b"one", overwrite=True)
    with pytest.raises(StoreError, match="a can't be read: No such file or directory"):
        read_bytes(tmp_path / "a")


def test_a_file_that_does_not_fit_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_machine_bytes", lambda: 2000)
    (tmp_path / "a").write_bytes(bytes(100))
    assert len(read_bytes(tmp_path / "a", growth=10)) == 100
    with pytest.raises(StoreError, match=r"reading .*a would need 1\.1 kB of memory"):
        read_bytes(tmp_path / "a", growth=11)


def test_pipes_and_devices_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "a.parquet"
    os.mkfifo(pipe)
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("opened"))
    with pytest.raises(StoreError, match=r"a\.parquet can't be read: it is a pipe, not a file"):
        read_stored(pipe)
    with pytest.raises(StoreError, match="/dev/zero can't be read: it is a device, not a file"):
        read_stored(Path("/dev/zero"))


def test_devices_and_names_that_no_file_has() -> None:
    with pytest.raises(StoreError, match="/dev/zero can't be read: it is a device, not a file"):
        read_bytes(Path("/dev/zero"))
    with pytest.raises(StoreError, match=r"'a\\x00b' can't be read: embedded null byte"):
        read_bytes(Path("a\0b"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 51 + "]" * 51, "it is nested more than 50 levels deep"),
        ("[" * 10**6, "it is nested more than 50 levels deep"),
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "the key 'b' is given twice"),
        ('["\\ud800"]', r"a text has half of a character, '\\ud800'"),
        (b'["\xed\xa0\x80"]', "can't decode"),
        ("1" * 5000, "4300 digits"),
    ],
)
def test_json_that_is_refused(text: str | bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_json(text)


def test_json_that_is_read() -> None:
    assert parse_json("[" * 50 + "]" * 50)
    assert parse_json('{"a": ["\\ud83c\\udfb2", NaN]}')["a"][0] == "\N{GAME DIE}"
    assert parse_json(b"\xef\xbb\xbf[1]") == [1]
