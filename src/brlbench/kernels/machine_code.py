"""Machine code on disk: one file per compiled function and types of its arguments.

The name of a file is a checksum of all that its machine code depends on: the function, the types of
its arguments, the processor, the versions of Python, Numba, llvmlite and NumPy, and the sources.
The sources are those of the function's module, of the modules that define the argument types, and
of all modules of this package that these import, directly or indirectly. An agent's functions are
in, or imported by, the module of its NamedTuple, so an edit of one agent leaves the code of the
others valid, and stale code is never loaded. Files of earlier sources stay until the user removes
the folder.

Code from outside this package, such as a user's compiled agent, is not stored. Helpers that all
agents can use are stored too, to be linked: an agent compiles its own functions only.
"""

import ast
import hashlib
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from ..errors import BrlbenchError
from ..files import atomic_write, cache_folder

_PACKAGE = Path(__file__).parents[1]
_VERSIONS = (sys.version, numba.__version__, llvmlite.__version__, np.__version__)

# Modules that are edited later may have been imported before: their code is not stored.
_STARTED = time.time()

FOLDER = cache_folder("compiled")


def _is_ours(module: str) -> bool:
    return module.split(".")[0] == _PACKAGE.name


@cache
def _source(module: str) -> Path | None:
    """The file of a module of this package; None if there is no such module."""
    path = _PACKAGE.parent.joinpath(*module.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def _named_in(node: ast.AST, module: str) -> Iterator[str]:
    """The modules, or attributes of modules, that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        source = _source(module)
        is_package = source is not None and source.name == "__init__.py"
        package = module if is_package else module.rpartition(".")[0]
        parent = resolve_name("." * node.level + (node.module or ""), package)
        for alias in node.names:
            inner = f"{parent}.{alias.name}"
            yield inner if _is_ours(inner) and _source(inner) else parent


@cache
def _imports(module: str) -> tuple[str, ...]:
    """The modules of this package that a module imports."""
    source = _source(module)
    if source is None:
        return ()
    tree = ast.parse(source.read_bytes())
    named = {name for node in ast.walk(tree) for name in _named_in(node, module)}
    return tuple(sorted(filter(_is_ours, named)))


@cache
def sources(module: str) -> frozenset[str]:
    """A module and all modules of this package that it imports, directly or indirectly."""
    reached, left = set(), [module]
    while left:
        name = left.pop()
        if name not in reached:
            reached.add(name)
            left += _imports(name) if name != __name__ else ()  # storing does not change code
    return frozenset(reached)


@cache
def _checksum(module: str) -> bytes | None:
    """The checksum of a module's source; None if it was edited since this process started."""
    source = _source(module)
    if source is None:
        return b""
    digest = hashlib.sha256(source.read_bytes()).digest()
    return digest if source.stat().st_mtime < _STARTED else None


def _classes(kind: Any) -> Iterator[Any]:
    """The NamedTuples in a Numba type."""
    if hasattr(kind, "instance_class"):
        yield kind.instance_class
    for inner in getattr(kind, "types", ()):
        yield from _classes(inner)


class MachineCode(NullCache):  # type: ignore[misc]
    """The machine code of a function, in place of Numba's own cache.

    A file that can't be written, or is damaged, costs time but no result.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for these argument types; None if it must be compiled."""
        path = self._file(sig, target_context)
        if path is None:
            return None
        with suppress(Exception):  # unpickling can raise anything
            return self._rebuild(target_context, *pickle.loads(path.read_bytes()))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the compiled function; helpers in it get the constants that they print."""
        for environment in data._find_referenced_environments():
            data.library.codegen.set_env(environment.env_name, environment)
        path = self._file(sig, data.target_context)
        if path is not None and not data.library.has_dynamic_globals:
            with suppress(OSError, BrlbenchError):
                # An annotation is for reading, but takes long to make.
                content = dumps(data._replace(type_annotation="")._reduce())
                atomic_write(path, content, overwrite=True)

    def _rebuild(self, target_context: Any, *data: Any) -> Any:
        """The compiled function from what is on disk."""
        rtsys.initialize(target_context)  # not `refresh`: only compilation needs all of Numba
        return CompileResult._rebuild(target_context, *data)

    def _is_stored(self, modules: set[str]) -> bool:
        """Whether code that depends on these modules is stored."""
        return all(map(_is_ours, modules))

    def _file(self, sig: tuple[Any, ...], target_context: Any) -> Path | None:
        """The file for these argument types; None if their code is not stored."""
        classes = [kind for argument in sig for kind in _classes(argument)]
        modules = {self._function.__module__, *(kind.__module__ for kind in classes)}
        if FOLDER is None or not self._is_stored(modules):
            return None
        name = self._function.__qualname__
        digest = hashlib.sha256(repr((_VERSIONS, target_context.codegen().magic_tuple())).encode())
        digest.update(repr((self._function.__module__, name, sig, classes)).encode())
        for module in sorted(set().union(*map(sources, modules))):
            checksum = _checksum(module)
            if checksum is None:
                return None
            digest.update(module.encode() + checksum)
        return FOLDER / f"{name}-{digest.hexdigest()[:32]}"
