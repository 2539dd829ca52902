"""The function `compare`: the best agents among results."""

from dataclasses import replace

from ..analysis.bounds import LEVEL
from ..errors import InvalidInput
from ..results.times import ONLINE
from .answers import Answer, Bound, Question, answer_all, notes_on
from .loading import Sources, load


def compare(
    results: Sources,
    offline: Bound = None,
    online: Bound = None,
    *,
    experiment: str | None = None,
    feature: str = ONLINE,
    level: float = LEVEL,
    honest: bool = True,
) -> Answer:
    """Find the best agents of one experiment within bounds on offline and online time.

    Args:
        results: results, or files and folders with results.
        offline: the longest training, such as "1m"; None means no bound.
        online: the longest time of a decision, such as "5ms"; None means no bound.
        experiment: which one, by name, if there are several.
        feature: the online time that the bound applies to: mean, median, p95, max or total.
        level: how sure a test must be to call an agent worse, between 0 and 1.
        honest: choose agents on the first quarter of the MDPs, score and test them on the others.
            False is the paper's way: all MDPs do both, which flatters the best agents.
    """
    question = Question.parse(offline, online, feature, level, honest)
    data = load(results, feature=feature)
    if experiment is None and len(data.experiments) > 1:
        names = ", ".join(each.name for each in data.experiments)
        raise InvalidInput(
            f"the results are of {len(data.experiments)} experiments ({names}): choose one with "
            "experiment="
        )
    [answer] = answer_all(data, question, experiment)
    return replace(answer, notes=list(map(str, notes_on(data, [answer]))))
