"""Checks of distributions and priors that users write: whether their methods exist and agree.

A user's code can raise anything; then the rule is broken, and the finding says where.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..arguments import counted
from ..beliefs.base import Belief
from ..beliefs.own import OwnDistribution, check_mdp
from ..errors import BrlbenchError, InvalidInput, reason
from ..mdps.batch import MDPs
from ..mdps.mdp import MDP
from ..mdps.sparse import Floats, SparseTable
from ..streams import generator
from .findings import BROKEN, DOUBTFUL, KEPT, UNKNOWN, Finding, Requirement

_DRAWS = 400  # whose mean is compared with what is believed
_ERRORS = 6.0  # standard errors
_STEPS = 12  # transitions that a belief observes
_ROUNDING = 1e-6


class Subject:
    """A user's object under examination, and what it does."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.kind = type(source).__name__

    def own(self) -> OwnDistribution:
        """The object as a distribution; raises InvalidInput unless it is one."""
        return OwnDistribution(self.source, particles=1)

    def belief(self) -> Belief:
        """A new belief of the object."""
        return self.own().belief()

    def mean_of(self, belief: Belief) -> MDP:
        """The mean of a belief, checked for its size."""
        mean = belief.mean()
        check_mdp(mean, self.source, "mean()")
        return mean

    def transitions(self) -> Iterator[tuple[int, int, int, float]]:
        """Transitions of a drawn MDP under random actions."""
        rng = generator("check of a prior")
        mdp = self.own().sample(rng)
        state = int(rng.choice(mdp.num_states, p=mdp.start))
        dense, means = mdp.transitions.to_dense(), mdp.rewards.mean.to_dense()
        for _ in range(_STEPS):
            action = int(rng.integers(mdp.num_actions))
            following = int(rng.choice(mdp.num_states, p=dense[state, action]))
            deviation = float(np.sqrt(mdp.rewards.variance.to_dense()[state, action, following]))
            reward = float(rng.normal(means[state, action, following], deviation))
            if mdp.rewards.is_binary:
                reward = float(rng.random() < reward)
            yield state, action, following, reward
            state = following

    def teach(self, belief: Belief) -> None:
        """Let a belief learn from transitions and their start state."""
        transitions = list(self.transitions())
        belief.begin(transitions[0][0])
        for transition in transitions:
            belief.observe(*transition)


def draws_mdps(subject: Subject) -> Finding:
    """It has sizes and draws MDPs, the same ones from equal generators."""
    own = subject.own()
    sizes = f"{counted(own.num_states, 'state')}, {counted(own.num_actions, 'action')}"
    return Finding(KEPT, sizes)


def has_a_belief(subject: Subject) -> Finding:
    """Its belief has all methods, or there is none."""
    if not subject.own().has_belief:
        return Finding(UNKNOWN, "it has no belief(): agents are told draws of it")
    subject.belief()
    return Finding(KEPT, "all methods are there")


def mean_is_that_of_draws(subject: Subject) -> Finding:
    """The mean of a belief is that of its draws, before and after transitions."""
    belief = subject.belief()
    for moment in ("at first", "after transitions"):
        rng = generator("check of a mean", moment)
        drawn = []
        for _ in range(_DRAWS):
            mdp = belief.sample(rng)
            check_mdp(mdp, subject.source, "sample(rng) of its belief")
            drawn.append(mdp)
        difference = _difference(drawn, [subject.mean_of(belief)], _MEANS)
        if difference is not None:
            what, seen, said = difference
            return Finding(
                BROKEN,
                f"{moment}, mean() gives {said:.4g} {what}, the draws {seen:.4g}",
                "let mean() be the expectation of what sample(rng) draws",
            )
        subject.teach(belief)
    return Finding(KEPT, f"within {_ERRORS:g} standard errors of {_DRAWS} draws")


def belief_begins_at_the_distribution(subject: Subject) -> Finding:
    """Before the first transition, the belief is the distribution itself."""
    own, belief = subject.own(), subject.belief()
    rng = generator("check of a distribution")
    drawn = [own.sample(rng) for _ in range(_DRAWS)]
    difference = _difference(drawn, [subject.mean_of(belief)], _MEANS)
    if difference is None:
        believed = [belief.sample(rng) for _ in range(_DRAWS)]
        difference = _difference(drawn, believed, ("variance",))
    if difference is not None:
        what, seen, said = difference
        return Finding(
            DOUBTFUL,
            f"the belief gives {said:.4g} {what}, draws of the distribution {seen:.4g}",
            "let sample(rng) draw from what belief() believes at first, unless the prior is meant "
            "to be wrong",
        )
    return Finding(KEPT, f"within {_ERRORS:g} standard errors of {_DRAWS} draws")


def predictive_is_the_mean(subject: Subject) -> Finding:
    """`predictive` gives the probabilities and the expected reward of `mean`."""
    belief = subject.belief()
    for moment in ("at first", "after transitions"):
        mean = subject.mean_of(belief)
        rows, rewards = mean.transitions.to_dense(), mean.rewards.mean.to_dense()
        for x, u in np.ndindex(mean.num_states, mean.num_actions):
            probabilities, reward = belief.predictive(x, u)
            row = np.asarray(probabilities, np.float64)
            expected = float(rows[x, u] @ rewards[x, u])
            if row.shape != (mean.num_states,) or abs(float(row.sum()) - 1) > _ROUNDING:
                seen = f"predictive({x}, {u}) has {row.size} probabilities that sum to {row.sum()}"
                return Finding(BROKEN, seen, "return one per state; they must sum to 1")
            if np.abs(row - rows[x, u]).max() > _ROUNDING:
                what = f"{moment}, predictive({x}, {u})"
                seen = f"{what} is {row.tolist()}, mean() has {rows[x, u].tolist()}"
                return Finding(BROKEN, seen, "let both give the expected probabilities")
            if abs(float(reward) - expected) > _ROUNDING * max(1.0, abs(expected)):
                seen = f"{moment}, predictive({x}, {u}) expects {reward}, mean() {expected}"
                return Finding(BROKEN, seen, "let both give the expected reward")
        subject.teach(belief)
    return Finding(KEPT, "for all pairs, before and after transitions")


def observing_teaches(subject: Subject) -> Finding:
    """Transitions change what is believed, and only in the belief that observes them."""
    belief, other = subject.belief(), subject.belief()
    before, at_first = _knowledge(subject, belief), _knowledge(subject, other)
    subject.teach(belief)
    if _knowledge(subject, other) != at_first:
        remedy = "let belief() return a new object that shares nothing with others"
        return Finding(BROKEN, "what one belief observes changes another", remedy)
    if _knowledge(subject, belief) == before:
        seen = f"{_STEPS} transitions change neither mean() nor what is drawn"
        return Finding(DOUBTFUL, seen, "let observe learn, unless there is nothing to learn")
    return Finding(KEPT, f"{_STEPS} transitions")


def undo_restores(subject: Subject) -> Finding:
    """`undo` takes back all that was observed since the mark, exactly."""
    belief = subject.belief()
    transitions = list(subject.transitions())
    for number, transition in enumerate(transitions):
        before, mark = _knowledge(subject, belief), belief.mark()
        belief.begin(transition[0])
        for later in transitions[number : number + 3]:
            belief.observe(*later)
        belief.undo(mark)
        if _knowledge(subject, belief) != before:
            seen = f"after {number} transitions, undo(mark) leaves another mean or other draws"
            return Finding(BROKEN, seen, "keep what was believed at each mark, and go back to it")
        belief.observe(*transition)
    return Finding(KEPT, f"after each of {_STEPS} transitions")


def _knowledge(subject: Subject, belief: Belief) -> tuple[bytes, ...]:
    """All that a belief says, as bytes."""
    mdps = subject.mean_of(belief), belief.sample(generator("check of a belief"))
    return tuple(
        part
        for mdp in mdps
        for part in (mdp.transitions.content(), mdp.rewards.content(), mdp.start.tobytes())
    )


_MEANS = ("probability", "reward", "start")
"""Numbers of MDPs whose expectation is that of the mean MDP."""


def _numbers(mdps: MDPs, name: str) -> Floats:
    """Numbers of some MDPs: [n, E], or [n, S] for starts.

    Rewards and variances are times the transition's probability, as they are expected.
    """
    if name == "start":
        return np.broadcast_to(mdps.start, (len(mdps), mdps.places.num_states))
    if name == "probability":
        return mdps.probability
    return mdps.probability * (mdps.reward if name == "reward" else mdps.variance)


def _difference(
    drawn: list[MDP], others: list[MDP], names: tuple[str, ...]
) -> tuple[str, float, float] | None:
    """Numbers of draws that contradict the mean of others most: which, their mean, the others'."""
    mdps = MDPs.gather([*drawn, *others])
    for name in names:
        numbers, rest = np.split(_numbers(mdps, name), [len(drawn)])
        seen, said = numbers.mean(axis=0), rest.mean(axis=0)
        error = numbers.std(axis=0, ddof=1) / np.sqrt(len(numbers))
        excess = np.abs(seen - said) - _ERRORS * error
        place = int(excess.argmax())
        if excess[place] > _ROUNDING * max(1.0, float(np.abs(said).max())):
            return _words(name, place, mdps.places), float(seen[place]), float(said[place])
    return None


def _words(name: str, place: int, places: SparseTable) -> str:
    if name == "start":
        return f"to a start in state {place}"
    x, u = divmod(int(places.pair[place]), places.num_actions)
    to = f"to state {places.next_state[place]} after action {u} in state {x}"
    return to if name == "probability" else f"as the {name} {to}, times its probability"


def _rule(statement: str, check: Callable[[Subject], Finding], *needs: str) -> Requirement:
    return Requirement(statement, check, needs)


PRIOR_RULES = {
    "draws": _rule("it draws MDPs, by its generator alone", draws_mdps),
    "belief": _rule("its belief has all methods", has_a_belief, "draws"),
    "mean": _rule("mean is that of the belief's draws", mean_is_that_of_draws, "belief"),
    "begins": _rule("belief begins at the distribution", belief_begins_at_the_distribution, "mean"),
    "predictive": _rule("predictive agrees with mean", predictive_is_the_mean, "mean"),
    "observes": _rule("observe teaches one belief", observing_teaches, "mean"),
    "undo": _rule("undo restores what was believed", undo_restores, "mean"),
}
"""The rules for distributions, by name."""


def check_source(source: Any) -> dict[str, Finding]:
    """The findings on a user's distribution, by rule."""
    subject, findings = Subject(source), dict[str, Finding]()
    for name, rule in PRIOR_RULES.items():
        broken = [need for need in rule.needs if findings[need].verdict != KEPT]
        if broken:
            first = PRIOR_RULES[broken[0]].statement
            seen = f'can\'t be judged: look at "{first}" first'
            findings[name] = Finding(UNKNOWN, seen)
            continue
        try:
            findings[name] = rule.check(subject)
            if findings[name].verdict == UNKNOWN:  # no belief: there is no more to check
                break
        except InvalidInput as error:  # names the method
            findings[name] = Finding(BROKEN, str(error))
        except Exception as error:  # a user's code can raise anything
            remedy = "let it raise no error" if isinstance(error, BrlbenchError) else "mend it"
            findings[name] = Finding(BROKEN, f"{rule.statement}: {reason(error)}", remedy)
    return findings
