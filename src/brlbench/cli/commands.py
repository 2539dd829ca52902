"""Commands with their help: docstrings, also with `python -OO`, and flags without a type."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class _PlainFlags:
    """A mix-in whose help shows no type for flags, since they take no value."""

    def get_params(self, ctx: Any) -> Any:
        """All parameters; Typer makes some of them only now."""
        parameters = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return parameters


class Command(_PlainFlags, TyperCommand):
    """A command."""


class Group(_PlainFlags, TyperGroup):
    """A group of commands."""


def add_command(app: typer.Typer, command: Callable[..., None], panel: str | None = None) -> None:
    """Add a function as a command of the same name; `import_` is `import`."""
    name, text = command.__name__.rstrip("_"), documentation(command)
    app.command(name, cls=Command, help=text, rich_help_panel=panel)(command)


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
