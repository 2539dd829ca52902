"""Checks whether an agent keeps the rules."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from ..agents import default_parameters, describe
from ..agents.base import Agent
from ..agents.labels import label_of
from ..arguments import format_seconds
from ..errors import BrlbenchError, InvalidInput, did_you_mean, reason
from ..protocol.experiment import Experiment
from ..results.times import decision_features
from . import findings as checks
from .findings import BROKEN, KEPT, UNKNOWN, WAITS, Finding
from .rules import RULES
from .trial import Trial

_NUM_MDPS, _HORIZON = 4, 25
_READ_ONLY = ("read-only", "FrozenInstanceError")  # in errors of agents that change arguments


class Examination:
    """Finds out whether one agent keeps the rules; each is checked once, when it is asked for."""

    def __init__(self, agent: Agent, experiment: Experiment | None = None) -> None:
        usual = Experiment("GC", num_mdps=_NUM_MDPS, horizon=_HORIZON)
        self.trial = Trial(agent, experiment or usual)
        self._findings: dict[str, Finding] = {}

    def __getitem__(self, rule: str) -> Finding:
        if rule not in RULES:
            raise InvalidInput(
                f"there is no rule {rule!r}{did_you_mean(rule, RULES)}: must be one of "
                f"{', '.join(RULES)}"
            )
        if rule not in self._findings:
            self._findings[rule] = self._check(rule)
        return self._findings[rule]

    def _check(self, rule: str) -> Finding:
        needs = RULES[rule].needs
        if self.trial.copy_error:  # an agent that can't be copied can't play
            needs = () if rule == "copies" else ("copies",)
        for other in needs:
            if self[other].verdict != KEPT:
                first = RULES[other].statement
                return Finding(UNKNOWN, f'{WAITS}: look at "{first}" first')
        try:
            return RULES[rule].check(self.trial)
        except BrlbenchError as error:
            seen = reason(error)
            remedy = "let it raise no error, and return valid actions"
            if any(text in seen for text in _READ_ONLY):
                remedy = "what it is given is read-only: change a copy instead"
            return Finding(BROKEN, seen, remedy)

    def seconds(self) -> dict[str, float]:
        """The times of training and of decisions: the median and the 95% quantile."""
        if self["plays"].verdict != KEPT:
            return {}
        online = decision_features(self.trial.first.nanoseconds)
        offline = self.trial.trained.training.seconds
        return {"offline": offline, "median": online["median"], "p95": online["p95"]}


@dataclass(frozen=True)
class Checked:
    """The findings on an agent, rule by rule."""

    agent: str
    """The agent's label."""
    findings: dict[str, Finding]
    """The findings by rule."""
    seconds: dict[str, float]
    """The time of training and of decisions: `offline`, `median`, `p95`."""

    @property
    def broken(self) -> list[str]:
        """The rules that the agent breaks."""
        return checks.names_with(BROKEN, self.findings)

    @property
    def times(self) -> str:
        """The times, in words."""
        if not self.seconds:
            return ""
        texts = {name: format_seconds(value) for name, value in self.seconds.items()}
        return (
            f"training takes {texts['offline']}; half of the decisions take less than "
            f"{texts['median']}, 95% less than {texts['p95']}"
        )

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {**asdict(self), "findings": checks.plain(self.findings), "broken": self.broken}

    def __str__(self) -> str:
        lines = [f"{self.agent}:", *checks.lines_of(self.findings)]
        return "\n".join(filter(None, [*lines, self.times and f"  {self.times}"]))


def check_rules(
    agent: Agent,
    experiment: Experiment | None = None,
    rules: Iterable[str] | None = None,
    on_rule: Callable[[str], None] = lambda rule: None,
) -> Checked:
    """Check whether an agent keeps the rules of the protocol.

    It is trained and played several times, in this process and in two others.

    Args:
        agent: an untrained agent: any object with the methods of `Agent`.
        experiment: where it is played; by default four MDPs of GC, 25 decisions each.
        rules: which rules to check; all by default.
        on_rule: called with each rule that is checked next.
    """
    exam = Examination(agent, experiment)
    label = label_of(*describe(agent), defaults=default_parameters(agent))
    findings = {}
    for rule in RULES if rules is None else rules:
        on_rule(rule)
        findings[rule] = exam[rule]
    return Checked(label, findings, exam.seconds())
