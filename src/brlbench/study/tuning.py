"""Tuning: parameters are chosen on MDPs of the prior, never on those that test the agent.

Candidates play the same MDPs. After each rung the best third of them goes on, so most of the budget
is spent on the best ones.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import streams
from ..agents import check_agent, default_parameters, describe, identity, make_agent
from ..agents.base import Agent, CompiledAgent
from ..agents.labels import label_of
from ..analysis.halving import RUNGS, Halving, Level, going_on
from ..arguments import check_accepts, num_workers
from ..errors import InvalidInput, Pointless, said, short
from ..progress import Bar
from ..protocol.evaluate import Player
from ..protocol.experiment import Experiment
from ..protocol.playing import Part
from ..results.result import Result, join
from ..results.score import Score
from ..values import COUNT, check
from .judging import scored

if TYPE_CHECKING:
    import polars

Range = Sequence[Any] | tuple[float, float]
"""Values to try, in a list; or the ends of an interval, a tuple."""

_GROWTH = 3  # each rung has so many times the MDPs of the last


@dataclass(frozen=True, eq=False, repr=False)
class Tuned:
    """The outcome of `brlbench.tune`."""

    agent: Agent
    """The chosen agent, not yet trained."""
    parameters: dict[str, Any]
    """The values that were chosen."""
    experiment: Experiment
    """The MDPs that chose, drawn from the prior with a seed of their own."""
    trace: "polars.DataFrame"
    """One row per candidate and rung: MDPs played, score, interval, whether it went on."""
    trajectories: int
    """The number of trajectories that all candidates played together."""

    def __repr__(self) -> str:
        number = self.trace["agent"].n_unique()
        return (
            f"Tuned({_label(self.agent)}: the best of {number} candidates on "
            f"{self.experiment.num_mdps} MDPs of {self.experiment.name} with seed "
            f"{self.experiment.seed}, {self.trajectories} trajectories in all)"
        )


def tune(
    agent: str | Agent | Callable[..., Agent],
    ranges: Mapping[str, Range],
    experiment: Experiment,
    budget: int,
    *,
    candidates: int = 27,
    seed: int = 0,
    workers: int | None = 1,
    progress: bool | None = None,
) -> Tuned:
    """Choose an agent's parameters on MDPs of the experiment's prior, never on its own MDPs.

    All candidates play the same MDPs, which are drawn from the prior for this purpose, with the
    experiment's horizon and discount. The best third plays three times as many, and so on; the last
    rung chooses. The choice depends on the arguments alone, not on `workers`.

    Args:
        agent: a name as for `make_agent`, a class, or an agent whose other parameters stay.
        ranges: by parameter, a list of values to try, or a tuple `(low, high)`, an interval from
            which values are drawn: whole numbers if both ends are.
        experiment: where the agent is to play afterwards.
        budget: how many trajectories all candidates may play together.
        candidates: how many candidates are drawn if there is an interval; else all combinations of
            the values are candidates.
        seed: another seed tunes on other MDPs, and draws other candidates.
        workers: the number of cores to use; None means all.
        progress: show a bar with the time left; by default in notebooks and terminals.
    """
    workers = num_workers(workers)
    budget, candidates = check(budget, "budget", COUNT), check(candidates, "candidates", COUNT)
    key = streams.key("tuning", experiment.hash, seed)
    choices = list(_choices(_checked(ranges), candidates, int(key[1])))
    made = _made(_maker(agent, ranges), choices, experiment)
    per_mdp = experiment.trajectories_per_mdp
    rungs = rungs_within(budget // per_mdp, len(made), f"budget = {budget}", per_mdp)
    drawn = {"seed": int(key[0] >> 12), "num_mdps": rungs[-1]}
    where = Experiment(experiment.prior, **(experiment.arguments() | drawn))
    name = f"tuning {label_of(describe(made[0][0])[0], {})} on {where.name}"
    with Bar(name, budget, "trajectories", progress) as bar:
        contest = _Contest(where, rungs, made, workers, bar)
        winner = contest.run()
    return Tuned(made[winner][0], made[winner][1], where, contest.trace(), int(bar.done))


def rungs_within(budget: int, number: int, named: str = "budget", per_mdp: int = 1) -> list[int]:
    """The numbers of MDPs after which candidates are left out, as large as a budget allows."""
    left = [number]
    while (following := going_on(left[-1], False)) > 1:
        left.append(following)
    sizes = [_GROWTH**i for i in range(len(left))]
    cost = sum(
        n * (size - before) for n, size, before in zip(left, sizes, [0, *sizes], strict=False)
    )
    first = budget // cost
    if first < RUNGS[0]:
        raise InvalidInput(
            f"{named}: must be at least {RUNGS[0] * cost * per_mdp} for {number} candidates, of "
            f"which each plays at least {RUNGS[0]} MDPs"
        )
    return [first * size for size in sizes]


class _Contest:
    """The candidates, and what they have played so far."""

    def __init__(
        self,
        experiment: Experiment,
        rungs: list[int],
        made: list[tuple[Agent, dict[str, Any]]],
        workers: int,
        bar: Bar,
    ) -> None:
        self.experiment, self.made, self.bar = experiment, made, bar
        everyone = list(range(len(made)))
        level = Level(everyone, [identity(agent) for agent, _ in made])
        self.halving = Halving([level], rungs[-1], rungs)
        self.halving.begin(0)
        bar.begin("training")
        self.players = {i: Player.ready(made[i][0], experiment, workers) for i in everyone}
        self.results: dict[int, list[Result]] = {i: [] for i in everyone}
        self.rows: list[dict[str, Any]] = []

    def run(self) -> int:
        """Play all rungs; return the best candidate."""
        before = 0
        for at in self.halving.rungs:
            per_mdp = self.experiment.trajectories_per_mdp
            part = Part(before * per_mdp, at * per_mdp)
            for i, player in self.players.items():
                self.results[i] += player.play(part, lambda each: self.bar.advance(each.size))
            self._choose(at)
            before = at
        [winner] = self.players
        return winner

    def _choose(self, at: int) -> None:
        playing = list(self.players)
        results = [join(self.results[i]) for i in playing]
        scores = scored(self.experiment, results, at)
        self.halving.choose(0, at, playing, [returns for returns, _ in scores])
        by_number = dict(zip(playing, scores, strict=True))
        for i in self.halving.ranking[0][: len(playing)]:
            goes_on, (returns, _) = i not in self.halving.dropped, by_number[i]
            mean, ci95 = Score.of(returns)
            agent, parameters = self.made[i]
            cells = {
                "agent": _label(agent),
                **parameters,
                "played": at,
                "score": mean,
                "ci95": ci95,
            }
            self.rows.append({**cells, "goes_on": goes_on})
            if not goes_on:
                del self.players[i]

    def trace(self) -> "polars.DataFrame":
        """All scores, rung by rung."""
        import polars

        return polars.DataFrame(self.rows, infer_schema_length=None, strict=False)


def _label(agent: Agent) -> str:
    return label_of(*describe(agent), defaults=default_parameters(agent))


def _checked(ranges: Mapping[str, Range]) -> dict[str, Range]:
    if not isinstance(ranges, Mapping) or not ranges:
        raise InvalidInput(f"ranges = {short(ranges)}: must be a table of lists by parameter")
    for name, values in ranges.items():
        is_interval = isinstance(values, tuple) and len(values) == 2 and values[0] < values[1]
        is_list = isinstance(values, Sequence) and not isinstance(values, str | tuple)
        if not is_interval and not (is_list and len(values)):
            raise InvalidInput(
                f"ranges: {name} = {short(values)}: must be a list of values, or a tuple of two "
                "numbers, (low, high)"
            )
    return dict(ranges)


def _choices(ranges: Mapping[str, Range], number: int, seed: int) -> Iterator[dict[str, Any]]:
    """The parameters of candidates: all combinations, or draws if there is an interval."""
    if not any(isinstance(values, tuple) for values in ranges.values()):
        for combination in itertools.product(*ranges.values()):
            yield dict(zip(ranges, combination, strict=True))
        return
    rng = streams.generator("candidates", seed)
    for _ in range(number):
        chosen: dict[str, Any] = {}
        for name, values in ranges.items():
            if not isinstance(values, tuple):
                chosen[name] = values[int(rng.integers(len(values)))]
            elif all(isinstance(end, int) for end in values):
                chosen[name] = int(rng.integers(values[0], values[1] + 1))
            else:
                drawn = float(f"{rng.uniform(*values):.3g}")  # rounded, for labels
                chosen[name] = min(max(drawn, values[0]), values[1])
        yield chosen


def _maker(agent: Any, ranges: Mapping[str, Range]) -> Callable[..., Agent]:
    """A function that makes an agent from the parameters that are tuned."""
    if isinstance(agent, str):
        return lambda **chosen: make_agent(agent, **chosen)
    fixed: dict[str, Any] = {}
    if not isinstance(agent, type) and hasattr(agent, "act"):
        fixed, agent = describe(agent)[1], type(agent)
    if not callable(agent):
        raise InvalidInput(f"agent = {short(agent)}: must be a name, a class, or an agent")
    if isinstance(agent, type):
        check_accepts(agent, ranges, agent.__name__)

    def make(**chosen: Any) -> Agent:
        try:
            made: Agent = agent(**{**fixed, **chosen})
        except InvalidInput:
            raise
        except Exception as error:  # a user's class can raise anything
            raise InvalidInput(f"{short(agent)} refuses {short(chosen)}: {said(error)}") from error
        check_agent(made)
        return made

    return make


def _made(
    make: Callable[..., Agent], choices: list[dict[str, Any]], experiment: Experiment
) -> list[tuple[Agent, dict[str, Any]]]:
    """Different candidates with their parameters; combinations without sense are left out."""
    made: dict[str, tuple[Agent, dict[str, Any]]] = {}
    reasons = set()
    for chosen in choices:
        try:
            agent = make(**chosen)
            if isinstance(agent, CompiledAgent):
                agent.check_prior(experiment.prior)
                agent.check_task(experiment.task)
        except Pointless as error:
            reasons.add(str(error))
            continue
        made.setdefault(identity(agent), (agent, chosen))
    if len(made) < 2:
        left_out = "".join(f" ({reason})" for reason in sorted(reasons))
        raise InvalidInput(f"ranges give {len(made)} candidates{left_out}: must give at least 2")
    return list(made.values())
