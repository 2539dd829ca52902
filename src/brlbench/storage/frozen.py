"""Loads frozen benchmark sets, and recognises them."""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import InvalidInput, StoreError, short
from ..mdps.batch import MDPs
from ..mdps.sparse import Floats, Integers
from ..problems.frozen import HASHES, LARGE_HASHES, MOST_MDPS, NUM_MDPS, frozen_file
from ..protocol.experiment import Experiment, draw_mdps
from ..values import COUNT, check
from .experiments import read_experiment

_STEPS = 2**20


def frozen_set(name: str, num_mdps: int = NUM_MDPS) -> Experiment:
    """The first MDPs of a frozen set as an experiment; it has up to 5,000."""
    path = frozen_file(name)
    stored = read_experiment(path)
    if stored.hash != HASHES[name]:
        raise StoreError(f"{path} is not the frozen set {name}: install brlbench again")
    if check(num_mdps, "num_mdps", COUNT) > MOST_MDPS:
        raise InvalidInput(
            f"num_mdps = {short(num_mdps)}: the frozen set {name} has at most {MOST_MDPS}"
        )
    whole_set = stored if num_mdps <= NUM_MDPS else _large_set(name, stored)
    mdps = whole_set.mdps[:num_mdps]
    return whole_set.replace(num_mdps=num_mdps, mdps=mdps, origin=name)


def why_not_frozen(experiment_hash: str, settings: Mapping[str, Any]) -> str:
    """Why an experiment is no frozen set of this version, with the remedy; empty if it is one.

    Its deadline may be any: MDPs do not depend on it.
    """
    name, number = settings.get("origin"), settings["num_mdps"]
    if name not in HASHES:
        return (
            f"{settings['name']} is no frozen set of this version of brlbench: play one of "
            f"{', '.join(HASHES)}, or use a newer version"
        )
    if not 1 <= number <= MOST_MDPS:
        return f"{name} has at most {MOST_MDPS} MDPs, not {number}: play the set as it is"
    try:
        true_hash, true_settings = _hash_and_settings(name, number)
    except StoreError as error:  # the set can't be made here
        return str(error)
    remedy = "play the set as it is"
    for key, value in true_settings.items():
        if key != "deadline" and settings.get(key) != value:
            claim = short(settings.get(key))
            return f"{name} has {key} = {short(value)}, not {claim}: {remedy}"
    if experiment_hash != true_hash:
        return f"{name} has hash {true_hash[:12]}…, not {experiment_hash[:12]}…: {remedy}"
    return ""


@lru_cache(maxsize=100)
def _hash_and_settings(name: str, num_mdps: int) -> tuple[str, dict[str, Any]]:
    experiment = frozen_set(name, num_mdps)
    return experiment.hash, experiment.settings()


def _large_set(name: str, stored: Experiment) -> Experiment:
    """The set with all its MDPs: those in its file, and others drawn now and rounded."""
    drawn = draw_mdps(stored.test, stored.seed, range(NUM_MDPS, MOST_MDPS))
    mdps = stored.mdps.followed_by(rounded_mdps(drawn))
    large = stored.replace(num_mdps=len(mdps), mdps=mdps)
    if large.hash != LARGE_HASHES[name]:
        raise StoreError(
            f"this machine draws other MDPs than the frozen set {name} has: use at most "
            f"{NUM_MDPS} MDPs, which are stored"
        )
    return large


def rounded_mdps(mdps: MDPs) -> MDPs:
    """MDPs with rounded probabilities and drawn rewards, which are the same on all machines."""
    probability = round_rows(mdps.probability, mdps.places.row_start)
    reward = mdps.reward if len(mdps.reward) == 1 else np.rint(mdps.reward * _STEPS) / _STEPS
    return replace(mdps, probability=probability, reward=reward)


def round_rows(probabilities: Floats, row_start: Integers) -> Floats:
    """Round probabilities [n, E] to multiples of 2^-20, each row's largest so that it sums to 1.

    Machines compute logarithms with different last bits; rounded MDPs are the same on all.
    """
    steps = np.rint(probabilities * _STEPS)
    for first, end in itertools.pairwise(row_start):
        row = steps[:, first:end]
        largest = probabilities[:, first:end].argmax(axis=1)
        row[np.arange(len(row)), largest] += _STEPS - row.sum(axis=1)
    return np.asarray(steps / _STEPS)
