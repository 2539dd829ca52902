"""Docstrings that commands print: they must be there also where Python leaves them out."""

import ast
import inspect
import sys
import textwrap
from typing import Any


def documentation(thing: Any) -> str:
    """The docstring of a function or a class; with `python -OO`, from its source if it has one."""
    if sys.flags.optimize < 2:
        return inspect.getdoc(thing) or ""
    try:
        source = textwrap.dedent(inspect.getsource(thing))
    except OSError:
        return ""
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef | ast.ClassDef)
    return ast.get_docstring(definition) or ""
