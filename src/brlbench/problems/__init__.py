"""The distributions over MDPs that come with the package, and how to find one by name or file."""

from collections.abc import Callable
from pathlib import Path

from ..errors import InvalidInput, did_you_mean
from ..prior import FlatDirichlet
from .files import SUFFIXES, read, write
from .generalised_chain import gc, gc_appendix
from .generalised_double_loop import gdl
from .grid import grid

__all__ = ["PROBLEMS", "distribution", "read", "write"]

PROBLEMS: dict[str, Callable[[], FlatDirichlet]] = {
    "GC": gc,
    "GC-appendix": gc_appendix,
    "GDL": gdl,
    "Grid": grid,
}
_UNIFORM = "uniform:"


def distribution(source: str | Path | FlatDirichlet) -> FlatDirichlet:
    """Find a distribution.

    Args:
        source: a name in `PROBLEMS`, the path of a file, or `uniform:` and one of these. A
            distribution is returned as it is.
    """
    if isinstance(source, FlatDirichlet):
        return source
    if isinstance(source, Path):
        return read(source)
    if source.startswith(_UNIFORM):
        return distribution(source.removeprefix(_UNIFORM)).uniform()
    if source in PROBLEMS:
        return PROBLEMS[source]()
    if source.endswith(SUFFIXES) or Path(source).is_file():
        return read(Path(source))
    raise InvalidInput(
        f"unknown distribution {source!r}{did_you_mean(source, PROBLEMS)}: must be one of "
        f"{', '.join(PROBLEMS)}, a file ({', '.join(SUFFIXES)}), or {_UNIFORM} before one of these"
    )
