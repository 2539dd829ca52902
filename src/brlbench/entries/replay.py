"""Plays agents of an entry again, on some MDPs, and compares the returns.

Built-in agents are played always; those of users only if the caller names their class, since
playing runs their code. Each plays in a supervised process. MDPs and the order of claims are drawn
with a seed that nobody knows before, so that nobody knows which returns are compared.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..agents import AGENTS, describe, make_agent
from ..agents.base import is_told
from ..arguments import counted, format_seconds
from ..errors import BrlbenchError, InvalidInput, reason
from ..executors.base import Call, Died, Done, Limits, Notify
from ..executors.child import TOOK_LONG, Child
from ..protocol.evaluate import evaluate
from ..protocol.playing import Part, play
from ..protocol.recording import discounted
from ..protocol.training import train
from ..storage import frozen_set
from ..testing.findings import KEPT, UNKNOWN, Finding, finding_of
from .content import names_file
from .submission import Claim, Submission

_COMPILING = 300.0  # seconds that a process may need before it trains
_FUNCTION = f"{__name__}:play_again"

OnReplay = Callable[[str, int, int], None]
"""Progress callback(next claim, number done, total)."""


class Replay(NamedTuple):
    """The returns of one claim, played again."""

    claim: Claim
    mdps: list[int]
    returns: list[float]
    adjusted: list[float]  # adjusted returns if all MDPs were played, else empty


class Replays(NamedTuple):
    """The replays of an entry."""

    done: list[Replay]
    failures: list[str]
    omissions: dict[str, str]  # by claim: the reason why it was not played
    seed: int


def replay_claims(
    submission: Submission,
    agents: Mapping[str, str],
    number: int,
    seconds: float,
    seed: int,
    on_replay: OnReplay = lambda name, done, total: None,
) -> Replays:
    """Play each agent on a number of MDPs again, in random order, while there is time.

    Agents that are not built in are given as "module:Class" by algorithm.
    """
    rng, end = np.random.default_rng(seed), time.monotonic() + seconds
    replays = Replays([], [], {}, seed)
    with Child() as child:
        for done, i in enumerate(order := rng.permutation(len(submission.claims))):
            claim = submission.claims[i]
            on_replay(str(claim), done, len(order))
            mdps = rng.permutation(len(claim.summary.returns))[:number].tolist()
            left = end - time.monotonic()
            obstacle = _obstacle(claim, agents) if number else "not asked for"
            if obstacle := obstacle or _shorten(claim, mdps, left):
                replays.omissions[str(claim)] = obstacle
                continue
            summary = claim.summary
            argument = {
                "agent": agents.get(summary.algorithm, summary.algorithm),
                "algorithm": summary.algorithm,
                "parameters": summary.parameters,
                "set": claim.set_name,
                "num_mdps": len(summary.returns),
                "mdps": mdps,
                "is_reference": summary.is_reference,
            }
            limits = Limits(seconds=left, total=left, preparation=_COMPILING)
            outcome = child.perform(
                Call(_FUNCTION, argument, limits, agents.get(summary.algorithm))
            )
            if isinstance(outcome, Done):
                replays.done.append(Replay(claim, mdps, **outcome.value))
            elif isinstance(outcome, Died):
                replays.omissions[str(claim)] = outcome.reason
            elif outcome.reason.startswith(TOOK_LONG):
                replays.omissions[str(claim)] = "--within was over"
            else:
                replays.failures.append(f"{claim}: {outcome.reason}")
    return replays


def _obstacle(claim: Claim, agents: Mapping[str, str]) -> str:
    """The obstacle to playing an agent again; empty if there is none."""
    summary = claim.summary
    if summary.deadline is not None:
        return "the clock decided when it stopped"
    if summary.algorithm not in AGENTS and summary.algorithm not in agents:
        return "it is not built in: name its class with --agent to run its code"
    if summary.algorithm in AGENTS and names_file(summary):
        return "its formulas are in a file that is not here"
    return ""


def _shorten(claim: Claim, mdps: list[int], left: float) -> str:
    """Drop MDPs until the claimed times fit, down to one; the obstacle if one takes too long."""
    seconds = claim.summary.seconds
    while (expected := seconds["offline"] + len(mdps) * seconds["total"]) > left and len(mdps) > 1:
        del mdps[len(mdps) // 2 :]
    if expected <= left:
        return ""
    return f"one MDP would take {format_seconds(expected, digits=2)}, more than --within allows"


def play_again(argument: Any, notify: Notify) -> dict[str, list[float]]:
    """In the child process: make and train an agent, and play some MDPs of a set."""
    agent = make_agent(argument["agent"], **argument["parameters"])
    name = describe(agent)[0]
    if name != argument["algorithm"]:
        raise InvalidInput(f"{argument['agent']} makes {name}, not {argument['algorithm']}")
    if is_told(agent) and not argument["is_reference"]:
        raise InvalidInput(f"{name} is told the MDP, and the entry does not say so")
    experiment, mdps = frozen_set(argument["set"], argument["num_mdps"]), argument["mdps"]
    if len(mdps) == experiment.num_mdps:
        result = evaluate(agent, experiment, progress=False)
        adjusted = result.adjusted.returns[mdps].tolist() if result.can_be_adjusted else []
        return {"returns": result.returns[mdps].tolist(), "adjusted": adjusted}
    train(agent, experiment.prior, experiment.task, experiment.seed)
    notify("trained")
    per_mdp = experiment.trajectories_per_mdp
    parts = [Part(mdp * per_mdp, (mdp + 1) * per_mdp) for mdp in mdps]
    records = [play(agent, experiment, part) for part in parts]
    discount = experiment.discount
    returns = [float(discounted(record.rewards, discount).mean()) for record in records]
    return {"returns": returns, "adjusted": []}


def has_same_returns(submission: Submission, replays: Replays) -> Finding:
    """Agents that are played again have the same returns, in MDPs that are drawn now."""
    problems = [*filter(None, map(_difference, replays.done)), *replays.failures]
    number = sum(len(each.mdps) for each in replays.done)
    seen = (
        f"{counted(number, 'return')} of {len(replays.done)} of "
        f"{counted(len(submission.claims), 'result')}, the same (seed {replays.seed})"
    )
    if problems:
        machines = [claim.summary.machine for claim in submission.claims]
        versions = {str(each.get("versions", {}).get("brlbench")) for each in machines}
        listed = " or ".join(sorted(versions))
        remedy = f"play it again with this version, or check it with brlbench {listed}"
        return finding_of(problems, "", f"{remedy}, which played it")
    missing = submission.algorithms - {each.claim.summary.algorithm for each in replays.done}
    if not missing:
        return Finding(KEPT, seen)
    first = next(
        f"{name}: {why}"
        for name, why in replays.omissions.items()
        if name.startswith(tuple(missing))
    )
    start = f"{seen}; not played" if replays.done else "nothing was played"
    return Finding(UNKNOWN, f"{start}: {first}")


def _difference(replay: Replay) -> str:
    """The difference between a replay and its claim; empty if there is none."""
    mdps, summary = np.array(replay.mdps), replay.claim.summary
    compared = [("return", summary.returns[mdps], replay.returns, 1e-9)]
    if replay.adjusted and summary.adjusted is not None:
        stored = summary.adjusted.returns[mdps]
        compared.append(("adjusted return", stored, replay.adjusted, 1e-6))
    for name, claimed, now, tolerance in compared:
        differs = ~np.isclose(claimed, now, rtol=tolerance, atol=tolerance)
        if differs.any():
            first = int(np.argmax(differs))
            return (
                f"{replay.claim}, MDP {mdps[first]}: the {name} is {now[first]:.6g}, and "
                f"{claimed[first]:.6g} in the entry ({differs.sum()} of "
                f"{counted(len(mdps), 'MDP')} differ)"
            )
    return ""


def classes_by_algorithm(submission: Submission, paths: Sequence[str]) -> dict[str, str]:
    """The classes that a user names, by algorithm; an error if the entry lacks such an agent."""
    classes: dict[str, str] = {}
    for path in paths:
        errors = []
        for claim in submission.claims:
            summary = claim.summary
            if summary.algorithm in AGENTS or summary.algorithm in classes:
                continue
            try:
                if describe(make_agent(path, **summary.parameters))[0] == summary.algorithm:
                    classes[summary.algorithm] = path
            except BrlbenchError as error:
                errors.append(reason(error))
        if path not in classes.values():
            names = sorted(submission.algorithms - AGENTS.keys())
            listed = ", ".join(names) or "only built-in agents"
            no_agent = f"agent = {path!r}: the entry has no such agent: it has {listed}"
            raise InvalidInput(errors[0] if errors else no_agent)
    return classes
