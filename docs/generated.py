"""Write what the library knows into the documentation's pages: tables, notes, drawings, commands.

In a page, the lines between `<!-- generated: NAME ARGUMENT -->` and `<!-- end -->` are those that
the function of that name returns. `scripts/docs` writes them; a test fails if they are not true.

    python docs/generated.py                  all pages
    python docs/generated.py docs/cli.md      those named
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import typer
from benchmarks.agents import ORIGINAL
from benchmarks.agents import table as measured_table
from benchmarks.tables import ratio_table

import brlbench as bb
from brlbench.agents.parameters import declarations
from brlbench.analysis.bayes_bound.known import known_bound
from brlbench.beliefs.base import NEEDS, Family
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.beliefs.hypotheses import Hypotheses
from brlbench.beliefs.tied import TiedDirichlet
from brlbench.cli import app
from brlbench.entries import CHECKS
from brlbench.problems.frozen import HASHES
from brlbench.report.words import format_bound
from brlbench.results.score import Score
from brlbench.testing.rules import RULES

DOCS = Path(__file__).parent
_MDPS = 100  # for the values of a problem
_BLOCK = re.compile(r"(?<=^<!-- generated: )(\w+) ?(\S*) -->\n.*?^(?=<!-- end -->$)", re.M | re.S)


def updated(page: str) -> str:
    """A page with today's content between its marks."""

    def block(found: re.Match[str]) -> str:
        content = _GENERATED[found[1]](*filter(None, [found[2]]))
        return f"{' '.join(filter(None, found.groups()))} -->\n\n{content}\n\n"

    return _BLOCK.sub(block, page)


def agents() -> str:
    """The built-in agents, each with a link to its page."""
    rows = (
        (f"[`{name}`]({name}.md)", _first_line(agent), agent.reference)
        for name, agent in bb.AGENTS.items()
    )
    return table(("name", "what it does", "reference"), rows)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


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
    text = _docstring(bb.AGENTS[algorithm])
    if "counts" in bb.AGENTS[algorithm]().needed():
        text += (
            "\n\nUnder priors that are not flat, counts are those of shared rows, or "
            "[effective ones](../families.md#effective-counts). Under unknown rewards, "
            "[transitions count](../families.md#counts-and-unknown-rewards)."
        )
    sentence = bb.AGENTS[algorithm].episodes
    where = "[episodes](../protocol.md#episodes)"
    return text + (
        f"\n\nIn {where}: {sentence}" if sentence else f"\n\nIt has no form for {where}."
    )


def agents_in_episodes() -> str:
    """What algorithms do in episodes."""
    rows = (
        (f"[`{name}`](algorithms/{name}.md)", kind.episodes or "Refuses.")
        for name, kind in bb.AGENTS.items()
    )
    return table(("algorithm", "in episodes"), rows)


def agents_and_families() -> str:
    """Which algorithms play under which families of priors."""
    priors: list[Family] = [FlatDirichlet.tiny(), TiedDirichlet.tiny(), Hypotheses.tiny()]
    gaussian = [
        bb.MDP(np.ones((1, 1, 1)), [[[float(mean)]]], 0, np.ones((1, 1, 1))) for mean in (0, 1)
    ]
    names = [prior.kind for prior in priors] + ["… whose Gaussian rewards differ"]
    priors.append(Hypotheses(gaussian))
    for rewards in (bb.BernoulliRewards(), bb.NormalRewards()):
        names.append(f"unknown {'binary' if rewards.is_binary else 'Gaussian'} rewards")
        priors.append(FlatDirichlet(np.ones((2, 2, 2)), rewards))
    rows = []
    for name, kind in bb.AGENTS.items():
        needed = kind().needed()
        needs = "; ".join(NEEDS[need] for need in NEEDS if need in needed) or "nothing"
        plays = ("yes" if needed <= prior.answers else "no" for prior in priors)
        rows.append((f"[`{name}`](algorithms/{name}.md)", needs, *plays))
    return table(("algorithm", "what it needs", *names), rows)


def problems() -> str:
    """All problems."""
    rows = []
    for name in bb.PROBLEMS:
        made = bb.distribution(name)
        possible = len(made.mean().transitions.values)
        sizes = (str(made.num_states), str(made.num_actions), str(possible))
        rows.append((f"[`{name}`]({name}.md)", made.description, *sizes))
    return table(("name", "problem", "states", "actions", "possible transitions"), rows)


_VARIANTS = {"Chain": tuple(f"Chain:prior={prior}" for prior in ("tied", "semi", "full"))}
"""Names of problems with parameters, whose numbers are on the problem's page."""


def problem(name: str) -> str:
    """A problem's description, its drawings and its numbers, and those of its variants."""
    names = (name, *_VARIANTS.get(name, ()))
    made = bb.distribution(name)
    use = f'Use it as `bb.distribution("{name}")`'
    if isinstance(made, bb.FlatDirichlet):
        use += (
            ", and a prior that knows nothing of its transitions as "
            f'`bb.distribution("uniform:{name}")`'
        )
    facts = zip(*(_facts(bb.distribution(each)) for each in names), strict=True)
    rows = ((rows[0][0], *(number for _, number in rows)) for rows in facts)
    numbers = table(("", *names), rows)
    return "\n\n".join([_docstring(bb.PROBLEMS[name]), *_drawings(names), f"{use}.", numbers])


def _drawings(names: tuple[str, ...]) -> Iterator[str]:
    """The drawing of a problem, and those of variants with other transitions."""
    for name in names:
        file = f"figures/problem-{name.replace(':prior=', '-')}.svg"
        if (DOCS / file).exists():
            title = "" if name == names[0] else f"`{name}`:\n\n"
            yield f"{title}![The possible transitions of {name}](../{file})"


def _facts(made: Any) -> list[tuple[str, str]]:
    experiment = bb.Experiment(made, made, num_mdps=_MDPS)
    any_action = np.full((made.num_states, made.num_actions), 1 / made.num_actions)
    optimal: list[float] = []
    random: list[float] = []
    for i in range(_MDPS):
        mdp = experiment.mdp(i)
        policies = (mdp.solve(experiment.discount).policy, any_action)
        for values, policy in zip((optimal, random), policies, strict=True):
            values.append(mdp.expected_return(policy, experiment.discount, experiment.horizon))
    mean = made.mean()
    table = mean.transitions
    rewards = mean.rewards.mean.at(table)
    return [
        ("states, actions", f"{made.num_states}, {made.num_actions}"),
        (
            "possible transitions",
            f"{len(table.values)} of {np.prod(table.shape)}",
        ),
        ("rewards in the mean MDP", f"{rewards.min():g} to {rewards.max():g}"),
        ("start", ", ".join(str(x) for x in np.flatnonzero(made.start)[:10])),
        *(
            (
                f"expected return of {who}, mean of {_MDPS} MDPs",
                str(Score.of(values)),
            )
            for who, values in (("random actions", random), ("the optimal policy", optimal))
        ),
    ]


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
        episodes = "" if made.episode is None else f" in episodes of {made.episode}"
        numbers = (str(made.discount), f"{made.horizon}{episodes}", str(made.seed))
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
        agents_and_families,
        agents_in_episodes,
        problems,
        problem,
        commands,
        ratios,
        bounds,
        frozen_sets,
        rules_of_agents,
        checks_of_entries,
    )
}


def main(names: list[str]) -> None:
    """Write the pages with these names, or all; make those of problems that have none."""
    for name in bb.PROBLEMS:
        path = DOCS / "problems" / f"{name}.md"
        if not path.exists():
            title = bb.distribution(name).description or name
            path.write_text(f"# {title}\n\n<!-- generated: problem {name} -->\n<!-- end -->\n")
    for path in map(Path, names) if names else sorted(DOCS.rglob("*.md")):
        text = path.read_text()
        path.write_text(updated(text))


if __name__ == "__main__":
    main(sys.argv[1:])
