"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from .completion import agent_names, feature_names, problem_names

AgentName = Annotated[
    str, Argument(help="An agent's name, or module:Class.", autocompletion=agent_names)
]
Results = Annotated[
    list[Path], Argument(help="Folders or files with results, from run, play or demo.")
]
Prior = Annotated[
    str,
    Option(
        help="What agents are trained on: a name, a file, or uniform:…",
        autocompletion=problem_names,
    ),
]
Discount = Annotated[float, Option(help="The discount factor, between 0 and 1.")]
Episode = Annotated[
    int | None,
    Option(help="Decisions from one start state to the next; then the discount may be 1."),
]
Horizon = Annotated[int | None, Option(help="Decisions per trajectory; 250 by default.")]
Feature = Annotated[
    str,
    Option(
        help="The time: processor, mean, median, p95, max or total of decisions, "
        "max_with_training, or module:function.",
        autocompletion=feature_names,
    ),
]
Level = Annotated[float, Option(help="How sure a test must be, between 0 and 1.")]
AsInPaper = Annotated[
    bool,
    Option(
        "--as-in-paper",
        help="Choose and test agents on the same MDPs, which flatters the best: single agents that "
        "are as good are called worse in 34% to 80% of cases, not 5%.",
    ),
]
Json = Annotated[bool, Option("--json", help="Print JSON instead of a table.")]
Output = Annotated[Path, Option("--output", "-o", help="The file to write.")]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace files that exist.")]
Parameters = Annotated[
    list[str] | None, Option("--set", "-s", help="A parameter, as name=value; repeatable.")
]
Seed = Annotated[int, Option(min=0, help="The seed of all random numbers.")]
Workers = Annotated[int | None, Option(min=1, help="How many cores to use; all by default.")]
