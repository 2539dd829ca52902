"""Files that are damaged, of others, or in the way."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import brlbench as bb
from brlbench import storage
from brlbench.agents import make_agent
from brlbench.errors import StoreError
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.training import save
from brlbench.results import sealed
from brlbench.storage import agents
from helpers.stored import KINDS, WRITERS, experiment, trained

READERS: dict[str, Callable[[Path], object]] = {
    "result": storage.read_result,
    "experiment": storage.read_experiment,
    "agent": storage.read_agent,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The content of a file of each kind."""
    folder = tmp_path_factory.mktemp("files")
    contents = {}
    for kind, write in WRITERS.items():
        write(folder / kind)
        contents[kind] = (folder / kind).read_bytes()
    return contents


def refused(path: Path, kind: str) -> str:
    with pytest.raises(StoreError) as caught:
        READERS[kind](path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


@pytest.mark.parametrize("kind", KINDS)
def test_every_flipped_bit_is_noticed(tmp_path: Path, files: dict[str, bytes], kind: str) -> None:
    data = files[kind]
    rng = np.random.default_rng(len(kind))
    for place in [0, len(data) - 1, *rng.integers(0, len(data), 60).tolist()]:
        flipped = bytearray(data)
        flipped[place] ^= 1 << int(rng.integers(8))
        (tmp_path / "a").write_bytes(flipped)
        assert "is damaged" in refused(tmp_path / "a", kind)


@pytest.mark.parametrize("kind", KINDS)
def test_truncated_files(tmp_path: Path, files: dict[str, bytes], kind: str) -> None:
    data = files[kind]
    for length in (0, 1, 4, len(data) // 2, len(data) - 8, len(data) - 1):
        (tmp_path / "a").write_bytes(data[:length])
        assert "is damaged" in refused(tmp_path / "a", kind)
    (tmp_path / "a").write_bytes(data + b"\n")
    assert "is damaged" in refused(tmp_path / "a", kind)


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_another_kind(tmp_path: Path, files: dict[str, bytes], kind: str) -> None:
    for other in KINDS:
        if other != kind:
            (tmp_path / "a").write_bytes(files[other])
            message = refused(tmp_path / "a", kind)
            if "agent" not in (kind, other):
                assert message.endswith(f"is a file with kind '{other}': must be '{kind}'")


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_a_later_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(sealed, "FORMAT", 2)
    monkeypatch.setattr(agents, "FORMAT", 2)
    WRITERS[kind](tmp_path / "a")
    monkeypatch.undo()
    message = refused(tmp_path / "a", kind)
    assert message.endswith(
        "has format 2, this version reads 1: use the version of brlbench that wrote it"
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "data",
    [
        b"hello",
        b"{}",
        b"[]",
        b"null",
        b"[" * 100_000,
        pickle.dumps({"kind": "agent"}),
        b"\xff\xfe\x00",
        b'{"kind": "agent", "format": 1}',
    ],
)
def test_files_of_others(tmp_path: Path, kind: str, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data)
    assert "is damaged, or not a" in refused(tmp_path / "a", kind)


def test_a_parquet_file_of_others(tmp_path: Path) -> None:
    pl.DataFrame({"mdp": [1, 2]}).write_parquet(tmp_path / "a")
    for kind in KINDS:
        assert "is damaged, or not a" in refused(tmp_path / "a", kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sealed_file_without_content(tmp_path: Path, kind: str) -> None:
    for content in ("{}", '{"kind": "agent"}', '{"kind": "agent", "format": 1}', "[1, 2]"):
        (tmp_path / "a").write_bytes(sealed.sealed(f"{content} {sealed.OPEN_SEAL}".encode()))
        refused(tmp_path / "a", kind)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_files_and_folders(tmp_path: Path, kind: str) -> None:
    assert refused(tmp_path / "a", kind).endswith("a can't be read: No such file or directory")
    assert refused(tmp_path, kind).endswith("can't be read: Is a directory")


@pytest.mark.parametrize("kind", KINDS)
def test_existing_files_are_kept(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"precious")
    with pytest.raises(StoreError, match="exists already: choose another name, or replace it"):
        WRITERS[kind](path)
    assert path.read_bytes() == b"precious"


def test_existing_files_are_replaced_if_told_to(tmp_path: Path) -> None:
    for path in (tmp_path / "a", tmp_path / "b", tmp_path / "c"):
        path.write_bytes(b"worthless")
    storage.write_result(
        tmp_path / "a", evaluate(make_agent("random"), experiment()), overwrite=True
    )
    storage.write_experiment(tmp_path / "b", experiment(), overwrite=True)
    storage.write_agent(tmp_path / "c", save(trained()), overwrite=True)
    assert storage.read_result(tmp_path / "a").algorithm == "random"
    assert storage.read_experiment(tmp_path / "b").hash == experiment().hash
    assert storage.read_agent(tmp_path / "c").seed == 3


@pytest.mark.parametrize("column", ["noise", "start_values", "return"])
@pytest.mark.parametrize("number", [1e140, 1e200, np.nan])
def test_good_results_beside_a_bad_file_are_shown(
    tmp_path: Path, column: str, number: float
) -> None:
    short = bb.Experiment("GC", num_mdps=40, horizon=10)
    for algorithm in ("beb", "random"):
        result = bb.evaluate(bb.make_agent(algorithm), short, workers=1)
        storage.write_result(tmp_path / f"{algorithm}.parquet", result)
    columns = {name: rows.copy() for name, rows in result.columns.items()}
    columns[column].flat[0] = number
    bad = replace(result, columns=columns, expected=result.expected_start_values)
    storage.write_result(tmp_path / "random.parquet", bad, overwrite=True)
    assert "beb" in {each.label for each in bb.compare(tmp_path).experiment.summaries}
