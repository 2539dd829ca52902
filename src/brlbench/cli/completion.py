"""Completion of options and arguments in the shell.

Bash divides words at colons and equals signs, so `--prior=uniform:GC` reaches a command as five
words, and it wants only what follows the last colon back, with spaces escaped. Typer knows nothing
of that, so a word that is divided or escaped is hidden from it.
"""

import os
import re
from collections.abc import Iterable
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
    from ..problems import PREFIXES, PROBLEMS

    match = PREFIXES.match(_typed(incomplete))
    prefixes = [match[0]] if match and match[0] else ["", "uniform:"]
    return _beginning([prefix + name for prefix in prefixes for name in PROBLEMS], incomplete)


def agent_names(incomplete: str) -> list[str]:
    """Agents."""
    from ..agents import AGENTS

    return _beginning(AGENTS, incomplete)


def executor_names(incomplete: str) -> list[str]:
    """Executors of studies."""
    from ..study.schema import EXECUTORS

    return _beginning(EXECUTORS, incomplete)


def feature_names(incomplete: str) -> list[str]:
    """Features of online time."""
    from ..results.times import ONLINE_FEATURES

    return _beginning(ONLINE_FEATURES, incomplete)


def formula_features(incomplete: str) -> list[str]:
    """Features of formulas, with commas."""
    from ..formulas import FEATURES

    return _listed(FEATURES, incomplete)


def formula_operators(incomplete: str) -> list[str]:
    """Operators of formulas, with commas."""
    from ..formulas import OPERATORS

    return _listed([*OPERATORS, "avg"], incomplete)


def answer_formats(incomplete: str) -> list[str]:
    """Formats of `compare`."""
    from .answers import FORMATS

    return _beginning(FORMATS, incomplete)


def report_formats(incomplete: str) -> list[str]:
    """Formats of `report`."""
    from ..report.build import FORMATS

    return _beginning(["all", *FORMATS], incomplete)


def experiment_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The experiments of the results that stand earlier on the command line."""
    from ..report.loading import load

    with suppress(BrlbenchError):
        # An option without its value ends parsing: what stands before it is left in `args`.
        places = [*(ctx.params.get("results") or ()), *ctx.args]
        data = load(*(Path(each) for each in places if os.path.exists(each)))
        return _beginning([each.name for each in data.experiments], incomplete)
    return []


def _listed(choices: Iterable[str], incomplete: str) -> list[str]:
    """Completions of a list with commas: choices that it does not have yet."""
    before, comma, _ = incomplete.rpartition(",")
    rest = [choice for choice in choices if choice not in before.split(",")]
    return _beginning([f"{before}{comma}{choice}" for choice in rest], incomplete)


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
