"""The experiment files of the original library, and its result files, which are played experiments.

Both hold the MDPs, the discount and the horizon; a result also has the rewards of all decisions,
with states and actions if they were saved, and one wall time for all of them. Neither names the
distribution that MDPs were drawn from, the prior, or the agent.
"""

from typing import NamedTuple

import numpy as np

from ...beliefs.flat import FlatDirichlet
from ...errors import InvalidInput, StoreError
from ...mdps.sparse import Floats, Integers
from ...problems.formats.original import Numbers, parse_numbers
from ...protocol.experiment import Experiment
from ..experiments import check_probabilities
from .lines import Lines, damaged

_VALUES = 8  # of an experiment, besides its MDPs and trajectories
_REWARD_DIGITS = 1e-12  # files have 15 digits


class Record(NamedTuple):
    """The record of a result: N MDPs, K trajectories per MDP, T decisions each."""

    rewards: Floats  # [N, K, T]
    states: Integers | None  # [N, K, T + 1]; None unless trajectories were saved
    actions: Integers | None  # [N, K, T]
    seconds: float  # of wall time, for all trajectories together


class Run(NamedTuple):
    """An experiment file; `record` is None if no agent has played it."""

    name: str
    mdps: list[Numbers]
    trajectories_per_mdp: int
    discount: float
    horizon: int
    record: Record | None


def parse_run(lines: Lines) -> Run:
    """Read an experiment or a result."""
    lines.header("Serializable", 0)
    announced = lines.header("IExperiment")
    name = lines.text("the experiment's name")
    num_mdps = lines.whole("the number of MDPs", least=1)
    mdps = [_parse_mdp(lines.block(f"MDP {i}")) for i in range(num_mdps)]
    per_mdp = lines.whole("the number of simulations per MDP", least=1)
    seconds = lines.number("the time elapsed, in milliseconds") / 1000
    lines.whole("whether trajectories are saved")
    records = [
        _parse_record(lines.block(f"trajectory {i}"))
        for i in range(lines.whole("the number of trajectories"))
    ]
    if announced != (number := _VALUES + num_mdps + len(records)):
        why = f"it announces {announced} values, must be {number} for its MDPs and trajectories"
        raise damaged(lines.source, why)
    rewards = [
        lines.rows(lines.whole("the number of rewards"), 1, f"rewards of trajectory {i}")
        for i in range(lines.whole("the number of lists of rewards"))
    ]
    lines.whole("the number of the next MDP")
    lines.header("Experiment", 3)
    discount = lines.number("the discount")
    horizon = lines.whole("the horizon", least=1)
    lines.whole("whether simulations are safe")
    lines.end()
    run = Run(name, mdps, per_mdp, discount, horizon, None)
    return run._replace(record=_joined(run, records or rewards, seconds, lines.source))


def _parse_mdp(lines: Lines) -> Numbers:
    lines.header("Serializable", 0)
    lines.header("IMDP", 1)
    lines.text("the MDP's name")
    announced = lines.header("MDP")
    return parse_numbers(lines.words(), str(announced), lines.source)


def _parse_record(lines: Lines) -> Floats:
    """The transitions [T, 4] of a trajectory: state, action, next state, reward."""
    if lines.is_empty:  # it was not played
        return np.zeros((0, 4))
    lines.header("Serializable", 0)
    announced = lines.header("SimulationRecord")
    lines.number("the discount")
    number = lines.whole("the number of transitions")
    if announced != 2 + 4 * number:
        raise lines.damage(f"is {number}, which does not fit the {announced} values announced")
    rows = lines.rows(number, 4, "transitions")
    lines.end()
    return rows


def _joined(run: Run, trajectories: list[Floats], seconds: float, source: str) -> Record | None:
    """The record of all trajectories [T, 4], or of rewards [T, 1]; None if all are empty."""
    num_mdps, per_mdp, horizon = len(run.mdps), run.trajectories_per_mdp, run.horizon
    lengths, number = [len(rows) for rows in trajectories], num_mdps * per_mdp
    if not any(lengths):
        return None
    if len(lengths) != number or not {*lengths} <= {0, horizon}:
        raise damaged(source, f"it must have {number} trajectories of {horizon} decisions")
    if 0 in lengths:
        raise StoreError(
            f"{source} is unfinished, {number - lengths.count(0)} of {number} trajectories were "
            "played: let the original library play the rest, then import it"
        )
    rows = np.stack(trajectories).reshape(num_mdps, per_mdp, horizon, -1)
    rewards = np.ascontiguousarray(rows[..., -1])
    if rows.shape[-1] == 1:
        return Record(rewards, None, None, seconds)
    return Record(rewards, *_path(rows, run, source), seconds)


def _path(rows: Floats, run: Run, source: str) -> tuple[Integers, Integers]:
    """The states [N, K, T + 1] and actions [N, K, T] of transitions [N, K, T, 4]."""
    num_states, num_actions, _ = run.mdps[0].weights.shape
    path = rows[..., :3]
    ends = [num_states, num_actions, num_states]
    is_sound = (path == np.floor(path)).all() and (path >= 0).all() and (path < ends).all()
    if not is_sound or (path[..., 1:, 0] != path[..., :-1, 2]).any():
        raise damaged(source, "its trajectories have states or actions that no MDP leads to")
    whole = path.astype(np.int64)
    states = np.concatenate([whole[..., 0], whole[..., -1:, 2]], axis=-1)
    return states, np.ascontiguousarray(whole[..., 1])


def experiment_of(
    run: Run, prior: FlatDirichlet, test: FlatDirichlet, source: str, origin: str
) -> Experiment:
    """The experiment of a file, with the distributions that the file does not name."""
    for i, mdp in enumerate(run.mdps):
        _check_fit(mdp, test, f"{source}: MDP {i}")
    states, actions = np.divmod(test.counts.pair, test.num_actions)
    mdps = np.array([mdp.weights[states, actions, test.counts.next_state] for mdp in run.mdps])
    try:
        check_probabilities(mdps, test.counts.row_start)
        return Experiment(
            prior,
            test,
            num_mdps=len(mdps),
            discount=run.discount,
            horizon=run.horizon,
            trajectories_per_mdp=run.trajectories_per_mdp,
            mdps=mdps,
            origin=origin,
        )
    except InvalidInput as error:
        raise InvalidInput(f"{source}: {error}") from None
    except ValueError as error:
        raise damaged(source, str(error)) from None


def _check_fit(mdp: Numbers, test: FlatDirichlet, which: str) -> None:
    """Raise unless a distribution can draw an MDP."""
    remedy = "give the distribution that it was drawn from, with --test"
    name, shape = test.name or "the test distribution", test.counts.shape
    if mdp.weights.shape != shape:
        raise InvalidInput(
            f"{which} has {len(mdp.weights)} states and {mdp.weights.shape[1]} actions, {name} "
            f"{shape[0]} and {shape[1]}: {remedy}"
        )
    possible = test.counts.to_dense() > 0
    impossible = np.argwhere((mdp.weights > 0) & ~possible)
    if len(impossible):
        state, action, next_state = impossible[0].tolist()
        raise InvalidInput(
            f"{which} can go from state {state} with action {action} to state {next_state}, which "
            f"{name} excludes: {remedy}"
        )
    variances = np.zeros(shape) if mdp.variances is None else mdp.variances
    rewards, start = test.rewards, mdp.start_states()
    if not isinstance(start, np.ndarray):  # the only state; all are 0 if the MDP has no such state
        start = np.asarray(np.arange(test.num_states) == start, dtype=np.float64)
    for what, one, other in (
        ("rewards", mdp.means[possible], rewards.mean.to_dense()[possible]),
        ("reward variances", variances[possible], rewards.variance.to_dense()[possible]),
        ("start", start, test.start),
    ):
        if not np.allclose(one, other, rtol=_REWARD_DIGITS, atol=0):
            raise InvalidInput(f"{which} has other {what} than {name}: {remedy}")
