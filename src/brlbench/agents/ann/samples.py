"""Samples to learn from: the steps of trajectories on MDPs of the prior, labelled by a teacher."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...beliefs.base import Family
from ...builders.model import build_environment, build_tables
from ...kernels.loop import trajectory
from ...kernels.loop.trajectory import Record
from ...kernels.types import Floats
from ..base import Task, new_rng
from ..optimal import Optimal
from . import teaching
from .kernel import Ann
from .teaching import Guide

_MDPS_AT_ONCE = 100
_LEAST_WEIGHT = 1e-6  # of the first step's; later steps are left out
_SHARES = (0.5, 0.75)  # of the MDPs: where the learning part ends, and where validation does
_DIGITS = 9  # standardised inputs that agree in as many decimals are equal


class Samples(NamedTuple):
    """Samples with their weights."""

    inputs: Floats  # [n, I]
    labels: Floats  # [n, A]
    weights: Floats  # [n]


class Parts(NamedTuple):
    """Samples of different MDPs."""

    learning: Samples
    validation: Samples
    test: Samples


class School(NamedTuple):
    """Inputs for sample generation."""

    prior: Family
    task: Task
    observer: Ann  # its inputs are not standardised
    teacher: Any  # the arrays of an agent
    advantages: bool  # whether labels are the teacher's advantages

    @property
    def steps(self) -> int:
        """The number of steps of a trajectory that matter."""
        matter = math.log(_LEAST_WEIGHT) / math.log(self.task.discount)
        return min(self.task.horizon, math.ceil(matter))

    def build_guide(self, mdps: int, rng: np.random.Generator) -> Guide:
        """The guide to this many MDPs."""
        optimal = Optimal().prepare(self.prior, self.task, rng)
        return Guide(new_rng(), optimal, num_begun=np.zeros(1, np.int64), last=mdps - 1)

    def visit(
        self, guide: Any, mdps: int, rng: np.random.Generator, tell: Callable[[int], None]
    ) -> Parts:
        """Let a guide play fresh MDPs; return its steps, labelled and split by MDP."""
        shape = (mdps, self.steps)
        inputs = np.empty((*shape, len(self.observer.center)))
        labels = np.empty((*shape, self.prior.num_actions))
        for first in range(0, mdps, _MDPS_AT_ONCE):
            part = slice(first, min(first + _MDPS_AT_ONCE, mdps))
            self._visit_some(guide, inputs[part], labels[part], rng)
            tell(part.stop)
        weights: Floats = self.task.discount ** np.arange(self.steps, dtype=np.float64)
        weights /= weights.mean()
        ends = [math.ceil(share * mdps) for share in _SHARES]
        return Parts(
            *(
                Samples(
                    inputs[some].reshape(-1, inputs.shape[2]),
                    labels[some].reshape(-1, labels.shape[2]),
                    np.tile(weights, len(some)),
                )
                for some in np.split(rng.permutation(mdps), ends)
            )
        )

    def _visit_some(
        self, guide: Any, inputs: Floats, labels: Floats, rng: np.random.Generator
    ) -> None:
        """Fill in the inputs [n, T, I] and the labels [n, T, A] of n trajectories."""
        mdps = len(inputs)
        drawn = self.prior.draw([rng] * mdps)
        env, tables = build_environment(drawn), build_tables(drawn)
        record = Record.empty(mdps, self.steps, 0)
        guided, taught = rng.integers(0, 2**64, size=(2, mdps, 4), dtype=np.uint64)
        noise = rng.integers(0, 2**64, size=mdps, dtype=np.uint64)
        trajectory.play(guide, env, tables, np.arange(mdps), guided, noise, trajectory.ALL, record)
        teaching.watch(self.observer, record, inputs)
        teach = teaching.teach_advantages if self.advantages else teaching.teach_actions
        teach(self.teacher, env, tables, taught, record, labels)


def joined(earlier: Parts, last: Parts) -> Parts:
    """The samples of all rounds to learn from, and those of the last round for the test."""
    learning, validation = (
        Samples(*(np.concatenate(pair) for pair in zip(one, other, strict=True)))
        for one, other in zip(earlier[:2], last[:2], strict=True)
    )
    return Parts(learning, validation, last.test)


class Standard(NamedTuple):
    """Shift and scale of standardised inputs; an input that never varies becomes 0."""

    center: Floats  # [I]
    gain: Floats  # [I]


def standard_of(samples: Samples) -> Standard:
    """Shift and scale that give the inputs mean 0 and variance 1, with the samples' weights."""
    center = np.average(samples.inputs, axis=0, weights=samples.weights)
    squares = np.average((samples.inputs - center) ** 2, axis=0, weights=samples.weights)
    deviation = np.sqrt(squares)
    # Less than this is rounding.
    varies = deviation > 1e-9 * np.abs(samples.inputs).max(axis=0)
    return Standard(center, np.where(varies, 1 / np.where(varies, deviation, 1.0), 0.0))


def merged(samples: Samples, standard: Standard) -> Samples:
    """Standardise the inputs, and merge samples whose inputs are equal.

    The merged sample has the mean of their labels, by weight, and the sum of their weights.
    """
    inputs = (samples.inputs - standard.center) * standard.gain
    keys = np.round(inputs, _DIGITS) + 0.0  # no negative zeros
    order = np.lexsort(keys.T)
    keys = keys[order]
    differs = np.any(keys[1:] != keys[:-1], axis=1)
    first = np.flatnonzero(np.concatenate([[True], differs]))
    weights = np.add.reduceat(samples.weights[order], first)
    weighted = samples.labels[order] * samples.weights[order, None]
    labels = np.add.reduceat(weighted, first, axis=0) / weights[:, None]
    return Samples(inputs[order[first]], labels, weights)
