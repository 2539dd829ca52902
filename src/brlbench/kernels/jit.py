"""The decorators of compiled functions, and where their machine code is kept.

When Numba loads a function from its cache, it notices changes in that function's file but not in
the helpers that it calls. So the cache is in a folder named after a digest of all compiled sources
and of the versions of Numba and NumPy: an edit anywhere means another folder.

Code from outside this package, such as a user's compiled agent, is not cached. Its edits would be
missed, and a cache with a user's type can be read only where that type can be imported.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.caching import FunctionCache

from ..files import cache_folder

Function = TypeVar("Function", bound=Callable[..., object])


_PACKAGE = Path(__file__).parents[1]


def compiled_sources() -> list[Path]:
    """All files with compiled code: the kernels, and an agent's files except its `__init__.py`."""
    of_agents = [path for path in _PACKAGE.glob("agents/*/*.py") if path.name != "__init__.py"]
    return sorted([*_PACKAGE.glob("kernels/**/*.py"), *of_agents])


def _sources_digest() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for path in compiled_sources():
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


CACHE_FOLDER = cache_folder(f"compiled-{_sources_digest()}")


def _is_ours(thing: Any) -> bool:
    """Whether a function or a class is defined in this package."""
    return str(thing.__module__).startswith(f"{_PACKAGE.name}.")


def _has_only_ours(kind: Any) -> bool:
    """Whether a type consists of this package's NamedTuples and Numba's own types only."""
    if hasattr(kind, "instance_class") and not _is_ours(kind.instance_class):
        return False
    return all(map(_has_only_ours, getattr(kind, "types", ())))


class _Cache(FunctionCache):  # type: ignore[misc]
    """Machine code on disk, except for types from outside this package.

    A file that can't be written, or is damaged, costs time but no result.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling can raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if all(map(_has_only_ours, sig)):
            with suppress(OSError):
                super().save_overload(sig, data)


def _compiler(**options: bool) -> Callable[[Function], Function]:
    # Without reference counts (_nrt), passing a tuple of many arrays costs nothing, but compiled
    # code can't make arrays, nor return slices of them.
    def compile_lazily(function: Function) -> Function:
        compiled = numba.njit(nogil=True, error_model="numpy", _nrt=False, **options)(function)
        if CACHE_FOLDER is not None and _is_ours(function):
            previous = numba.config.CACHE_DIR
            numba.config.CACHE_DIR = str(CACHE_FOLDER)
            try:
                compiled._cache = _Cache(function)  # as cache=True, with another class
            finally:
                numba.config.CACHE_DIR = previous
        return cast(Function, compiled)

    return compile_lazily


kernel = _compiler()
"""Compile a function that Python calls, at its first call; it runs without the GIL."""

inlined = _compiler(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Compile a function that only compiled code calls, into each of its callers."""

# Explicit: Numba otherwise inherits the caller's flag.
cold = _compiler(forceinline=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Compile a function that only compiled code calls, and rarely: it is not inlined."""

summing = _compiler(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath=True)
"""As `inlined`, for sums whose order does not matter: they are vectorised."""
