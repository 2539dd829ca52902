"""Tests of functions that are chosen by type."""

from typing import Any, NamedTuple

from brlbench.kernels.dispatch import by_type, provide


class Apple(NamedTuple):
    weight: float


class Pear(NamedTuple):
    weight: float


def _declared() -> Any:
    @by_type
    def price(fruit: Any) -> float:  # type: ignore[empty-body]
        """The price of a fruit."""

    return price


def test_functions_of_one_name_keep_their_own_forms() -> None:
    here, there = _declared(), _declared()
    for function, factor in ((here, 1), (there, 10)):
        provide(tuple, {function: lambda fruit, factor=factor: factor * fruit.weight})
        provide(Pear, {function: lambda fruit, factor=factor: 2 * factor * fruit.weight})
    assert [here(Apple(3.0)), there(Apple(3.0))] == [3.0, 30.0]
    assert [here(Pear(3.0)), there(Pear(3.0))] == [6.0, 60.0]
