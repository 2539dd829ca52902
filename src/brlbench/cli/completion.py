"""Completion of options and arguments in the shell.

Bash divides words at colons and equals signs, so `--prior=uniform:GC` reaches a command as five
words, and it wants only what follows the last colon back, with spaces escaped. Typer knows nothing
of that, so a word that is divided or escaped is hidden from it.
"""

import importlib
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import typer

from ..errors import BrlbenchError

# Set by the script that `brlbench --install-completion` writes.
_SHELL, _WORDS, _PLACE = "_BRLBENCH_COMPLETE", "COMP_WORDS", "COMP_CWORD"
_HIDDEN = "_BRLBENCH_HIDDEN"  # set here: the word to complete, if Typer can't complete it


def mend_words() -> None:
    """Join the words of the command line that bash divided, up to the one to complete."""
    if not _is_bash() or _WORDS not in os.environ:
        return
    words = os.environ[_WORDS].split("\n")[: int(os.environ[_PLACE]) + 1]
    mended = [words[0]]
    for before, word in pairwise(word for word in words if word != "="):
        if word.startswith(":") or (before.startswith(":") and word):
            mended[-1] += word
        else:
            mended.append(word)
    if mended[-1] != words[-1] or "\\" in mended[-1]:
        os.environ[_HIDDEN], mended[-1] = mended[-1], ""
    os.environ[_WORDS], os.environ[_PLACE] = "\n".join(mended), str(len(mended) - 1)


def problem_names(incomplete: str) -> list[str]:
    """Distributions, after prefixes if there are any."""
    from .. import plugins
    from ..problems import PREFIXES, PROBLEMS

    match = PREFIXES.match(_typed(incomplete))
    prefixes = [match[0]] if match and match[0] else ["", "uniform:"]
    names = [*PROBLEMS, *plugins.listed(plugins.PROBLEMS)]
    return _beginning([prefix + name for prefix in prefixes for name in names], incomplete)


def agent_names(incomplete: str) -> list[str]:
    """The built-in agents, and those of installed packages."""
    from .. import plugins
    from ..agents import AGENTS

    return _beginning([*AGENTS, *plugins.listed(plugins.AGENTS)], incomplete)


def experiment_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The experiments of the results that stand earlier on the command line."""
    from ..report.loading import load

    with suppress(BrlbenchError):
        # An option without its value ends parsing: what stands before it is left in `args`.
        places = [*(ctx.params.get("results") or ()), *ctx.args]
        data = load(*(Path(each) for each in places if os.path.exists(each)))
        return _beginning([each.name for each in data.experiments], incomplete)
    return []


def _names(
    module: str, constant: str, *others: str, commas: bool = False
) -> Callable[[str], list[str]]:
    """The completion of names in a constant of a module, which is imported when it is needed.

    With commas, lists are completed with names that they do not have yet.
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, _ = incomplete.rpartition(",") if commas else ("", "", "")
        names = [*getattr(importlib.import_module(module, __package__), constant), *others]
        rest = [name for name in names if name not in before.split(",")]
        return _beginning([f"{before}{comma}{name}" for name in rest], incomplete)

    return complete


answer_formats = _names(".answers", "FORMATS")
executor_names = _names("..study.schema", "EXECUTORS")
feature_names = _names("..results.times", "ONLINE_FEATURES")
formula_features = _names("..formulas", "FEATURES", commas=True)
formula_operators = _names("..formulas", "OPERATORS", "avg", commas=True)
report_formats = _names("..report.build", "FORMATS", "all")


def _beginning(choices: Iterable[str], incomplete: str) -> list[str]:
    """The choices that begin like this, in the form that the shell wants."""
    if not _is_bash():
        return [choice for choice in choices if choice.startswith(incomplete)]
    begin = _typed(incomplete)
    taken = begin.rfind(":") + 1 if ":" in os.environ.get(_HIDDEN, "") else 0
    rest = [choice[taken:] for choice in choices if choice.startswith(begin)]
    return [re.sub(r"([^\w:.,=+/-])", r"\\\1", choice) for choice in rest]


def _typed(incomplete: str) -> str:
    """The word to complete, also if it is hidden from Typer."""
    hidden = os.environ.get(_HIDDEN, "") if _is_bash() else ""
    return re.sub(r"\\(.?)", r"\1", hidden) or incomplete


def _is_bash() -> bool:
    return os.environ.get(_SHELL) == "complete_bash"
