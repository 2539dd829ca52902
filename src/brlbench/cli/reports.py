"""Commands that read results: compare, report, compact, leaderboard."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..arguments import counted
from .completion import answer_formats, experiment_names, report_formats
from .options import AsInPaper, Feature, Level, Output, Overwrite, Results
from .output import say


def compare(
    results: Annotated[
        list[Path],
        Argument(help="Folders or files with results; before them, two agents to compare."),
    ],
    offline: Annotated[str | None, Option(help="A bound on training, e.g. 1m.")] = None,
    online: Annotated[str | None, Option(help="A bound on decisions, e.g. 5ms.")] = None,
    feature: Feature = "processor",
    level: Level = 0.95,
    as_in_paper: AsInPaper = False,
    experiment: Annotated[
        str | None, Option(help="Only this experiment.", autocompletion=experiment_names)
    ] = None,
    all: Annotated[
        bool, Option("--all", help="Every agent, not the best of each algorithm.")
    ] = False,
    agents: Annotated[
        tuple[str, str] | None,
        Option(help="Two agents to compare, even if files have these names."),
    ] = None,
    notes: Annotated[
        bool, Option("--notes", help="All notes on the results, one per line.")
    ] = False,
    format: Annotated[
        str, Option(help="table, csv or json.", autocompletion=answer_formats)
    ] = "table",
) -> None:
    """Say which agents are best within bounds on offline and online time.

    Bounds are like 300us, 5ms, 1.5s, 1m, 2h, or a number of seconds.

    Two agents before the results are compared with each other. Name them as tables do, or by a part
    of that; the name of an algorithm stands for its best agent within the bounds.

    Examples: [bold]brlbench compare results --offline 1m --online 5ms[/bold],
    [bold]brlbench compare beb my_agent:Thompson results[/bold]
    """
    from ..report.answers import Question, answer_all, notes_on
    from ..report.loading import load
    from .answers import check_format, divide, print_answers, print_notes, print_pairs

    check_format(format)
    question = Question.parse(offline, online, feature, level, honest=not as_in_paper)
    pair, places = divide(results) if agents is None else (agents, results)
    data = load(*places, feature=feature)
    answers = answer_all(data, question, experiment)
    if pair is None:
        print_answers(data, answers, format, everyone=all)
    else:
        print_pairs(data, answers, pair, format)
    print_notes(notes_on(data, answers), in_full=notes)


def report(
    results: Results,
    output: Annotated[
        Path | None, Option("--output", "-o", help="A folder; by default RESULTS/report.")
    ] = None,
    format: Annotated[
        list[str] | None,
        Option(
            help="all, figures, latex, html, csv, json or parquet; repeatable.",
            autocompletion=report_formats,
        ),
    ] = None,
    feature: Feature = "processor",
    level: Level = 0.95,
    as_in_paper: AsInPaper = False,
    overwrite: Overwrite = False,
) -> None:
    """Make figures, tables, a LaTeX report with its PDF, an interactive page and exports.

    Reports only read results; they never play anything. The PDF needs latexmk. Files of an earlier
    report are replaced, unless they have been changed since.

    Examples: [bold]brlbench report results --format html --format csv[/bold],
    [bold]brlbench report mine reproduction/results.parquet[/bold]
    """
    from ..report.answers import Question
    from ..report.build import build, default_folder, shows_learning
    from ..report.loading import load
    from .answers import print_built
    from .bars import files_bar

    question = Question.parse(None, None, feature, level, honest=not as_in_paper)
    folder, formats = output or default_folder(results[0]), format or ["all"]
    learning = shows_learning(formats)
    with files_bar() as show:
        data = load(*results, feature=feature, learning=learning)
        built = build(data, folder, formats, question, overwrite, show)
    print_built(built)


def compact(results: Results, output: Output, overwrite: Overwrite = False) -> None:
    """Gather the summaries of results in one small file.

    Reports read it like the results themselves, alone or together with others.

    Examples: [bold]brlbench compact results --output small.parquet[/bold],
    [bold]brlbench report mine small.parquet[/bold]
    """
    from ..files import check_free
    from ..report.loading import load
    from ..results.compact import write_summaries

    check_free(output, overwrite)
    experiments = load(*results, learning=True, as_stored=True).experiments
    write_summaries(output, [(each.header, each.summaries) for each in experiments], overwrite)
    say(f"wrote {output}: {counted(sum(len(each.summaries) for each in experiments), 'result')}")


def leaderboard(
    results: Results,
    output: Annotated[Path, Option("--output", "-o", help="The folder to write.")],
    overwrite: Overwrite = False,
) -> None:
    """Make a leaderboard: a site that compares all agents over all experiments.

    An overview has scores, ranks, times, memory and aggregates over the experiments; agents and
    problems have pages of their own. Pages need no network: open index.html, or put the folder on
    any web server. Results, compact files and entries can be mixed; nothing in them is run.

    Examples: [bold]brlbench leaderboard reproduction/results.parquet --output site[/bold],
    [bold]brlbench leaderboard results mine.entry.parquet -o site --overwrite[/bold]
    """
    from ..report.board import build
    from ..report.loading import load
    from .answers import print_notes
    from .bars import files_bar

    with files_bar() as show:
        data = load(*results, learning=True)
        pages = build(data, output, overwrite, show)
    say(f"wrote {counted(len(pages), 'page')}: open {pages[0]}")
    print_notes(data.notes_on(data.experiments), in_full=False, how="the overview lists all")
