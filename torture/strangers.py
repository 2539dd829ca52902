"""Files that do not belong into a results folder: cut off, planted, or made to expand."""

import io
import json
import os
import resource
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from brlbench.results.sealed import FORMAT, OPEN_SEAL, sealed

from .ground import Broken, Ground

_MOST_SECONDS = 120  # of processor time of a command
_MOST_BYTES = 4 * 2**30  # of its address space would be less; of data
_EXPANDED = 2**31
_SECRET = "not to be touched"


def attack(ground: Ground) -> None:
    """Damage a finished folder and fill it with strange files; look at it, then repair it."""
    place = ground.folder / "strange"
    shutil.copytree(ground.folder / "undisturbed", place)
    out = place / "out"
    users = _plant(ground, place)
    linked = place / "linked"
    linked.symlink_to(out, target_is_directory=True)
    commands: list[tuple[str | Path, ...]] = [
        ("status", out),
        ("status", linked),
        ("compare", linked),
        ("compact", out, "--output", place / "small.parquet"),
        ("distribution", place / "bomb.dat.zz"),
        ("run", place / "study.toml", "-r", linked),
    ]
    for command in commands:
        if ground.run(*command, preexec_fn=_limit) not in (0, 1):
            raise Broken(f"{command[0]}: {ground.said()}")
    for path in [*out.rglob("*")]:  # refused: the user removes them
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            path.unlink()
    if ground.run("run", place / "study.toml", "-r", out, preexec_fn=_limit):
        raise Broken(f"damaged results are not made again: {ground.said()}")
    for path, content in users.items():
        if not path.exists() or path.read_text() != content:
            raise Broken(f"{path} of the user was changed")
        path.unlink()
    for path in [*out.rglob("*.damaged*"), *out.rglob("planted*")]:
        path.unlink()
    ground.check_all(out)
    shutil.rmtree(place)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_BYTES, _MOST_BYTES))


def _plant(ground: Ground, place: Path) -> dict[Path, str]:
    """Plant all kinds of files; returns those of the user, with their content."""
    rng, out = ground.rng, place / "out"
    results = sorted(out.glob("results/*/*.parquet"))
    rng.shuffle(results)
    for path, damage in zip(results, _DAMAGES, strict=False):
        damage(rng, path)
        ground.counts["damaged or strange files"] += 1
    folder = results[0].parent
    (folder / "planted-bomb.parquet").write_bytes(_bomb())
    os.mkfifo(folder / "planted-pipe.parquet")
    (folder / "planted-link.parquet").symlink_to("/dev/zero")
    (place / "bomb.dat.zz").write_bytes(_zlib_bomb())
    users = {
        out / ".mine.tmp": _SECRET,
        folder / ".brlbench.tmp": _SECRET,
        place / "outside": _SECRET,
        place / "folder/000000-000001.parquet": _SECRET,
        place / "outside.parquet": _SECRET,
    }
    (place / "folder").mkdir()
    for path, content in users.items():
        path.write_text(content)
    jobs = json.loads((out / "plan.json").read_text())["jobs"]
    parts = next(job["parts"] for job in jobs if job["result"] == str(results[0].relative_to(out)))
    for linked in (out / parts, out / "results/planted"):
        linked.symlink_to(place / "folder", target_is_directory=True)
    (out / "failures").mkdir(exist_ok=True)
    (out / "failures/planted.json").symlink_to(place / "outside")
    (out / "agents").mkdir(exist_ok=True)
    (out / "agents/planted.json").symlink_to(place / "nowhere")
    ground.counts["damaged or strange files"] += 13
    return users


def _cut(rng: np.random.Generator, path: Path) -> None:
    os.truncate(path, int(rng.integers(path.stat().st_size)))


def _flip(rng: np.random.Generator, path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    path.write_bytes(data)


def _become_pipe(_: np.random.Generator, path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _become_device(_: np.random.Generator, path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def _lead_outside(_: np.random.Generator, path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parents[3] / "outside.parquet")


def _lead_nowhere(_: np.random.Generator, path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


_DAMAGES: tuple[Callable[[np.random.Generator, Path], None], ...] = (
    _cut,
    _flip,
    _become_pipe,
    _become_device,
    _lead_outside,
    _lead_nowhere,
)


def _bomb() -> bytes:
    """A sealed table of many equal rows, in few bytes."""
    rows, columns = 2_000_000, _EXPANDED // 8 // 2_000_000
    column = pl.zeros(rows, pl.Int64, eager=True)
    buffer = io.BytesIO()
    header = {"brlbench": json.dumps({"kind": "result", "format": FORMAT}), "digest": OPEN_SEAL}
    table = pl.DataFrame({f"column {i}": column for i in range(columns)})
    table.write_parquet(buffer, compression="zstd", metadata=header)
    return sealed(buffer.getvalue())


def _zlib_bomb() -> bytes:
    stream = zlib.compressobj(9)
    zeros = bytes(2**24)
    return b"".join(stream.compress(zeros) for _ in range(_EXPANDED // 2**24)) + stream.flush()
