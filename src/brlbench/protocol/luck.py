"""The luck of trajectories, and its expectation.

The benchmark knows every drawn MDP exactly, so it can tell luck from skill; `adjusted` takes the
luck out of scores. Three baselines measure it (see `kernels.luck`): the optimal policy, random
actions, and the optimal policy of the prior's mean MDP.

The noise of a trajectory has mean zero. The baselines' values at the start of a trajectory have a
mean that is estimated from many MDPs, once per problem: the frozen sets' is shipped, others are
cached.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import streams
from ..arguments import num_cores
from ..beliefs.own import OwnDistribution
from ..errors import StoreError
from ..files import atomic_write, cache_folder, parse_json, read_bytes
from ..mdps.mdp import last_q_values
from ..mdps.sparse import Floats, Integers
from ..problems import frozen
from ..results.adjusted import LEAST_MDPS, StartValues
from ..results.schema import NUM_BASELINES
from ..schemas import parse_table
from .experiment import DRAWN, Experiment

if TYPE_CHECKING:  # importing kernels takes long
    from ..kernels.loop.trajectory import Record
    from ..kernels.luck import Baselines

SHIPPED = Path(frozen.__file__).parent / "start-values.json"
_RANDOM = 1  # the place of random actions among the baselines of `kernels.luck`
_CUT = 1e-3  # discount from which on values no longer depend on the decisions left
_MOST_WORK = 500_000  # transitions times layers, above which values cost too much
_TIE = 1e-9  # of the largest value: actions this close to the best are best
_MDPS = 200_000  # that expectations come from, unless fewer give the same precision
_FEWEST_MDPS = 20_000
_MDPS_PER_MDP = 400
_FEWEST_OWN_MDPS = 2_000  # of a user's distribution
_OWN_MDPS_PER_MDP = 20
_MDPS_AT_ONCE = 2_000
_WORK_IN_ALL = 2e10  # transitions times layers, about a minute

OnDrawn = Callable[[int, int], None]
"""Called with the number of MDPs drawn since the last call, and with their number in all."""


def num_baselines(experiment: Experiment) -> int:
    """The number of baselines that measure luck: 0 if exact values would cost too much."""
    return NUM_BASELINES if _work(experiment) <= _MOST_WORK else 0


def can_adjust(experiment: Experiment) -> bool:
    """True if results of an experiment have adjusted scores.

    Their MDPs must come from the test distribution, or no expectation of luck would be theirs.
    """
    comes_from_test = experiment.origin in (DRAWN, *frozen.HASHES)
    return comes_from_test and experiment.num_mdps >= LEAST_MDPS and num_baselines(experiment) > 0


def measure_luck(record: "Record", experiment: Experiment, trajectories: range) -> None:
    """Fill in the luck of some consecutive trajectories."""
    from ..builders import model
    from ..kernels import luck

    if record.noise.shape[1] > 0:
        mdps, places = experiment.mdps_of(trajectories)
        environment, tables = model.build_environment(mdps), model.build_tables(mdps)
        luck.measure(environment, _baselines(experiment), tables, places, record)


_known: dict[str, StartValues] = {}


def start_values_key(experiment: Experiment) -> str:
    """A digest of all that expected start values depend on, but for their precision."""
    names = (experiment.prior.digest, experiment.test.digest)
    episode = [] if experiment.episode is None else [experiment.episode]
    text = json.dumps([*names, experiment.discount, experiment.horizon, *episode])
    return hashlib.sha256(text.encode() + greedy_policy(experiment).tobytes()).hexdigest()


def known_start_values(experiment: Experiment) -> StartValues | None:
    """The expected start values if they are shipped, or this process has computed them.

    Shipped values are always used, whatever their precision, so that everyone uses the same.
    """
    shipped = _shipped().get(start_values_key(experiment))
    return shipped or _known.get(_estimate_key(experiment))


def remember_start_values(experiment: Experiment, values: StartValues) -> None:
    """Use these expected start values from now on in this process."""
    _known[_estimate_key(experiment)] = values


def find_start_values(experiment: Experiment, on_drawn: OnDrawn | None = None) -> StartValues:
    """The expected start values; estimated, which can take a minute, unless they are cached."""
    values, name = known_start_values(experiment), _estimate_key(experiment)
    if values is not None:
        return values
    folder = cache_folder("start-values")
    path = folder and folder / f"{name}.json"
    if path is not None:
        with suppress(StoreError, ValueError):  # absent or damaged: estimated again
            values = parse_table(StartValues, parse_json(read_bytes(path)))
    if values is None:
        values = estimate_start_values(experiment, enough_mdps(experiment), on_drawn)
        if path is not None:
            with suppress(StoreError):  # no room: estimated again the next time
                atomic_write(path, json.dumps(vars(values)).encode(), overwrite=True)
    _known[name] = values
    return values


def _estimate_key(experiment: Experiment) -> str:
    """The key of an estimate: its precision counts, or scores would depend on earlier runs."""
    return f"{start_values_key(experiment)}-{enough_mdps(experiment)}"


@cache
def _shipped() -> dict[str, StartValues]:
    return parse_table(dict[str, StartValues], parse_json(SHIPPED.read_bytes()))


def random_score(settings: Mapping[str, Any]) -> float | None:
    """The expected return of random actions in an experiment; None unless it is shipped.

    It is their start value, so it holds for MDPs of the test distribution, whatever the prior.
    """
    if settings.get("origin") not in (DRAWN, *frozen.HASHES):
        return None
    names = ("test_digest", "discount", "horizon", "episode")
    return _random_scores().get(tuple(settings.get(name) for name in names))


@cache
def _random_scores() -> dict[tuple[Any, ...], float]:
    """By digest of the test distribution, discount, horizon and episode."""
    names = ("test_digest", "discount", "horizon", "episode")
    return {
        tuple(entry.get(name) for name in names): entry["mean"][_RANDOM]
        for entry in parse_json(SHIPPED.read_bytes()).values()
    }


def estimate_start_values(
    experiment: Experiment, number: int, on_drawn: OnDrawn | None = None
) -> StartValues:
    """Estimate the expected start values from a number of MDPs that no experiment plays."""
    sizes = [min(_MDPS_AT_ONCE, number - first) for first in range(0, number, _MDPS_AT_ONCE)]
    values = []
    # A user's code may not be made for threads.
    workers = 1 if isinstance(experiment.test, OwnDistribution) else num_cores()
    with ThreadPoolExecutor(workers) as executor:
        for part in executor.map(lambda i: _draw(experiment, i, sizes[i]), range(len(sizes))):
            values.append(part)
            if on_drawn is not None:
                on_drawn(len(part), number)
    drawn = np.concatenate(values)
    covariance = np.cov(drawn, rowvar=False) / number
    return StartValues(drawn.mean(axis=0).tolist(), covariance.tolist(), number)


def enough_mdps(experiment: Experiment) -> int:
    """The number of MDPs for expectations much more precise than the experiment's mean."""
    if isinstance(experiment.test, OwnDistribution):  # code of a user, which may be slow
        return max(_FEWEST_OWN_MDPS, min(_FEWEST_MDPS, _OWN_MDPS_PER_MDP * experiment.num_mdps))
    affordable = int(_WORK_IN_ALL / _work(experiment))
    return max(_FEWEST_MDPS, min(_MDPS, _MDPS_PER_MDP * experiment.num_mdps, affordable))


def _draw(experiment: Experiment, part: int, size: int) -> Floats:
    """The start values [size, F] in some MDPs."""
    from ..builders import model
    from ..kernels import luck

    rng = streams.generator("start values", experiment.test.digest, part)
    values = np.empty((size, NUM_BASELINES))
    mdps = experiment.test.draw([rng] * size)
    luck.start_values(
        model.build_environment(mdps), _baselines(experiment), model.build_tables(mdps), values
    )
    return values


def _baselines(experiment: Experiment) -> "Baselines":
    from ..kernels.luck import Baselines

    shape = (NUM_BASELINES, _num_layers(experiment) + 1, experiment.test.num_states)
    return Baselines(
        discount=experiment.discount,
        episode=experiment.episode or experiment.horizon,
        horizon=experiment.horizon,
        greedy=greedy_policy(experiment),
        value=np.zeros(shape),
    )


def _work(experiment: Experiment) -> int:
    """The cost of solving one MDP: possible transitions times layers."""
    return int(experiment.test.num_transitions) * _num_layers(experiment)


def _num_layers(experiment: Experiment) -> int:
    decisions = experiment.episode or experiment.horizon
    if experiment.discount == 1:
        return decisions
    return min(decisions, math.ceil(math.log(_CUT) / math.log(experiment.discount)))


@lru_cache(maxsize=8)
def greedy_policy(experiment: Experiment) -> Integers:
    """The first best action [S] of each state in the prior's mean MDP."""
    mean = experiment.prior.mean()
    table, layers = mean.transitions, _num_layers(experiment)
    rewards = mean.rewards.mean.at(table)
    q = last_q_values(table, table.values[None], rewards, experiment.discount, layers)[0]
    least = q.max(axis=1, keepdims=True) - _TIE * np.abs(q).max()
    return np.asarray((q >= least).argmax(axis=1))
