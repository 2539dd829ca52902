"""Clocks that compiled code can read, in nanoseconds."""

import time
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..jit import inlined

_WALL = int(time.CLOCK_MONOTONIC)
_CPU = int(time.CLOCK_THREAD_CPUTIME_ID)


def _read_in_python(clock: int) -> int:
    return time.clock_gettime_ns(clock)


@intrinsic
def _read_compiled(typing_context: Any, clock: Any) -> Any:
    """Call the C library's clock_gettime."""
    second = ir.IntType(64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        timespec = ir.LiteralStructType([second, second])
        place = cgutils.alloca_once(builder, timespec)
        function_type = ir.FunctionType(ir.IntType(32), [ir.IntType(32), timespec.as_pointer()])
        function = cgutils.get_or_insert_function(builder.module, function_type, "clock_gettime")
        builder.call(function, [builder.trunc(arguments[0], ir.IntType(32)), place])
        seconds = builder.load(cgutils.gep_inbounds(builder, place, 0, 0))
        nanoseconds = builder.load(cgutils.gep_inbounds(builder, place, 0, 1))
        return builder.add(builder.mul(seconds, second(1_000_000_000)), nanoseconds)

    return types.int64(types.int64), generate


_read = _read_in_python if numba.config.DISABLE_JIT else _read_compiled


@inlined
def wall_time() -> int:
    """Nanoseconds on a clock that never goes back."""
    return _read(_WALL)


@inlined
def cpu_time() -> int:
    """Nanoseconds of processor time of this thread."""
    return _read(_CPU)
