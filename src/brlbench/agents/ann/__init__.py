"""Imitation of a teacher by a neural network (Castronovo et al., 2017).

Offline, MDPs are drawn from the prior. In MDP i of m, a guide that knows it plays optimally but
takes a random action with probability i / (m - 1). Each step becomes a sample: what the network
will see there, and what the teacher would do. A small network learns this. Online, the agent takes
the action with the largest output; ties are broken at random.

- Inputs: the Q-values of the posterior's mean MDP at the present state, solved exactly.
- Labels: 1 for the teacher's action, -1 for the others. If the teacher acts at random, its action
  is the one that it happens to take.
- Weights: discount^t at step t, scaled to mean 1.
- Half of the MDPs are for learning, a quarter for validation, and a quarter for the test.
- Every patience / 5 epochs the error on the validation part is taken, a mean of squares by weight.
  If it is more than 1e-3 below the least one so far, the network is kept. Otherwise the rate falls
  to a tenth. Training ends after `patience` epochs without an improvement.

Beyond the paper: other `features`; `labels = "advantage"`, the teacher's Q-values less that of the
best action; and `rounds` of DAgger (Ross et al., 2011), in which the trained agent is the guide on
as many fresh MDPs and a new network learns from all samples so far. Its test is on the last
round's samples alone: these are from states that an agent like it visits.

Where this differs from the original library:

- Samples are split before equal inputs are merged, so that no MDP is in two parts. A merged sample
  has the mean of the labels, by weight, and the sum of the weights. The library means to take means
  of both, but a division of integers spoils them.
- A sample of weight w is learned from w times per epoch, rounded at random, instead of once with
  steps w times as long: merged samples can weigh thousands, and such steps would overshoot. So
  an epoch has as many steps as the learning part's trajectories.
- Inputs are standardised with the samples' weights, and equal if they agree to nine decimals then.
- Steps that weigh less than a millionth of the first one are left out.
- Units are tanh(x), not tanh(x / 2). Weights begin uniform and small (Glorot and Bengio, 2010), not
  by Widrow and Nguyen's rule. With advantages, which have no bounds, outputs are linear, and labels
  are scaled to a mean square of 1.
- The library allows five checks without an improvement, counting the best one.

Training is compiled: stochastic gradient descent, one sample at a time, with back-propagation. At
this batch size it is far faster than libraries that train in NumPy, and needs none of them.
"""

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from ...arguments import parse_parameters
from ...errors import InvalidInput, Pointless, did_you_mean
from ...formulas import FEATURES as MODELS
from ...memory import check_memory
from ...values import COUNT, INDEX, LAYERS, POSITIVE, text, whole, words
from ..base import Arrays, CompiledAgent, Family, Generator, Task, parameter
from ..policy_search import PolicySearch

FEATURES = (*MODELS, "visits", "time")
WITH_VALUES = "optimal epsilon-greedy soft-max vdbe beb bolt vbrb mbie-eb bonus eubrl".split()
"""The agents that have Q-values, and can teach advantages."""

_TEACHER = r"([\w-]+)(?:\((.*)\))?"
_COPIES = 4  # of all samples, while a network is trained


def parse_features(text: str) -> tuple[str, ...]:
    """The features that a text names, in one order."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in FEATURES:
            raise InvalidInput(
                f"ann: features = {text!r}: unknown feature {name!r}"
                f"{did_you_mean(name, FEATURES)}: must be some of {', '.join(FEATURES)}, separated "
                "by commas"
            )
    return tuple(feature for feature in FEATURES if feature in names)


def make_teacher(text: str) -> CompiledAgent:
    """The agent that a text names: `bamcp`, or `bamcp(simulations=100, depth=10)`."""
    from ..registry import built_in, make_agent

    match = re.fullmatch(_TEACHER, text.strip())
    if not match:
        raise InvalidInput(
            f"ann: teacher = {text!r}: must be a built-in agent, with parameters as in "
            "bamcp(depth=10)"
        )
    name, inner = match[1], match[2] or ""
    try:
        built_in(name)
        parameters = parse_parameters(filter(None, re.split(r",\s*(?=\w+\s*=)", inner)))
        teacher = make_agent(name, **parameters)
    except InvalidInput as error:
        raise InvalidInput(f"ann: teacher = {text!r}: {error}") from None
    assert isinstance(teacher, CompiledAgent)
    return teacher


@dataclass
class Ann(PolicySearch):
    """Imitates a teacher, by a neural network trained offline on MDPs of the prior."""

    name = "ann"
    reference = "Castronovo et al., 2017"
    needs = ("draws", "mean")
    quick = {"hidden": "3", "patience": 2, "mdps": 8}
    hidden: str = parameter("10", "units of each hidden layer", LAYERS)
    rate: float = parameter(0.001, "learning rate", POSITIVE)
    decay: str = parameter(
        "constant", '"root": divide the rate by the root of the epoch', words("constant", "root")
    )
    patience: int = parameter(10, "epochs without an improvement that end training", COUNT)
    mdps: int = parameter(500, "MDPs to learn from, per round", whole(4))
    teacher: str = parameter(
        "optimal",
        "whom to imitate",
        text("an agent, with parameters as in bamcp(depth=10)", make_teacher),
    )
    features: str = parameter(
        "Qmean",
        "what the network sees",
        text(f"some of {', '.join(FEATURES)}, separated by commas", parse_features),
    )
    labels: str = parameter("action", "what the network learns", words("action", "advantage"))
    rounds: int = parameter(0, "further rounds, in states that the agent visits", INDEX)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.features = ",".join(parse_features(self.features))  # one text for the same agent
        teacher = make_teacher(self.teacher)
        if self.labels == "advantage" and teacher.name not in WITH_VALUES:
            raise Pointless(
                f'ann: labels = "advantage": {teacher.name} has no Q-values: teacher must be one '
                f'of {", ".join(WITH_VALUES)}, or labels "action"'
            )

    def code(self) -> object:
        """This class, the teacher's and the kind of labels."""
        return type(self), make_teacher(self.teacher).code(), self.labels

    def needed(self) -> frozenset[str]:
        """The needs of the network and of the teacher."""
        return frozenset(self.needs) | make_teacher(self.teacher).needed()

    def tiny(self, prior: Family, task: Task) -> Family:
        """The teacher's tiny problem."""
        return make_teacher(self.teacher).tiny(prior, task)

    def small(self) -> Self:
        """A quick agent with the same teacher; further rounds need no other code."""
        return replace(super().small(), rounds=0)

    def build_player(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Build the arrays that play the trained network."""
        names = ("weights", "center", "gain")
        return build_agent(self, prior, task, *(self.outcome[name] for name in names))

    def search(self, prior: Family, task: Task, rng: Generator) -> dict[str, Any]:
        """Make samples and train a network on them, once per round."""
        from .fitting import Fit, Schedule, fit
        from .samples import Parts, joined

        school, sizes = self._school(prior, task, rng), self.sizes(prior)
        schedule = Schedule(self.rate, self.decay == "root", self.patience)
        guide: Any = school.build_guide(self.mdps, rng)
        parts: Parts | None = None
        fits: list[Fit] = []
        for done in range(self.rounds + 1):
            visited = school.visit(guide, self.mdps, rng, partial(self._tell_visits, done))
            parts = visited if parts is None else joined(parts, visited)
            fits.append(fit(sizes, parts, self.bounded, schedule, rng))
            self.tell((done + 1) * self.mdps, (self.rounds + 1) * self.mdps)
            guide = build_agent(self, prior, school.task, fits[-1].weights, *fits[-1].standard)
        return _outcome(fits)

    def _school(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Inputs for sample generation, with the trained teacher."""
        from .fitting import num_weights
        from .samples import School

        task = Task(task.discount, task.horizon)  # nobody hurries while training
        sizes = self.sizes(prior)
        inputs = int(sizes[0])
        observer = build_agent(
            self, prior, task, np.zeros(num_weights(sizes)), np.zeros(inputs), np.ones(inputs)
        )
        teacher = make_teacher(self.teacher)
        school = School(
            prior, task, observer, teacher.prepare(prior, task, rng), self.labels == "advantage"
        )
        steps = school.steps * self.mdps * (self.rounds + 1)
        check_memory(
            steps * 8 * _COPIES * (inputs + prior.num_actions + 2),
            f"ann: mdps = {self.mdps}: {steps:,} samples",
            "use fewer MDPs, rounds or features, or a shorter horizon",
        )
        return school

    def _tell_visits(self, done: int, mdps: int) -> None:
        """Report the MDPs of a round; the last one counts once the network is trained."""
        visited = done * self.mdps + min(mdps, self.mdps - 1)
        self.tell(visited, (self.rounds + 1) * self.mdps)

    @property
    def bounded(self) -> bool:
        """Whether outputs and labels are between -1 and 1."""
        return self.labels == "action"

    def sizes(self, prior: Family) -> Any:
        """The number of inputs and of each layer's units."""
        actions = prior.num_actions
        inputs = sum(1 if f == "time" else actions for f in parse_features(self.features))
        return np.array([inputs, *map(int, self.hidden.split("-")), actions])


def build_agent(agent: Ann, prior: Family, task: Task, weights: Any, center: Any, gain: Any) -> Any:
    """The arrays of an agent with this network."""
    from ...builders.model import copy
    from ..formula import build_models
    from . import kernel as kernels
    from .fitting import build_network, num_weights

    sizes, features = agent.sizes(prior), parse_features(agent.features)
    for array, size in ((weights, num_weights(sizes)), (center, sizes[0]), (gain, sizes[0])):
        if array.shape != (size,) or array.dtype != np.float64:
            raise InvalidInput("ann: what was saved is not of this network: train it again")
    # There is at least one model, because it has the counts; it costs little if it is not needed.
    models, slots = build_models(prior, task, tuple(f for f in features if f in MODELS))
    kinds = {"visits": kernels.VISITS, "time": kernels.TIME, **slots}
    return agent.make_arrays(
        kernels.Ann,
        models=copy(models),
        initial=models,
        visits=np.zeros(prior.num_states * prior.num_actions, np.int64),
        steps=np.zeros(1, np.int64),
        horizon=task.horizon,
        features=np.array([kinds[feature] for feature in features]),
        center=center,
        gain=gain,
        network=build_network(sizes, weights, agent.bounded),
    )


def _outcome(fits: list[Any]) -> dict[str, Any]:
    """The last network, and the learning curves of all rounds."""
    last = fits[-1]
    return {
        "weights": last.weights,
        "center": last.standard.center,
        "gain": last.standard.gain,
        "test_error": np.array([fit.test_error for fit in fits]),
        "test_loss": np.array([fit.test_loss for fit in fits]),
        "round": np.repeat(np.arange(len(fits)), [len(fit.curve.epoch) for fit in fits]),
        **{
            name: np.concatenate([getattr(fit.curve, name) for fit in fits])
            for name in last.curve._fields
        },
    }
