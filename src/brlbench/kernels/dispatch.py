"""Functions that are chosen by the type of their first argument, when a caller is compiled.

So callers are written once, and contain only the code of the types that they are compiled for. If
these functions were arguments instead, the machine code could not be stored on disk.
"""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from numba.extending import overload

from .jit import HELPER, Function

# A real call would write the descriptions of all arrays to the stack, which can take half of a
# short decision's time.
INLINED = {"forceinline": True, **HELPER}

Functions = dict[Callable[..., Any], Callable[..., Any]]

_PROVIDED: dict[type, Functions] = {}


def provide(kind: type, functions: Functions) -> None:
    """Give a NamedTuple its forms of functions by type; `tuple` stands for all others."""
    _PROVIDED.setdefault(kind, {}).update(functions)


def by_type(function: Function) -> Function:
    """Call the form of a function that the first argument's NamedTuple has.

    It is one that was provided, or the function of this name in the NamedTuple's module.
    """

    def chosen(kind: Any, *arguments: Any) -> Any:
        # Numba's types of NamedTuples have `instance_class`.
        return _find(getattr(kind, "instance_class", type(kind)), call)

    @wraps(function)
    def call(first: Any, *arguments: Any) -> Any:
        return chosen(first)(first, *arguments)

    overload(call, strict=False, jit_options=INLINED)(chosen)
    return cast(Function, call)


def _find(kind: type, function: Function) -> Any:
    own = _PROVIDED.get(kind, {}).get(function)
    own = own or getattr(sys.modules[kind.__module__], function.__name__, None)
    own = own or _PROVIDED.get(tuple, {}).get(function)
    return getattr(own, "py_func", own)
