"""The rules that agents must keep, and their checks.

A rule that can't be judged, because another one is broken, is unknown. A flaw that changes no
result is doubtful.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..agents import AGENTS, describe, make_agent
from ..agents.base import CompiledAgent
from ..agents.parameters import declarations
from ..agents.registry import constructor_parameters
from ..arguments import counted, format_seconds
from ..errors import BrlbenchError, Pointless, reason, short
from ..protocol.evaluate import evaluate
from ..protocol.playing import Part
from ..protocol.stepping import copy_agent
from ..protocol.training import load, save
from ..storage.agents import pack_agent, unpack_agent
from .findings import BROKEN, DOUBTFUL, KEPT, UNKNOWN, Finding, Requirement, finding_of
from .odd_problems import odd_problems
from .sharing import fingerprint, shared
from .trial import Trial, first_difference, play_part, train_and_play

if TYPE_CHECKING:  # importing kernels takes long
    from ..kernels.loop.trajectory import Record

_SHORTEST_DEADLINE = 1_000_000  # nanoseconds
_LATE = 1.5  # times the deadline; a smaller excess may be the clock's fault
_FEW = 0.05  # the share of late decisions that a busy machine excuses


def plays(trial: Trial) -> Finding:
    """It is trained and plays: nothing may be raised, and every action must exist."""
    actions = trial.first.actions
    return Finding(KEPT, f"{counted(actions.size, 'decision')} in {counted(len(actions), 'MDP')}")


def has_visible_parameters(trial: Trial) -> Finding:
    """Results show all parameters of the constructor, which makes the same agent from them."""
    agent = trial.agent
    name, parameters = describe(agent)
    names = set(parameters)
    if isinstance(agent, CompiledAgent):  # they describe variants only, not the published form
        names |= declarations(agent).keys()
    hidden = [p.name for p in constructor_parameters(type(agent)) if p.name not in names]
    if hidden and not hasattr(agent, "parameters"):
        return Finding(
            BROKEN,
            f"its constructor takes {hidden[0]}, which results don't show",
            f"keep it as self.{hidden[0]}, or list what it stands for in self.parameters",
        )
    kind = type(agent)
    path = name if AGENTS.get(name) is kind else f"{kind.__module__}:{kind.__qualname__}"
    if "<" not in path:  # a class within a function has no path to import
        again = describe(make_agent(path, **parameters))
        if again != (name, parameters):
            return Finding(
                BROKEN,
                f"made from {short(parameters)}, it shows {again[0]} with {short(again[1])}",
                "keep parameters as they are given, and the name the same",
            )
    now = describe(trial.watched[0].inner)
    if now != (name, parameters):
        return Finding(
            BROKEN,
            f"it shows {short(parameters)} before it plays and {short(now[1])} afterwards",
            "leave parameters as they are given; use other attributes for what it learns",
        )
    text = ", ".join(f"{key}={short(value)}" for key, value in parameters.items())
    return Finding(KEPT, text or "it has none")


def _alike(difference: str, seen: str, problem: str, remedy: str) -> Finding:
    """Kept without a difference between two plays."""
    return finding_of([f"{problem} ({difference})"] if difference else [], seen, remedy)


def repeats(trial: Trial) -> Finding:
    """Two agents are trained and play with the same seed."""
    difference = first_difference(trial.first, trial.second)
    if not difference or trial.is_random is not False:
        return _alike(
            difference,
            "two agents with one seed play alike",
            "two agents with one seed play differently",
            "draw random numbers only from the generators that train and start are given; use no "
            "clock, and nothing that outlives an agent",
        )
    return _alike(
        "" if first_difference(trial.first, trial.backwards) else difference,
        "in new processes; in one process, MDPs are not independent",
        "trained a second time in one process, it plays differently",
        "let train replace all that it learned, also what class attributes and globals hold",
    )


def plays_independently(trial: Trial) -> Finding:
    """The MDPs are played together, then one by one, the last one first."""
    remedy = "keep what it learns in the object, not in class attributes, globals or files"
    if isinstance(trial.agent, CompiledAgent):
        remedy = "set back every array in reset"
    return _alike(
        first_difference(trial.first, trial.backwards),
        "MDPs played alone and backwards: all alike",
        "an MDP is played differently alone than after others",
        remedy,
    )


def needs_no_single_process(trial: Trial) -> Finding:
    """Two workers play what one has played."""
    result = evaluate(copy_agent(trial.agent), trial.experiment, workers=2, progress=False)
    paths = ("actions", "states", "rewards")
    rows = {name: getattr(result, name).reshape(len(trial.first.actions), -1) for name in paths}
    return _alike(
        first_difference(trial.first, trial.first._replace(**rows)),
        "two workers play like one",
        "two workers play differently than one",
        "use nothing that differs between processes: hash(), the order of sets, ids, files",
    )


def can_be_copied(trial: Trial) -> Finding:
    """A copy and the agent itself play an MDP; they may share nothing that playing changes."""
    if trial.copy_error:
        return Finding(BROKEN, trial.copy_error, "keep what can't be copied out of the object")
    common = shared(trial.trained.agent, copy_agent(trial.trained.agent))
    before = {name: fingerprint(thing) for name, thing in common.items()}
    play_part(trial.trained.agent, trial.experiment, Part(0, 1))
    remedy = "copy it in __deepcopy__, or leave __deepcopy__ out"
    for name, thing in common.items():
        if fingerprint(thing) != before[name]:
            return Finding(BROKEN, f"copies share {name}, which playing changes", remedy)
    if not first_difference(trial.first, trial.backwards):  # else copies need not play alike
        rows: Any = (array[:1] for array in trial.first)
        if difference := first_difference(type(trial.first)(*rows), trial.watched[1]):
            return Finding(BROKEN, *_not_itself(trial, difference))
    if common:
        seen = f"copies share {', '.join(common)}, which playing did not change here"
        return Finding(DOUBTFUL, seen, remedy)
    return Finding(KEPT, "a copy plays like the agent itself and shares nothing with it")


def _not_itself(trial: Trial, difference: str) -> tuple[str, str]:
    if isinstance(trial.agent, CompiledAgent):
        seen = f"step by step it plays differently than in the compiled loop ({difference})"
        return seen, "keep all that it remembers in arrays, and set them back in reset"
    seen = f"a copy plays differently than the agent itself ({difference})"
    return seen, "copy everything in __deepcopy__, or leave __deepcopy__ out"


def can_be_saved(trial: Trial) -> Finding:
    """The content that `save` returns goes to a file and back to `load`."""
    has = [name for name in ("save", "load") if hasattr(trial.agent, name)]
    if not has:
        return Finding(KEPT, "it has neither save nor load: each process trains it again")
    if len(has) == 1:
        [other] = {"save", "load"} - set(has)
        return Finding(
            BROKEN, f"it has {has[0]} but no {other}", f"add {other}, or leave {has[0]} out"
        )
    stored = pack_agent(save(trial.trained))
    loaded = load(unpack_agent(stored, "what it saved"))
    return _alike(
        first_difference(trial.first, play_part(loaded.agent, trial.experiment)),
        f"loaded from {len(stored):,} bytes, it plays alike",
        "saved and loaded, it plays differently",
        "save all that training makes, and take it over in load",
    )


def plays_odd_problems(trial: Trial) -> Finding:
    """One state, one action, unreachable states, Gaussian or negative rewards and more."""
    failed = {}
    problems, refused = odd_problems(), 0
    for name, experiment in problems.items():
        try:
            train_and_play(trial.agent, experiment)
        except Pointless:
            refused += 1
        except BrlbenchError as error:
            failed[name] = reason(error)
    if refused == len(problems):
        return Finding(UNKNOWN, "it refuses their priors")
    if not failed:
        return Finding(KEPT, f"{counted(len(problems), 'problem')}: {', '.join(problems)}")
    first, why = next(iter(failed.items()))
    return Finding(
        BROKEN,
        f"it can't play problems with {', '.join(failed)}; with {first}: {why}",
        "use num_states, num_actions and the counts of the prior that train is given",
    )


def changes_nothing_given(trial: Trial) -> Finding:
    """The prior and the task are compared with what they were, after every call."""
    changes = trial.watched[0].changed
    problems = [f"it changes {' and '.join(changes)}"] if changes else []
    return finding_of(problems, "the prior and the task are as before", "change a copy instead")


def draws_from_its_generator(trial: Trial) -> Finding:
    """The states of `random` and `numpy.random` are compared before and after every call."""
    used = trial.watched[0].uses_global
    if not used:
        return Finding(KEPT, "global random states are as before")
    places = " and ".join(f"{name} in {method}" for name, method in used.items())
    return Finding(
        DOUBTFUL,
        f"it uses {places}; results repeat only because brlbench seeds it",
        "draw from the generators that train and start are given",
    )


def keeps_deadlines(trial: Trial) -> Finding:
    """If it has `anytime = True`, it plays within half of the time that it usually takes.

    A busy machine makes decisions late, too: only those that compute for too long break the rule.
    """
    if not getattr(trial.agent, "anytime", False):
        return Finding(KEPT, "it promises none; anytime = True would")
    deadline = max(_SHORTEST_DEADLINE, _computing(trial.first) / 2)
    experiment = trial.experiment.replace(deadline=deadline * 1e-9)
    play = train_and_play(trial.agent, experiment)
    late = float((play.nanoseconds > deadline).mean())
    limit = format_seconds(deadline * 1e-9)
    seen = f"{late:.0%} of its decisions end after a deadline of {limit}"
    remedy = "look at the clock in act, and stop in time for observe"
    if _computing(play) > _LATE * deadline:
        usual = format_seconds(_computing(play) * 1e-9)
        return Finding(BROKEN, f"{seen}: they compute for {usual}", remedy)
    if late > _FEW:
        return Finding(DOUBTFUL, f"{seen}, because it waits or the machine is busy", remedy)
    return Finding(KEPT, seen)


def _computing(play: "Record") -> float:
    """Nanoseconds of processor time per decision, in the median trajectory."""
    return float(np.median(play.cpu_nanoseconds) / play.actions.shape[1])


_PLAYS = ("plays",)
_REPEATS = ("plays", "repeats")

RULES: dict[str, Requirement] = {
    "plays": Requirement("It plays: no errors, valid actions", plays),
    "parameters": Requirement("Its parameters are visible", has_visible_parameters, _PLAYS),
    "repeats": Requirement("One seed, one play", repeats, _PLAYS),
    "independent": Requirement("MDPs do not affect each other", plays_independently, _REPEATS),
    "copies": Requirement("Copies play alike and share nothing", can_be_copied, ("repeats",)),
    "saves": Requirement(
        "Saved and loaded, it plays alike", can_be_saved, (*_REPEATS, "parameters", "independent")
    ),
    "workers": Requirement(
        "The number of workers does not matter",
        needs_no_single_process,
        (*_REPEATS, "independent", "saves"),
    ),
    "odd problems": Requirement("It plays odd problems", plays_odd_problems, _PLAYS),
    "given": Requirement("It changes nothing that it is given", changes_nothing_given, _PLAYS),
    "random": Requirement(
        "Random numbers come from its generator", draws_from_its_generator, _PLAYS
    ),
    "deadlines": Requirement(
        "It keeps deadlines that it promises to keep", keeps_deadlines, _PLAYS
    ),
}
"""The rules by name, in the order in which they are checked."""
