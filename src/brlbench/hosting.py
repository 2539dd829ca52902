"""Runs agents' code where it finds nothing that agents must not know by walking along frames.

A function that knows the MDPs is a generator. Where an agent's code has to run, it yields a call;
its host makes the call while the generator is suspended. The host knows nothing itself.
"""

from collections.abc import Callable, Generator
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar, cast

Value = TypeVar("Value")
Arguments = ParamSpec("Arguments")
Steps = Generator[Callable[[], Any], Any, Value]
"""Yields calls of agents' code, which return their value or raise what the code raises."""


def hidden(function: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
    """The function behind an object that has no attribute for it."""
    opaque = lru_cache(maxsize=0)(function)  # keeps no values, and takes arguments of any kind
    del opaque.__wrapped__
    return cast(Callable[Arguments, Value], opaque)


def hosted(steps: Callable[Arguments, Steps[Value]]) -> Callable[Arguments, Value]:
    """The generator function as a plain function, which hosts the calls that it yields."""

    @wraps(steps)
    def host(*arguments: Arguments.args, **options: Arguments.kwargs) -> Value:
        generator = steps(*arguments, **options)
        go_on, fail = hidden(generator.send), hidden(generator.throw)
        del generator, arguments, options
        return cast(Value, _host(go_on, fail))

    return host


def _host(go_on: Callable[[Any], Any], fail: Callable[[BaseException], Any]) -> Any:
    try:
        call = go_on(None)
        while True:
            try:
                value = call()
            except BaseException as error:
                call = fail(error)
            else:
                call = go_on(value)
    except StopIteration as end:
        return end.value
