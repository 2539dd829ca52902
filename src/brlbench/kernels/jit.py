"""The decorators of compiled functions.

Functions that Python calls are stored on disk, see `machine_code`. Helpers are not: their code is
part of their callers'. Numba would make machine code of every helper, which nothing ever calls;
here a helper is only linked into its callers.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from .machine_code import MachineCode

Function = TypeVar("Function", bound=Callable[..., object])


class _Linkable(JITCodeLibrary):  # type: ignore[misc]
    """The code of a helper, to be linked into its callers; it has no address of its own."""

    def _optimize_final_module(self) -> None:
        """Nothing: callers are optimised after helpers are linked into them."""

    def _finalize_final_module(self) -> None:
        """Make no machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """No function can be called from Python."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> "_Linkable":
        """Has `set_env`, as Numba expects."""
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Nothing to set: callers have a copy of the environment."""


class HelperCompiler(Compiler):  # type: ignore[misc]
    """Compile helpers."""

    def __init__(self, typing_context: Any, target_context: Any, _: Any, *rest: Any) -> None:
        library = _Linkable(target_context.codegen(), "helper")
        super().__init__(typing_context, target_context, library, *rest)


# Options of functions that only compiled code calls.
HELPER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": HelperCompiler}


def _compiler(**options: Any) -> Callable[[Function], Function]:
    # Without reference counts (_nrt), passing a tuple of many arrays costs nothing, but compiled
    # code can't make arrays, nor return slices of them.
    def compile_lazily(function: Function) -> Function:
        compiled = numba.njit(nogil=True, error_model="numpy", _nrt=False, **options)(function)
        if "pipeline_class" not in options and not numba.config.DISABLE_JIT:
            compiled._cache = MachineCode(function)
        return cast(Function, compiled)

    return compile_lazily


kernel = _compiler(no_cfunc_wrapper=True)
"""Compile a function that Python calls, at its first call; it runs without the GIL."""

inlined = _compiler(forceinline=True, **HELPER)
"""Compile a function that only compiled code calls, into each of its callers."""

# Explicit: Numba otherwise inherits the caller's flag.
cold = _compiler(forceinline=False, **HELPER)
"""Compile a function that only compiled code calls, and rarely: it is not inlined."""

summing = _compiler(forceinline=True, fastmath=True, **HELPER)
"""As `inlined`, for sums whose order does not matter: they are vectorised."""
