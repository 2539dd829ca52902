"""Scripts of users that start processes: these import the script, so its work must be guarded."""

import ast
import inspect
from pathlib import Path
from types import FrameType

from ..errors import InvalidInput


def check_main_is_guarded() -> None:
    """Raise if this is called by a script's own lines outside `if __name__ == "__main__":`.

    Each worker process would run these lines again.
    """
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__main__":
            break
        frame = frame.f_back
    tree = None if frame is None else _source(frame)
    if frame is None or tree is None:
        return
    guarded = (node for node in tree.body if isinstance(node, ast.If) and _is_guard(node.test))
    if not any(node.lineno <= frame.f_lineno <= (node.end_lineno or 0) for node in guarded):
        raise InvalidInput(
            f"{frame.f_code.co_filename}, line {frame.f_lineno}: worker processes import this "
            'script, and would run the line again: put it under if __name__ == "__main__":, or use '
            "workers=1"
        )


def _source(frame: FrameType) -> ast.Module | None:
    """The syntax tree of a frame's file; None if there is none, as in notebooks."""
    try:
        return ast.parse(Path(frame.f_code.co_filename).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _is_guard(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(test))
