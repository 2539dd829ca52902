"""Measure Bayesian reinforcement-learning agents: train on a prior, play unknown MDPs, compare.

The public names are listed in `__init__.pyi`. They are loaded when they are first used, so that
importing the package is quick.
"""

import ast
import importlib
import os
from typing import Any

__version__ = "0.1.0"


def _modules() -> dict[str, str]:
    """The module of each public name, as the stub imports it."""
    # Not with pathlib: it looks for modules that are missing here, and `python -m brlbench` has not
    # yet taken the current folder off the import path.
    with open(os.path.splitext(__file__)[0] + ".pyi", encoding="utf-8") as file:
        stub = ast.parse(file.read())
    imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    return {alias.name: f".{line.module or alias.name}" for line in imports for alias in line.names}


_ROOMS = ("agents",)  # public names that are modules
_MODULES = _modules()
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(_MODULES[name], __name__)
    value = module if name in _ROOMS else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
