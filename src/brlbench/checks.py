"""Checks of what users give, and of what they have installed."""

import importlib
import math
from typing import Any

import numpy as np

from .errors import InvalidInput


def whole(value: Any, name: str, least: int) -> int:
    """A whole number that is at least so large."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidInput(f"{name} = {value!r}: must be a whole number, at least {least}")
    return int(value)


def positive(value: Any, name: str) -> float:
    """A finite number that is more than zero."""
    real = isinstance(value, int | float | np.floating) and not isinstance(value, bool)
    if not real or not 0 < value < math.inf:
        raise InvalidInput(f"{name} = {value!r}: must be a positive number")
    return float(value)


def require(extra: str, *modules: str) -> None:
    """Refuse to go on without what an extra of the package installs."""
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError:
            raise InvalidInput(
                f"{module} is not installed: pip install 'brlbench[{extra}]'"
            ) from None
