"""Modules that a test has written and imported."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def forgotten_modules(folder: Path) -> Iterator[None]:
    """Forget the modules of a folder at the end: another test's may have the same names."""
    yield
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is not None and Path(file).absolute().is_relative_to(folder):
            del sys.modules[name]
