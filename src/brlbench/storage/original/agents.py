"""The agent files of the original library: names, parameters and training times.

Parameters have this package's names. The models that agents learned are not read.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ...agents.labels import label_of
from ...errors import short
from ...results.summary import ORIGINAL
from .lines import Lines

Parameters = dict[str, Any]


class OriginalAgent(NamedTuple):
    """An agent of the original library."""

    name: str  # as the library shows it
    algorithm: str
    parameters: Parameters
    seconds: float  # of wall time, for training
    provenance: dict[str, str] | None = None  # the name and the digest of its file


def parse_agent(lines: Lines) -> OriginalAgent:
    """Read an agent."""
    lines.header("Serializable", 0)
    lines.header("IAgent", 1)
    name = lines.text("the agent's name")
    lines.header("Agent", 1)
    seconds = lines.number("the offline time, in milliseconds") / 1000
    kind = lines.text("the agent's class")
    if kind not in _KINDS:
        raise lines.damage(f"is {short(kind)}, must be an agent: {', '.join(_KINDS)}")
    algorithm, parse = _KINDS[kind]
    lines.whole("the number of its values")
    parameters = parse(lines)
    if "rate" in parameters:  # the first rate of a network, which only its name keeps
        parameters["rate"] = name.split(", ")[1] if ", " in name else None
    if algorithm == "optimal":  # a reference here and there, so under one name
        return OriginalAgent(name, algorithm, {"library": ORIGINAL.rstrip(":")}, seconds)
    return OriginalAgent(name, ORIGINAL + algorithm, parameters, seconds)


def _plain(**kinds: type) -> Callable[[Lines], Parameters]:
    """A reader of parameters that are one number each, in this order."""

    def parse(lines: Lines) -> Parameters:
        return {
            name: lines.whole(name) if kind is int else _whole_if_possible(lines.number(name))
            for name, kind in kinds.items()
        }

    return parse


def _whole_if_possible(number: float) -> float | int:
    return int(number) if number.is_integer() and number < 1e15 else number


def _inner(lines: Lines, what: str) -> OriginalAgent | None:
    """An agent within another; None if there is none."""
    if not lines.whole(f"whether there is {what}"):
        return None
    lines.text(f"the class of {what}")
    return parse_agent(lines.block(what))


def _label(agent: OriginalAgent | None) -> str | None:
    return agent and label_of(agent.algorithm.removeprefix(ORIGINAL), agent.parameters, defaults={})


def _formula(lines: Lines) -> Parameters:
    """The formula in reverse Polish notation, with its variables' names for X0, X1 and so on."""
    formula = lines.text("the formula")
    for _ in range(lines.whole("the number of names")):  # trained agents have none
        lines.text("the name of a variable")
    names = {f"X{i}": name for i, name in _variables(lines).items()}
    return {"formula": " ".join(names.get(word, word) for word in formula.split(" "))}


def _variables(lines: Lines) -> dict[int, str]:
    """The classes of an agent's variables, by number; those that it does not use are missing."""
    names = {}
    for i in range(lines.whole("the number of variables")):
        if lines.whole("whether there is a variable"):
            names[i] = lines.text("the class of a variable")
            lines.block("a variable")
    return names


def _random_mix(lines: Lines) -> Parameters:
    epsilon = _whole_if_possible(lines.number("epsilon"))
    return {"epsilon": epsilon, "base": _label(_inner(lines, "the base agent"))}


def _opps_ds(lines: Lines) -> Parameters:
    """The search for a formula and its outcome; trained agents forget the other formulas."""
    chosen = _inner(lines, "the chosen agent")
    parameters = _plain(draws=int, exploration=float)(lines)
    return {**parameters, "chosen": chosen and chosen.parameters.get("formula")}


def _opps_cs(lines: Lines) -> Parameters:
    chosen = _inner(lines, "the chosen agent")
    parameters = _plain(evaluations=int, K=int, k=int, greatest_depth=int, delta=float)(lines)
    return {
        "strategy": lines.text("the class of strategies"),
        **parameters,
        "chosen": _label(chosen),
    }


def _ann(lines: Lines) -> Parameters:
    _variables(lines)
    teacher = _label(_inner(lines, "the base agent"))
    mdps = lines.whole("the number of MDPs")
    lines.number("the discount")
    lines.whole("the horizon")
    lines.text("the name of the model's file")
    lines.header("ANNAgent", 7)
    layers = range(lines.whole("the number of hidden layers"))
    hidden = [str(lines.whole("the size of a layer")) for _ in layers]
    lines.number("the last learning rate")
    falling = bool(lines.whole("whether the learning rate falls"))
    lines.whole("the most epochs")
    patience = lines.whole("the number of epochs without an improvement")
    return {
        "hidden": "-".join(hidden),
        "rate": None,
        "falling": falling,
        "patience": patience,
        "mdps": mdps,
        "teacher": teacher,
    }


_KINDS: dict[str, tuple[str, Callable[[Lines], Parameters]]] = {
    "RandomAgent": ("random", _plain()),
    "OptimalAgent": ("optimal", _plain()),
    "EAgent": ("random-mix", _random_mix),
    "EGreedyAgent": ("epsilon-greedy", _plain(epsilon=float)),
    "SoftMaxAgent": ("soft-max", _plain(tau=float)),
    "VDBEEGreedyAgent": ("vdbe", _plain(sigma=float, delta=float, initial_epsilon=float)),
    "FormulaAgent": ("formula", _formula),
    "BAMCPAgent": ("bamcp", _plain(simulations=int, depth=int)),
    "BFS3Agent": ("bfs3", _plain(simulations=int, branching=int, depth=int)),
    "SBOSSAgent": ("sboss", _plain(epsilon=float, delta=float)),
    "BEBAgent": ("beb", _plain(beta=float)),
    "OPPSDSAgent": ("opps-ds", _opps_ds),
    "OPPSCSAgent": ("opps-cs", _opps_cs),
    "SLAgent": ("ann", _ann),
}
