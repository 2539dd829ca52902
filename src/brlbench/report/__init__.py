"""Tables and figures. Reports read results only; they never play anything.

The room itself can be called: `bb.report(results, folder)` writes a report, and is also the name of
this module.
"""

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # importing Matplotlib takes long
    from .build import Built
    from .loading import Sources


def report(
    results: "Sources",
    folder: str | Path,
    formats: str | Sequence[str] = "all",
    *,
    feature: str = "processor",
    level: float = 0.95,
    honest: bool = True,
    overwrite: bool = False,
) -> "Built":
    """Write a report: figures, tables, a LaTeX report with its PDF, a page and exports.

    Args:
        results: results, or files and folders with results.
        folder: where the files go.
        formats: all, or some of figures, latex, html, csv, json and parquet.
        feature: the online time: mean, median, p95, max or total.
        level: how sure a test must be to call an agent worse, between 0 and 1.
        honest: choose agents on the first quarter of the MDPs, score and test them on the others.
            False is the paper's way: all MDPs do both, which flatters the best agents.
        overwrite: whether other files may be replaced than those of an earlier report.
    """
    from .answers import Question
    from .build import build, shows_learning
    from .loading import load

    wanted = [formats] if isinstance(formats, str) else formats
    question = Question.parse(None, None, feature, level, honest)
    data = load(results, feature=feature, learning=shows_learning(wanted))
    return build(data, Path(folder), wanted, question, overwrite)


class _CallableModule(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> "Built":
        return report(*args, **kwargs)


# A submodule takes the place of a function with its name, so the module must be callable.
sys.modules[__name__].__class__ = _CallableModule
__signature__, __doc__ = inspect.signature(report), report.__doc__ or ""  # for help and editors
