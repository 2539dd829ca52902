"""Fill the site's pages from the library: tables, notes, drawings, formulas; see mkdocs.yml.

A line `{{ name }}` or `{{ name argument }}` of a page is replaced by what the function of that name
returns.
"""

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import latex2mathml.converter
import numpy as np
import typer
from benchmarks.agents import ORIGINAL
from benchmarks.agents import table as measured_table
from benchmarks.tables import ratio_table
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from readme import agent_table, table

import brlbench as bb
from brlbench.agents.parameters import declarations
from brlbench.analysis.bayes_bound.known import known_bound
from brlbench.cli import app
from brlbench.entries import CHECKS
from brlbench.problems.frozen import HASHES
from brlbench.report.words import format_bound
from brlbench.results.score import Score
from brlbench.testing.rules import RULES

_MDPS = 100  # for the values of a problem
_NOTEBOOK = "tutorials/notebook.md"
_MAGICS = {"python": "", "bash": "%%bash\n"}  # first lines of a notebook's cells
# The text before a block; the block's language, its file and its code, all empty at the end.
_CELL = r'(.*?)(?:^```(\w+)(?: title="([^"]*)")?\n(.*?)^```$|\Z)'
# latex2mathml takes these for names, which have no space around them.
_RELATIONS = {
    "<mi>&#x0007E;</mi>": "<mo>&#x0223C;</mo>",
    "<mi>&#x000B1;</mi>": "<mo>&#x000B1;</mo>",
}


def on_config(config: MkDocsConfig) -> None:
    """List a page for each algorithm and each problem."""
    for section in config.nav or []:
        for title, names in (("Algorithms", bb.AGENTS), ("Problems", bb.PROBLEMS)):
            if title in section:
                section[title] += [{name: f"{title.lower()}/{name}.md"} for name in names]


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Make a page of each problem that has none, and a notebook of a tutorial."""
    for name in bb.PROBLEMS:
        path = f"problems/{name}.md"
        if files.get_file_from_path(path) is None:
            title = bb.distribution(name).description or name
            text = f"# {title}\n\n{{{{ problem {name} }}}}\n"
            files.append(File.generated(config, path, content=text))

    page = files.get_file_from_path(_NOTEBOOK)
    assert page is not None
    made = notebook(page.content_string)
    files.append(File.generated(config, _NOTEBOOK.replace(".md", ".ipynb"), content=made))


def notebook(page: str) -> str:
    """A page as a Jupyter notebook: its code in cells, with magics for files and for Bash."""
    cells: list[dict[str, Any]] = []
    for text, language, title, code in re.findall(_CELL, page, re.DOTALL | re.MULTILINE):
        if text.strip():
            cells.append({"cell_type": "markdown", "source": text.strip()})
        if title or language in _MAGICS:
            magic = f"%%writefile {title}\n" if title else _MAGICS[language]
            cells.append({"cell_type": "code", "source": magic + code.rstrip(), "outputs": []})
    for number, cell in enumerate(cells):
        cell |= {"id": str(number), "metadata": {}}
        if cell["cell_type"] == "code":
            cell["execution_count"] = None
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the lines with braces."""
    return re.sub(
        r"^\{\{ (\w+) ?(\S*) \}\}$",
        lambda found: _GENERATED[found[1]](*filter(None, [found[2]])),
        markdown,
        flags=re.MULTILINE,
    )


def on_page_content(html: str, **_: Any) -> str:
    """Turn TeX into MathML, which browsers show without any script."""
    return re.sub(
        r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', _mathml, html, flags=re.DOTALL
    )


def _mathml(found: re.Match[str]) -> str:
    display = "inline" if found[2] == "(" else "block"
    made = latex2mathml.converter.convert(unescape(found[3]), display=display)
    for wrong, right in _RELATIONS.items():
        made = made.replace(wrong, right)
    return made if display == "inline" else f'<div class="formula">{made}</div>'


def agents() -> str:
    """All algorithms."""
    return agent_table(link="{name}.md")


def parameters(algorithm: str) -> str:
    """The parameters of an algorithm."""
    made: Any = bb.AGENTS[algorithm]
    known = declarations(made)
    if not known:
        return f"`{algorithm}` has no parameters."
    rows = [
        (f"`{name}`", f"`{_written(getattr(made, name, None))}`", rule.meaning, rule.kind.allowed)
        for name, rule in known.items()
    ]
    return table(("parameter", "default", "meaning", "may be"), rows)


def _written(value: Any) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def notes(algorithm: str) -> str:
    """What the algorithm's module says: its reference, its settings and its deviations."""
    return _docstring(bb.AGENTS[algorithm])


def problems() -> str:
    """All problems."""
    rows = []
    for name in bb.PROBLEMS:
        made = bb.distribution(name)
        sizes = (str(made.num_states), str(made.num_actions), str(len(made.counts.values)))
        rows.append((f"[`{name}`]({name}.md)", made.description, *sizes))
    return table(("name", "problem", "states", "actions", "possible transitions"), rows)


def problem(name: str) -> str:
    """A problem's description, its drawing and its numbers."""
    made = bb.distribution(name)
    file = f"figures/problem-{name}.svg"
    is_drawn = (Path(__file__).parent / file).exists()
    return "\n\n".join(
        [
            _docstring(bb.PROBLEMS[name]),
            f"![The possible transitions of {name}](../{file})" if is_drawn else "",
            f'Use it as `bb.distribution("{name}")`, and a prior that knows nothing of its '
            f'transitions as `bb.distribution("uniform:{name}")`.',
            table(("", name), _facts(made)),
        ]
    )


def _facts(made: bb.FlatDirichlet) -> list[tuple[str, str]]:
    experiment = bb.Experiment(made, made, num_mdps=_MDPS)
    any_action = np.full((made.num_states, made.num_actions), 1 / made.num_actions)
    optimal: list[float] = []
    random: list[float] = []
    for i in range(_MDPS):
        mdp = experiment.mdp(i)
        policies = (mdp.solve(experiment.discount).policy, any_action)
        for values, policy in zip((optimal, random), policies, strict=True):
            values.append(mdp.expected_return(policy, experiment.discount, experiment.horizon))
    rewards = made.rewards.mean.at(made.counts)
    return [
        ("states, actions", f"{made.num_states}, {made.num_actions}"),
        ("possible transitions", f"{len(made.counts.values)} of {np.prod(made.counts.shape)}"),
        ("rewards", f"{rewards.min():g} to {rewards.max():g}"),
        ("start", ", ".join(str(x) for x in np.flatnonzero(made.start)[:10])),
        *(
            (
                f"expected return of {who}, mean of {_MDPS} MDPs",
                str(Score.of(values)),
            )
            for who, values in (("random actions", random), ("the optimal policy", optimal))
        ),
    ]


def api(names: str) -> str:
    """Public names of the package, separated by commas."""
    return "\n\n".join(f"::: brlbench.{name}" for name in names.split(","))


def commands() -> str:
    """All commands of the command line, with their arguments and options."""
    parts = []
    for name, command in _all_commands(typer.main.get_command(app)):
        text = re.sub(r"\[/?bold\]", "`", inspect.cleandoc(command.help))
        rows = [(f"`{_usage(given)}`", given.help or "") for given in command.params]
        parts += [
            f"## brlbench {name}",
            text,
            table(("argument or option", "meaning"), rows) if rows else "",
        ]
    return "\n\n".join(parts)


def _all_commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """The commands of a group and of groups within it, each after the names of its groups."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _all_commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def _usage(given: Any) -> str:
    is_option = given.opts[0].startswith("-")
    return ", ".join(given.opts) if is_option else str(given.name).upper()


def ratios() -> str:
    """How many times faster than the original library the agents are, as last measured."""
    return ratio_table(measured_table(ORIGINAL).values())


def bounds() -> str:
    """The upper bounds that come with the package."""
    rows = []
    for experiment in {made.test.digest: made for made in map(bb.frozen_set, HASHES)}.values():
        bound = known_bound(experiment.settings())
        assert bound is not None
        numbers = (
            str(experiment.discount),
            format_bound(bound.upper),
            f"{bound.standard_error:.2g}",
            f"{bound.clairvoyant:.4g}",
        )
        rows.append((f"`{experiment.test.name}`", *numbers, f"{bound.beliefs:,}", str(bound.depth)))
    numbers = ("discount", "one-sided 95% limit", "standard error", "knows the MDP")
    return table(("MDPs from", *numbers, "beliefs", "depth"), rows)


def frozen_sets() -> str:
    """The frozen sets, with what is known of each and their hashes."""
    rows = []
    for name, digest in HASHES.items():
        made = bb.frozen_set(name)
        sizes = (str(made.test.num_states), str(made.test.num_actions), str(made.num_mdps))
        numbers = (str(made.discount), str(made.horizon), str(made.seed))
        names = (f"`{name}`", f"`{made.test.name}`", f"`{made.prior.name}`")
        rows.append((*names, *sizes, *numbers, f"`{digest}`"))
    sizes = ("states", "actions", "MDPs stored")
    return table(
        ("set", "MDPs from", "prior", *sizes, "discount", "horizon", "seed", "SHA-256"), rows
    )


def rules_of_agents() -> str:
    """The rules that `brlbench check` checks."""
    rows = [(f"`{name}`", rule.statement, _first_line(rule.check)) for name, rule in RULES.items()]
    return table(("name", "rule", "what is checked"), rows)


def checks_of_entries() -> str:
    """What `brlbench entry check` checks."""
    rows = [
        (f"`{name}`", check.statement, _first_line(check.check)) for name, check in CHECKS.items()
    ]
    return table(("name", "check", "what is checked"), rows)


def _first_line(function: Any) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _docstring(made: Any) -> str:
    """The docstring of the module that defines something."""
    return inspect.getdoc(sys.modules[made.__module__]) or ""


_GENERATED: dict[str, Callable[..., str]] = {
    made.__name__: made
    for made in (
        agents,
        parameters,
        notes,
        problems,
        problem,
        api,
        commands,
        ratios,
        bounds,
        frozen_sets,
        rules_of_agents,
        checks_of_entries,
    )
}
