"""Notes on results: reasons to trust a comparison of them less."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..agents.labels import without_deadline
from ..arguments import counted
from ..results.display import FEW_PARTICLES, collapsed, is_overloaded
from ..results.schema import GLOBAL_NUMBERS
from ..results.summary import Summary

if TYPE_CHECKING:
    from .data import ExperimentData

# Notes are given above these:
_UNLIKE_SPEEDS = 1.5  # ratio of two machines' calibrations
_MANY_OVERRUNS = 0.01  # share of decisions past the deadline
_SHOWN = 3  # results that a note names in passing


@dataclass(frozen=True)
class Note:
    """A sentence, and the results that it is about."""

    text: str
    results: Sequence[str] = ()
    experiment: str | None = None  # None if it is about all of them

    def __str__(self) -> str:
        return self.naming(_SHOWN)

    @property
    def in_full(self) -> str:
        """The note with all results that it is about."""
        return self.naming(len(self.results))

    def naming(self, number: int) -> str:
        """The note with some of the results that it is about."""
        return f"{self.text}: {some(self.results, number)}" if self.results else self.text


def some(texts: Sequence[str], number: int = _SHOWN) -> str:
    """The first of some texts."""
    return ", ".join(texts[:number]) + (", …" if len(texts) > number else "")


def quality_notes(
    experiments: Sequence["ExperimentData"], shown: Sequence["ExperimentData"]
) -> list[Note]:
    """Notes on the times and on missing agents of the experiments that are shown, of all."""
    return [
        *_bound_notes(shown),
        *_stopping_notes(shown),
        *random_notes(shown),
        *_particle_notes(shown),
        *_machine_notes(shown),
        *_time_notes(shown),
        *_deadline_notes(shown),
        *_gaps(experiments, shown),
    ]


def _bound_notes(experiments: Sequence["ExperimentData"]) -> Iterator[Note]:
    """Notes on scores that no agent can have unless it knows the MDP."""
    for experiment in experiments:
        marked = filter(experiment.is_above, experiment.summaries)
        if above := [f"{each.label} ({each.score})" for each in marked]:
            yield Note(
                f"scores on {experiment.name} are more than chance above "
                f"{experiment.upper_bound:.2f}, the bound "
                "that no agent can pass: an agent may know the MDP, or have written its returns",
                above,
                experiment.name,
            )


def _stopping_notes(experiments: Sequence["ExperimentData"]) -> Iterator[Note]:
    """Notes on agents that played fewer MDPs, and why."""
    for experiment in experiments:
        stopped = [each for each in experiment.summaries if each.stopped is not None]
        if stopped:
            halved = sum(not each.is_candidate for each in stopped)
            left = f"; {halved} of them left by halving, and can't win" if halved else ""
            yield Note(
                f"{len(stopped)} of {counted(len(experiment.summaries), 'agent')} on "
                f"{experiment.name} stopped before they had played all {experiment.num_mdps} MDPs, "
                "and are compared "
                f"with others on the MDPs that both have played{left}",
                [f"{each.label} {each.stopped.reason}" for each in stopped if each.stopped],
                experiment.name,
            )


def _particle_notes(experiments: Sequence["ExperimentData"]) -> Iterator[Note]:
    """Notes on priors that are samples, of which hardly any draw fits what was observed."""
    for experiment in experiments:
        few = [
            f"{each.label} ({each.effective_hypotheses:.3g})"
            for each in experiment.summaries
            if collapsed(experiment.settings, each.effective_hypotheses, not each.is_own)
        ]
        if few:
            yield Note(
                f"of the {experiment.settings['particles']} particles that stand for the prior of "
                f"{experiment.name}, fewer than {FEW_PARTICLES:g} are left at the end of a "
                "trajectory, so agents believe too much too soon: use more particles",
                few,
                experiment.name,
            )


def random_notes(experiments: Sequence["ExperimentData"]) -> Iterator[Note]:
    """A note on agents that draw from global generators, which brlbench seeds for them."""
    names = [name for name, each in _named(experiments) if each.quantities.get(GLOBAL_NUMBERS)]
    if names:
        yield Note(
            "agents use random or numpy.random; results repeat only because brlbench seeds these: "
            "draw from the generators that train and start are given",
            names,
        )


def _machine_notes(experiments: Sequence["ExperimentData"]) -> Iterator[Note]:
    """Reasons to compare times with care."""
    described = [
        (name, machine)
        for name, summary in _named(experiments)
        for machine in summary.machine.get("machines", [summary.machine])
    ]
    kinds: dict[str, str] = {}  # one result for each
    for name, machine in described:
        kinds.setdefault(str(machine.get("processor")), name)
    speeds = sorted(
        (machine.get("calibration_microseconds", 0.0), name) for name, machine in described
    )
    if len(kinds) > 1:
        yield Note(
            "times come from different machines, so compare them with care",
            [f"{kind} ({name})" for kind, name in sorted(kinds.items())],
        )
    elif speeds and speeds[-1][0] > _UNLIKE_SPEEDS * speeds[0][0] > 0:
        (slow, slowest), (quick, quickest) = speeds[-1], speeds[0]
        yield Note(
            f"the speed of the machine varied by a factor of {slow / quick:.1f}, so compare times "
            "with care",
            [f"slowest during {slowest}", f"quickest during {quickest}"],
        )


_TIMES_OFF: dict[str, Callable[[Summary], bool]] = {
    "the machine was overloaded during {} results, so their wall times are too long (use fewer "
    "workers)": lambda summary: is_overloaded(summary.machine),
    "{} results were imported from the original library: their online times are wall time of a "
    "whole run, environment included, divided by its decisions, and too short if it ran in several "
    "threads": lambda summary: not summary.is_timed,
}
"""Notes on results whose times are wrong, each with the condition that a summary meets."""


def _time_notes(experiments: Sequence["ExperimentData"]) -> Iterator[Note]:
    named = list(_named(experiments))
    for text, is_off in _TIMES_OFF.items():
        names = [name for name, summary in named if is_off(summary)]
        if names:
            yield Note(text.format(f"{len(names)} of {len(named)}"), names)


def _deadline_notes(experiments: Sequence["ExperimentData"]) -> Iterator[Note]:
    """Notes on results under a deadline: not reproducible, and which agents missed it."""
    limited = [
        (name, summary.overruns)
        for name, summary in _named(experiments)
        if summary.overruns is not None
    ]
    if limited:
        yield Note(
            "results under a deadline depend on the machine's speed: they are not reproducible"
        )
    for name, overruns in limited:
        if overruns > _MANY_OVERRUNS:
            yield Note(f"{name}: {100 * overruns:.1f}% of its decisions missed the deadline")


def _gaps(
    experiments: Sequence["ExperimentData"], shown: Sequence["ExperimentData"]
) -> Iterator[Note]:
    """Notes on experiments in which some of the agents were not run."""
    names: dict[str, str] = {}
    for experiment in experiments:
        for summary in experiment.summaries:
            names.setdefault(_agent(summary), without_deadline(summary.label, summary.deadline))
    for experiment in shown:
        present = set(map(_agent, experiment.summaries))
        missing = [name for agent, name in names.items() if agent not in present]
        if missing:
            number = counted(len(names), "agent")
            yield Note(f"{experiment.name} lacks {len(missing)} of {number}", missing)


def _agent(summary: Summary) -> str:
    """Key of an agent, the same for all deadlines."""
    return without_deadline(summary.full_label, summary.deadline)


def _named(experiments: Sequence["ExperimentData"]) -> Iterable[tuple[str, Summary]]:
    """All results; their names say the experiment too if there are several."""
    for experiment in experiments:
        place = f" on {experiment.name}" if len(experiments) > 1 else ""
        for summary in experiment.summaries:
            yield summary.label + place, summary
