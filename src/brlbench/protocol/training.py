"""Train agents; save and load trained ones.

Training depends only on the prior, the task, the seed and the agent.
"""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple, cast

from .. import streams
from ..agents import AGENTS, check_agent, describe, identity, make_agent
from ..agents.base import Agent, CompiledAgent, OnProgress, Task
from ..beliefs.base import Family
from ..beliefs.copying import private_copy
from ..errors import InvalidInput, StoreError
from ..memory import bounded
from ..processes import own_nanoseconds
from .experiment import Experiment
from .footprint import Meter, return_free_memory
from .isolation import is_users, isolated, seed_globals
from .playing import Part, play_compiled


class Training(NamedTuple):
    """Time and memory of an agent's offline phase."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int | None = None  # None: not known


class TrainedAgent(NamedTuple):
    """A trained agent, with the prior, task and seed of its training."""

    agent: Agent
    prior: Family
    task: Task
    seed: int
    training: Training


@dataclass(frozen=True, eq=False)
class SavedAgent:
    """A trained agent as plain data."""

    agent: str  # a name in the registry, or "module:Class"
    parameters: dict[str, Any]
    saved: dict[str, Any] | None  # None: the agent can't save itself
    prior: Family
    task: Task
    seed: int
    training: Training
    source: str = "the trained agent"  # a file's name, for errors


def check_plays(trained: TrainedAgent | SavedAgent, experiment: Experiment) -> None:
    """Raise unless an agent was trained for an experiment."""
    if trained.prior.digest != experiment.prior.digest:
        raise InvalidInput(
            f"the agent was trained on another prior ({trained.prior.name or 'unnamed'}) than the "
            f"experiment's ({experiment.prior.name or 'unnamed'}): train it on that one"
        )
    if trained.task != experiment.task:
        raise InvalidInput(
            f"the agent was trained for {trained.task}, the experiment has {experiment.task}: "
            "train it with the same discount, horizon, deadline and episode"
        )


def train(agent: Agent, prior: Family, task: Task, seed: int) -> TrainedAgent:
    """The offline phase: its time and memory are measured, without those of compilation."""
    check_agent(agent)
    if isinstance(agent, CompiledAgent):
        agent.check_prior(prior)
        agent.check_task(task)
    episode = () if task.episode is None else (task.episode,)
    names = ("train", prior.digest, task.discount, task.horizon, *episode, seed, identity(agent))
    told: Any = prior
    seconds = cpu_seconds = 0.0
    if isinstance(agent, CompiledAgent):
        told = prior.for_kernels()
        seconds, cpu_seconds = prior.told_seconds  # as if it had been made for this agent alone
    arguments = (told, task)
    if is_users(agent):  # which may change its arguments
        arguments = private_copy(told), private_copy(task)
    meter = Meter()
    with isolated(agent) as visit:
        if isinstance(agent, CompiledAgent):
            with visit.blaming("while it was compiled"):
                warm_up(agent, prior, task)
        return_free_memory()
        seed_globals(streams.key(*names))
        # Users' agents may reserve more than they use.
        memory = bounded() if isinstance(agent, CompiledAgent) else nullcontext()
        with meter.measuring():
            wall, processor = perf_counter(), own_nanoseconds()
            with visit.blaming("while training"), memory:
                agent.train(*arguments, streams.generator(*names))
            seconds += perf_counter() - wall
            cpu_seconds += 1e-9 * (own_nanoseconds() - processor)
    training = Training(seconds, cpu_seconds, meter.peak_bytes)
    return TrainedAgent(agent, prior, task, seed, training)


def train_new(
    algorithm: str,
    parameters: dict[str, Any],
    prior: str | Family,
    discount: float,
    horizon: int | None,
    seed: int,
    on_progress: OnProgress | None = None,
    episode: int | None = None,
) -> TrainedAgent:
    """Make an agent and train it; a long search reports its progress to `on_progress`."""
    agent = make_agent(algorithm, **parameters)
    if on_progress is not None:
        agent = with_progress(agent, on_progress)
    # The experiment only checks its arguments: its MDP is never drawn.
    checked = Experiment(
        prior, num_mdps=1, discount=discount, horizon=horizon, seed=seed, episode=episode
    )
    return train(agent, checked.prior, checked.task, seed)


def with_progress(agent: Agent, on_progress: OnProgress) -> Agent:
    """A copy that reports the progress of its training; the agent itself if it can't report any."""
    method = getattr(agent, "with_progress", None)
    return agent if method is None else cast(Agent, method(on_progress))


def save(trained: TrainedAgent) -> SavedAgent:
    """A trained agent as plain data, with the value of its method `save` if it has one."""
    agent = trained.agent
    algorithm, parameters = describe(agent)
    kind = type(agent)
    method = getattr(agent, "save", None)
    with isolated(agent) as visit, visit.blaming("while saving"):
        saved = private_copy(method()) if method else None
    is_built_in = AGENTS.get(algorithm) is kind
    name = algorithm if is_built_in else f"{kind.__module__}:{kind.__qualname__}"
    return SavedAgent(**{**trained._asdict(), "agent": name}, parameters=parameters, saved=saved)


def load(saved: SavedAgent) -> TrainedAgent:
    """Restore a trained agent; one that can't save itself is retrained from the same stream."""
    try:
        agent = make_agent(saved.agent, **saved.parameters)
    except InvalidInput as error:
        raise InvalidInput(f"{saved.source}: {error}") from None
    if saved.saved is None:
        train(agent, saved.prior, saved.task, saved.seed)
    else:
        load_into(agent, saved.saved)
        _check_loaded(agent, saved)
    return TrainedAgent(agent, saved.prior, saved.task, saved.seed, saved.training)


def _check_loaded(agent: Agent, saved: SavedAgent) -> None:
    """Raise if a built-in agent's arrays are for another problem than its file says."""
    trained_for = agent.trained_for() if isinstance(agent, CompiledAgent) else None
    if trained_for is None:
        return
    prior, task = trained_for
    same_task = replace(task, deadline=saved.task.deadline) == saved.task
    if prior.digest != saved.prior.for_kernels().digest or not same_task:
        raise StoreError(f"{saved.source} is damaged: it was saved for another prior or task")


def load_into(agent: Any, saved: dict[str, Any]) -> None:
    """Load the saved state of a trained agent into an untrained one."""
    with isolated(agent) as visit, visit.blaming("while loading"):
        agent.load(private_copy(saved))


_warm: set[object] = set()


def warm_up(agent: CompiledAgent, prior: Family, task: Task) -> None:
    """Compile the code that an agent runs on a prior, by training and playing a tiny problem."""
    tiny = agent.tiny(prior, task)
    episode = None if task.episode is None else 1
    key = agent.code(), tiny.digest, episode
    if key in _warm:
        return
    experiment = Experiment(tiny, num_mdps=1, discount=0.5, horizon=2, episode=episode)
    small = agent.small()
    small.train(private_copy(tiny), experiment.task, streams.generator("warm-up"))
    play_compiled(small, experiment, Part(0, 1))
    _warm.add(key)
