"""Plays agents of an entry again, on some MDPs.

Built-in agents are played always; those of others only if the user names their class, since playing
means to run their code. Each plays in a supervised process. MDPs and the order of results are drawn
with a seed that nobody knows before, so that nobody knows which returns are looked at.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..agents import AGENTS, describe, make_agent
from ..agents.base import Agent
from ..arguments import format_seconds
from ..errors import BrlbenchError, InvalidInput, reason
from ..executors.base import Died, Done, Limits, Notify
from ..executors.child import TOOK_LONG, Child
from ..protocol.evaluate import evaluate
from ..protocol.experiment import Experiment
from ..protocol.playing import Part, play
from ..protocol.totals import returns_of
from ..protocol.training import Training, train
from ..storage import frozen_set
from .content import names_file
from .opened import Opened, Played
from .times import ABSURD, speed_of

_COMPILING = 300.0  # seconds that a process may need before it trains
_LEAST_LIMIT = 20.0  # seconds; what should take less may be slow by chance
_BRIEF = 2.0  # seconds; a first time this short may mostly be spent on imports
_FUNCTION = f"{__name__}:play_again"

OnReplay = Callable[[str, int, int], None]
"""Called with what is played next, how many results are done, and how many there are."""


class Replayed(NamedTuple):
    """An agent that was played again."""

    played: Played
    mdps: list[int]
    returns: list[float]
    adjusted: list[float]
    """Adjusted returns, if all MDPs were played; else empty."""
    offline: float
    decision: float
    """Seconds per decision in the MDP where decisions were quickest."""


class Replay(NamedTuple):
    """What came of playing again."""

    done: list[Replayed]
    failed: list[str]
    slow: list[str]
    """What takes absurdly longer than the entry says."""
    left_out: dict[str, str]
    """Why results were not played, by result."""
    seed: int


def replay_some(
    opened: Opened,
    agents: Mapping[str, str],
    number: int,
    seconds: float,
    seed: int,
    on_replay: OnReplay = lambda name, done, total: None,
) -> Replay:
    """Play each agent on some MDPs again, one after the other in random order, while there is time.

    Args:
        opened: the entry.
        agents: the classes of agents that are not built in, as "module:Class" by algorithm.
        number: how many MDPs to play of each result.
        seconds: how long all may take.
        seed: the seed of the choice.
        on_replay: told what is played next.
    """
    rng, end = np.random.default_rng(seed), time.monotonic() + seconds
    found = Replay([], [], [], {}, seed)
    if number == 0:
        return found._replace(left_out={str(each): "not asked for" for each in opened.results})
    with Child() as child:
        for done, i in enumerate(order := rng.permutation(len(opened.results))):
            played = opened.results[i]
            on_replay(str(played), done, len(order))
            mdps = rng.permutation(len(played.summary.returns))[:number].tolist()
            left = end - time.monotonic()
            why = _why_not(played, agents) or _too_long(played, mdps, left)
            if why:
                found.left_out[str(played)] = why
                continue
            _play(child, played, agents, mdps, min(left, _limit(played, mdps)), found)
    return found


def _why_not(played: Played, agents: Mapping[str, str]) -> str:
    """Why an agent can't be played again; empty if it can."""
    summary = played.summary
    if summary.deadline is not None:
        return "the clock decided when it stopped"
    if summary.algorithm not in AGENTS and summary.algorithm not in agents:
        return "it is not built in: name its class with --agent to run its code"
    if summary.algorithm in AGENTS and names_file(played):
        return "its formulas are in a file that is not here"
    return ""


def _too_long(played: Played, mdps: list[int], left: float) -> str:
    """Why there is no time; takes MDPs from the list until there is, down to one."""
    while len(mdps) > 1 and _expected(played, mdps) > left:
        del mdps[len(mdps) // 2 :]
    expected = _expected(played, mdps)
    if expected <= left:
        return ""
    return f"one MDP would take {format_seconds(expected, digits=2)}, more than --within allows"


def _expected(played: Played, mdps: Sequence[int]) -> float:
    """How long a replay takes here, by the times in the entry."""
    seconds = played.summary.seconds
    return float((seconds["offline"] + len(mdps) * seconds["total"]) / speed_of(played))


def _limit(played: Played, mdps: Sequence[int]) -> float:
    """How long a replay may take, before the times in the entry are absurd."""
    return max(_LEAST_LIMIT, 1.2 * ABSURD * _expected(played, mdps))


def _play(
    child: Child,
    played: Played,
    agents: Mapping[str, str],
    mdps: list[int],
    limit: float,
    found: Replay,
) -> None:
    summary = played.summary
    argument = {
        "agent": agents.get(summary.algorithm, summary.algorithm),
        "algorithm": summary.algorithm,
        "parameters": summary.parameters,
        "set": played.set_name,
        "num_mdps": len(summary.returns),
        "mdps": mdps,
    }
    limits = Limits(seconds=limit, total=limit, preparation=_COMPILING)
    outcome = child.perform(_FUNCTION, argument, limits, guest=summary.algorithm)
    if isinstance(outcome, Done):
        found.done.append(Replayed(played, mdps, **outcome.value))
    elif isinstance(outcome, Died):
        found.left_out[str(played)] = outcome.reason
    elif not outcome.reason.startswith(TOOK_LONG):
        found.failed.append(f"{played}: {outcome.reason}")
    elif limit < _limit(played, mdps):
        found.left_out[str(played)] = "--within was over"
    else:
        found.slow.append(
            f"{played} took more than {format_seconds(limit)} here, where "
            f"{format_seconds(_expected(played, mdps))} are to be expected"
        )


def play_again(argument: Any, notify: Notify) -> dict[str, Any]:
    """What a process does: make and train an agent, and play some MDPs of a set."""
    agent = make_agent(argument["agent"], **argument["parameters"])
    name = describe(agent)[0]
    if name != argument["algorithm"]:
        raise InvalidInput(f"{argument['agent']} makes {name}, not {argument['algorithm']}")
    experiment = frozen_set(argument["set"], argument["num_mdps"])
    training = _train(agent, experiment)
    notify("trained")
    offline = training.seconds
    if len(argument["mdps"]) == experiment.num_mdps:
        result = evaluate(agent, experiment, training=training, progress=False)
        ordered = np.array(argument["mdps"])
        seconds = result.decision_seconds.mean(axis=1).min()
        adjusted = result.adjusted.returns[ordered].tolist() if result.can_be_adjusted else []
        return _told(result.returns[ordered].tolist(), adjusted, offline, seconds)
    returns: list[float] = []
    times: list[float] = []
    each = experiment.trajectories_per_mdp
    for mdp in argument["mdps"]:
        part = Part(mdp * each, (mdp + 1) * each)
        record = play(agent, experiment, part)
        if not returns and record.nanoseconds.sum() * 1e-9 < _BRIEF:
            record = play(agent, experiment, part)
        returns.append(float(returns_of(record, experiment).mean()))
        times.append(float(record.nanoseconds.mean()) * 1e-9)
    return _told(returns, [], offline, min(times))


def _train(agent: Agent, experiment: Experiment) -> Training:
    """Train an agent, twice if that is brief; the time is the shorter one."""
    task = (experiment.prior, experiment.task, experiment.seed)
    first = train(agent, *task).training
    if first.seconds > _BRIEF:
        return first
    return min(first, train(agent, *task).training, key=lambda each: each.seconds)


def _told(
    returns: list[float], adjusted: list[float], offline: float, decision: float
) -> dict[str, Any]:
    return {
        "returns": returns, "adjusted": adjusted, "offline": offline, "decision": float(decision)
    }  # fmt: skip


def classes_of(opened: Opened, paths: Sequence[str]) -> dict[str, str]:
    """The classes that a user names, by algorithm; an error if one is of no agent of the entry."""
    found: dict[str, str] = {}
    for path in paths:
        errors = []
        for played in opened.results:
            summary = played.summary
            if summary.algorithm in AGENTS or summary.algorithm in found:
                continue
            try:
                if describe(make_agent(path, **summary.parameters))[0] == summary.algorithm:
                    found[summary.algorithm] = path
            except BrlbenchError as error:
                errors.append(reason(error))
        if path not in found.values():
            raise InvalidInput(errors[0] if errors else f"agent = {path!r}: {_no_agent(opened)}")
    return found


def _no_agent(opened: Opened) -> str:
    names = {each.summary.algorithm for each in opened.results if each.summary.is_own}
    own = ", ".join(sorted(names)) or "only built-in agents"
    return f"the entry has no such agent: it has {own}"
