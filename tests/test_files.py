import os
from pathlib import Path

import pytest

from brlbench.errors import StoreError
from brlbench.files import atomic_write, read_bytes


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
    with pytest.raises(StoreError, match=r"a exists already: choose another name, or allow"):
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
