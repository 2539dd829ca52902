"""The decorators of compiled functions.

Functions that Python calls, and helpers that several agents use, are stored on disk: see
`machine_code`. Numba would make machine code of every helper, which nothing ever calls; here a
helper is only linked into its callers. Numba would also compile a helper once more for each whole
number that a caller writes, as in `update(model, 0)`; here it is compiled for the type alone.
"""

import gc
from collections.abc import Callable
from typing import Any, TypeVar, cast

import llvmlite.binding as llvm
import numba
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult

from .machine_code import MachineCode

Function = TypeVar("Function", bound=Callable[..., object])


_SHARED = tuple(f"{__package__.rpartition('.')[0]}.{room}." for room in ("kernels", "beliefs"))


class _Linkable(JITCodeLibrary):  # type: ignore[misc]
    """The code of a helper, to be linked into its callers; it has no address of its own."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._environments: list[Any] = []

    @classmethod
    def _unserialize(cls, codegen: Any, state: tuple[str, bytes]) -> "_Linkable":
        name, bitcode = state
        library = cls(codegen, name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalize_final_module()
        return library

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """For the disk: callers need no object code."""
        return self.name, self._final_module.as_bitcode()

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
        """Keep the environment, from which callers copy it."""
        self._environments.append(env)


class HelperCompiler(Compiler):  # type: ignore[misc]
    """Compile helpers."""

    def __init__(self, typing_context: Any, target_context: Any, _: Any, *rest: Any) -> None:
        library = _Linkable(target_context.codegen(), "helper")
        super().__init__(typing_context, target_context, library, *rest)


class _HelperCode(MachineCode):
    """The code of a helper on disk, for helpers that several agents use."""

    def _is_stored(self, modules: set[str]) -> bool:
        return all(module.startswith(_SHARED) for module in modules)

    def _rebuild(self, target_context: Any, *data: Any) -> Any:
        return CompileResult._rebuild(_HelperContext(target_context), *data)


class _HelperContext:
    """A target context that loads libraries of helpers."""

    def __init__(self, target_context: Any) -> None:
        self.get_executable = target_context.get_executable
        self.typing_context = target_context.typing_context
        self._codegen = target_context.codegen()

    def codegen(self) -> "_HelperContext":
        """Has `unserialize_library`, as Numba expects."""
        return self

    def unserialize_library(self, state: tuple[str, bytes]) -> _Linkable:
        """The library from what is on disk."""
        return _Linkable._unserialize(self._codegen, state)


class _KernelCompiler(Compiler):  # type: ignore[misc]
    """Compile functions that Python calls, with their helpers."""

    def compile_extra(self, function: Any) -> Any:
        """Without garbage collection, which would take a tenth of the time and find little."""
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(function)
        finally:
            if was_enabled:
                gc.enable()


# Options of functions that only compiled code calls.
HELPER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": HelperCompiler}


def _compiler(code: type[MachineCode], **options: Any) -> Callable[[Function], Function]:
    # Without reference counts (_nrt), passing a tuple of many arrays costs nothing, but compiled
    # code can't make arrays, nor return slices of them.
    def compile_lazily(function: Function) -> Function:
        compiled = numba.njit(nogil=True, error_model="numpy", _nrt=False, **options)(function)
        if not numba.config.DISABLE_JIT:
            compiled._cache = code(function)
        return cast(Function, compiled)

    return compile_lazily


def _helper(*, forceinline: bool, fastmath: bool = False) -> Callable[[Function], Function]:
    # All explicit: Numba otherwise inherits the caller's flags.
    options = {"forceinline": forceinline, "fastmath": fastmath, **HELPER}
    compile_lazily = _compiler(_HelperCode, **options)
    return lambda function: _for_types(compile_lazily(function))


def _for_types(helper: Function) -> Function:
    """Compile a helper for the types of whole numbers, not for the numbers themselves."""
    if not numba.config.DISABLE_JIT:
        compiled = cast(Any, helper)
        find = compiled.get_call_template

        def find_by_types(arguments: Any, keywords: dict[str, Any]) -> Any:
            named = {name: _without_number(kind) for name, kind in keywords.items()}
            return find(tuple(map(_without_number, arguments)), named)

        compiled.get_call_template = find_by_types
    return helper


def _without_number(kind: Any) -> Any:
    return kind.literal_type if isinstance(kind, types.IntegerLiteral) else kind


kernel = _compiler(MachineCode, no_cfunc_wrapper=True, pipeline_class=_KernelCompiler)
"""Compile a function that Python calls, at its first call; it runs without the GIL."""

inlined = _helper(forceinline=True)
"""Compile a function that only compiled code calls, into each of its callers."""

cold = _helper(forceinline=False)
"""Compile a function that only compiled code calls, and rarely: it is not inlined."""

summing = _helper(forceinline=True, fastmath=True)
"""As `inlined`, for sums whose order does not matter: they are vectorised."""
