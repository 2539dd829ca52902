"""Functions of beliefs and searches that decisions use, chosen by the belief's type.

Flat priors have a belief that counts along the path, `belief`, and a search that skips much of the
work, `fsss`. Other families, and all in episodes, have one that learns, `any_belief`, and a plain
search, `any_search`.
"""

from typing import Any

from ...kernels.dispatch import by_type, provide
from ...kernels.loop.deadline import Deadline
from ...kernels.random.rng import load, store
from ...kernels.types import Words
from . import any_search, fsss
from . import belief as flat
from .any_belief import AnyBelief
from .belief import PathBelief
from .bounds import Constants, make_arms
from .fsss import Path
from .outcomes import draw_edge
from .tree import NO_EDGE, Trees


@by_type
def reset(belief: Any) -> None:
    """Back to the prior."""


@by_type
def prepare(belief: Any, constants: Constants) -> Constants:  # type: ignore[empty-body]
    """Prepare for a search; return its constants."""


@by_type
def learn(belief: Any, x: int, u: int, y: int, r: float) -> None:
    """Learn from a real transition."""


@by_type
def count(belief: Any, pair: int, y: int, entry: int) -> None:
    """Learn from the outcome that leads to a root."""


@by_type
def take_back(belief: Any, pair: int, entry: int) -> None:
    """Forget what `count` has learned."""


@by_type
def expand(  # type: ignore[empty-body]
    belief: Any, tree: Trees, constants: Constants, x: int, rng: Words
) -> int:
    """Make a node and return it."""


@by_type
def expand_all(belief: Any, tree: Trees, constants: Constants, x: int, rng: Words) -> None:
    """Make a node that has the outcomes of all its arms; the tree is empty."""


@by_type
def tighten(  # type: ignore[empty-body]
    belief: Any,
    tree: Trees,
    path: Path,
    constants: Constants,
    deadline: Deadline,
    root: int,
    rollouts: int,
    rng: Words,
) -> tuple[bool, int]:
    """Make roll-outs from a root; return whether it is final, and how many were made."""


def _reset_flat(belief: PathBelief) -> None:
    flat.reset(belief)


def _prepare_flat(belief: PathBelief, constants: Constants) -> Constants:
    return constants


def _learn_flat(belief: PathBelief, x: int, u: int, y: int, r: float) -> None:
    flat.learn(belief, x, u, y)


def _expand_flat(belief: PathBelief, tree: Trees, constants: Constants, x: int, rng: Words) -> int:
    return fsss.expand(tree, belief, constants, x, rng)


def _expand_all_flat(
    belief: PathBelief, tree: Trees, constants: Constants, x: int, rng: Words
) -> None:
    n = fsss.expand(tree, belief, constants, x, rng)
    make_arms(tree, belief, n)
    for u in range(tree.num_actions):
        arm, pair = tree.arm[u], x * tree.num_actions + u
        if arm.edge == NO_EDGE:
            arm.edge, _, state = draw_edge(tree, belief, constants.branching, u, pair, load(rng))
            store(rng, state)


def _tighten_flat(
    belief: PathBelief,
    tree: Trees,
    path: Path,
    constants: Constants,
    deadline: Deadline,
    root: int,
    rollouts: int,
    rng: Words,
) -> tuple[bool, int]:
    return fsss.tighten(tree, belief, path, constants, deadline, root, rollouts, rng)


provide(
    PathBelief,
    {
        reset: _reset_flat,
        prepare: _prepare_flat,
        learn: _learn_flat,
        expand: _expand_flat,
        expand_all: _expand_all_flat,
        tighten: _tighten_flat,
    },
)
provide(
    AnyBelief,
    {
        expand: any_search.expand_root,
        expand_all: any_search.expand_all,
        tighten: any_search.tighten,
    },
)
