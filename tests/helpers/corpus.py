"""The worst inputs: small files in `tests/fuzz/corpus`, and large ones that are made here.

A file's folder names its reader. Run as a program, it reads the files of a folder in little memory.
"""

import io
import json
import resource
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from brlbench import problems, storage
from brlbench.errors import BrlbenchError
from brlbench.executors.child import Child
from brlbench.formulas import parse
from brlbench.report.strangers import parser_in
from brlbench.results import sealed
from brlbench.results.compact import read_summaries
from brlbench.results.files import read_part
from brlbench.storage.entries import read_entry
from brlbench.storage.original import import_files
from brlbench.study.failures import read_failure
from brlbench.study.plan import read_study
from brlbench.study.status import read_status

CORPUS = Path(__file__).parent.parent / "fuzz" / "corpus"
MEMORY = 3 * 2**30  # of the program's address space, libraries included

READERS: dict[str, Callable[[Path], Any]] = {
    "distributions": problems.read,
    "formulas": lambda path: parse(path.read_text(errors="surrogateescape")),
    "studies": read_study,
    "results": storage.read_result,
    "parts": read_part,
    "compact": read_summaries,
    "entries": lambda path: _read_entry(path),
    "experiments": storage.read_experiment,
    "agents": storage.read_agent,
    "failures": read_failure,
    "originals": lambda path: _import(path),
    "plans": lambda path: _status(path.read_bytes()),
}


def _read_entry(path: Path) -> Any:
    with Child() as child:
        return read_entry(path, parser_in(child))


def _status(plan: bytes) -> Any:
    """The status of a study with this plan, in the current folder."""
    Path("plan.json").write_bytes(plan)
    return read_status(Path())


def _import(path: Path) -> Any:
    """What becomes of a file of the original library."""
    gc = problems.distribution("GC")
    return import_files([path], gc, gc, Path("imported.parquet"), overwrite=True)


def ending(path: Path) -> str:
    """What reading a file of the corpus ends in: "read", or an error's class and message."""
    try:
        READERS[path.parent.name](path)
    except BrlbenchError as error:
        return f"{type(error).__name__}: {error}".replace(f"{path.parent}/", "")
    return "read"


def make_bombs(folder: Path) -> None:
    """Write files that are small and would expand to gigabytes."""
    for name, make in BOMBS.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(make())


def _document(**changes: Any) -> bytes:
    sound = {"format": 1, "num_states": 3, "num_actions": 2, "counts": [["*", "*", "*", 1]]}
    return json.dumps({**sound, "rewards": [], **changes}).encode()


def _table(kind: str, columns: dict[str, Any], **metadata: Any) -> bytes:
    """A sealed file with any columns."""
    buffer = io.BytesIO()
    content = json.dumps({"kind": kind, "format": sealed.FORMAT, **metadata})
    header = {"brlbench": content, "digest": sealed.OPEN_SEAL}
    pl.DataFrame(columns).write_parquet(buffer, compression="zstd", metadata=header)
    return sealed.sealed(buffer.getvalue())


def _rows() -> bytes:
    """All rows are alike, so a run of them takes a few bytes."""
    column = pl.zeros(4_000_000, pl.Int64, eager=True)
    return _table("compact", {f"column {i}": column for i in range(40)})


def _texts() -> bytes:
    """A dictionary of one long text, to which all rows point."""
    column = pl.Series(["x" * 500_000]).new_from_index(0, 100)
    return _table("compact", {"parameters": column}, experiments=[])


def _empty_lists() -> bytes:
    """Lists that are absent take no room in a file, but all of it in memory."""
    absent = pl.Series([None] * 5, dtype=pl.Array(pl.Float64, 1_000_000))
    return _table("experiment", {"mdp": np.arange(5), "probabilities": absent})


def _compressed() -> bytes:
    compressor = zlib.compressobj()
    chunks = [compressor.compress(bytes(2**20)) for _ in range(50)]
    return b"".join([*chunks, compressor.flush()])


def _run(end: bytes) -> bytes:
    """An experiment of one MDP, from its list of trajectories on."""
    mdp = b"Serializable\n0\nIMDP\n1\n\nMDP\n7\n1\n1\n0\n1\n0\n0\n0\n"
    head = b"Serializable\n0\nIExperiment\n9\na\n1\n"
    return head + f"{len(mdp)}\n".encode() + mdp + b"1\n0\n0\n" + end


def _array_of_texts() -> bytes:
    saved = {"a": {"dtype": "<U1000000000", "shape": [1], "array": ["x"]}}
    content = {
        "kind": "agent",
        "format": 1,
        "agent": "beb",
        "parameters": {},
        "saved": saved,
        "prior": json.loads(_document()),
        "discount": 0.9,
        "horizon": 5,
        "seed": 0,
        "offline_seconds": 0,
        "offline_cpu_seconds": 0,
        "offline_peak_bytes": None,
        "deadline": None,
        "digest": sealed.OPEN_SEAL,
    }
    return sealed.sealed(json.dumps(content).encode())


def _study(experiment: str) -> bytes:
    return f'[[experiments]]\n{experiment}\n[[agents]]\nalgorithm = "random"\n'.encode()


BOMBS: dict[str, Callable[[], bytes]] = {
    "distributions/states.json": lambda: _document(num_states=10**9),
    "distributions/digits.json": lambda: _document(num_states=10**4000),
    "distributions/actions.json": lambda: _document(num_actions=2**62),
    "distributions/stars.json": lambda: _document(
        num_states=1000, num_actions=10, counts=[["*"] * 3 + [1]] * 100
    ),
    "distributions/deep.json": lambda: b"[" * 10**6,
    "distributions/zeros.dat.z": _compressed,
    "compact/texts.parquet": _texts,
    "entries/rows.entry.parquet": _rows,
    "experiments/absent.parquet": _empty_lists,
    "agents/texts.json": _array_of_texts,
    "formulas/long.txt": lambda: b"1+" * 10**6,
    "formulas/deep.txt": lambda: b"(" * 900,
    "studies/mdps.toml": lambda: _study(f'test = "GC"\nnum_mdps = {10**15}'),
    "studies/trajectories.toml": lambda: _study(f'test = "GC"\ntrajectories_per_mdp = {10**15}'),
    "studies/horizon.toml": lambda: _study(f'test = "GC"\nhorizon = {10**15}'),
    "studies/dense.toml": lambda: _study('test = "Dense:states=100000"'),
    "studies/sea.toml": lambda: _study('test = "DeepSea:size=1000000"'),
    "studies/uniform.toml": lambda: _study('test = "uniform:DeepSea:size=300"'),
    "failures/deep.json": lambda: b'{"a":' * 10**5,
    "originals/mdps.dat": lambda: b"Serializable\n0\nIExperiment\n11\na\n999999999999999\n",
    "originals/rewards.dat": lambda: _run(b"0\n1\n999999999999999\n"),
    "originals/zeros.dat.zz": _compressed,
}


def main() -> None:
    """Read all files of a folder in little memory, and print how each ended."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for path in sorted(Path(sys.argv[1]).glob("*/*")):
        print(f"{path.parent.name}/{path.name}\t{ending(path)}", flush=True)


if __name__ == "__main__":
    main()
