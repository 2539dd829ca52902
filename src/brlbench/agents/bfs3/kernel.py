"""BFS3's decisions: C next states for each action, and the upper bounds that FSSS finds for them.

The drawn next states are the roots of searches. An upper bound never rises. So the search always
continues with the action that has the highest upper bound, and most others never get all their
roll-outs. The roots of an action take turns. Their trees are kept side by side. When there is no
room left, all trees are forgotten, and one root gets all its roll-outs at once. Each root has
random numbers of its own, so that a forgotten tree is made again as it was.

With a deadline all roots are searched, for equal shares of the time.
"""

from typing import Any, NamedTuple

import numpy as np

from ...kernels.arrays import at
from ...kernels.choice import TIE, greedy
from ...kernels.jit import cold, inlined
from ...kernels.loop.deadline import NO_LIMIT, OBSERVE, RESET, Deadline, begin, now, share, took
from ...kernels.loop.trajectory import register
from ...kernels.random.rng import keyed_word, load, next_word, store
from ...kernels.types import Floats, Integers, Records, Words
from .bounds import Constants
from .forms import count, expand, expand_all, learn, prepare, take_back, tighten
from .forms import reset as reset_belief
from .fsss import Path
from .tree import EDGES, NODES, OUTCOMES, SKETCHES, Trees, copy_size, keep_words, kept_words

NO_ACTION = -1
NO_NODE = -1

ROOT = np.dtype(
    [
        ("upper", "f8"),  # bound of its value
        ("word0", "u8"),  # its random numbers' state
        ("word1", "u8"),
        ("word2", "u8"),
        ("word3", "u8"),
        ("made", "i8"),  # roll-outs, even if its tree was forgotten since
        ("outcome", "i4"),  # the next state
        ("node", "i4"),  # or NO_NODE if it has no tree
        ("is_final", "i4"),  # whether the bound stays as it is
    ]
)


class Roots(NamedTuple):
    """The drawn next states of a decision; A actions, C roots each."""

    root: Records  # [A, C] of ROOT
    turn: Integers  # [A]; which root of an action is searched next
    left: Integers  # [A]; number of roots that are not final
    tree_size: Integers  # [NUM_SIZES]; the tree's size before any root has a tree
    rollouts: int  # from each root
    least: int  # roll-outs at a time, at least


class Bfs3(NamedTuple):
    """The agent's state."""

    rng: Words
    belief: Any  # PathBelief or AnyBelief
    constants: Constants
    tree: Trees
    path: Path
    roots: Roots
    q: Floats  # [A]; upper bounds of the actions' values
    made: Integers  # [1]; roll-outs of the last decision
    deadline: Deadline


@inlined
def draw_roots(
    roots: Roots, tree: Trees, belief: Any, constants: Constants, x: int, rng: Words
) -> None:
    """Draw C next states for each action; the arms of the tree's first node are the actions."""
    tree.size[:] = 0
    expand_all(belief, tree, constants, x, rng)
    for u in range(tree.num_actions):
        edge, drawn = tree.edge[tree.arm[u].edge], 0
        for i in range(edge.first, edge.end):
            for _ in range(tree.outcome[i].times):
                root = roots.root[u, drawn]
                root.outcome, root.node, root.made, root.is_final = i, NO_NODE, 0, 0
                root.upper = constants.value_max
                drawn += 1
        roots.turn[u], roots.left[u] = 0, constants.branching if constants.depth > 0 else 0
    copy_size(roots.tree_size, tree.size)


@inlined
def value(roots: Roots, tree: Trees, constants: Constants, u: int) -> float:
    """The upper bound of an action's value: its reward plus the roots' discounted mean."""
    total = 0.0
    for i in range(constants.branching):
        total += roots.root[at(u), at(i)].upper
    return tree.arm[u].reward + constants.discount * total / constants.branching


@inlined
def next_action(q: Floats, left: Integers, least_lead: float, gives_up: bool) -> int:
    """The action to search next: the one with the highest bound among those with roots left.

    NO_ACTION if there is none or, with `gives_up`, if an action without roots left is better by
    more than `least_lead`.
    """
    chosen, least = NO_ACTION, -np.inf
    for u in range(len(q)):
        if left[u] > 0:
            chosen = u if chosen == NO_ACTION or q[u] > q[chosen] else chosen
        elif gives_up:
            least = max(least, q[u] - least_lead)
    return chosen if chosen != NO_ACTION and q[chosen] >= least else NO_ACTION


@inlined
def next_root(roots: Roots, branching: int, u: int) -> int:
    """The root of an action whose turn it is."""
    while True:
        i = roots.turn[u]
        roots.turn[u] = (i + 1) % branching
        if not roots.root[u, i].is_final:
            return i


@inlined
def has_room(tree: Trees, steps: int) -> bool:
    """Whether the tree can grow by this many steps of roll-outs."""
    return (
        tree.size[NODES] + steps <= len(tree.node)
        and tree.size[EDGES] + steps * tree.num_actions <= len(tree.edge)
        and tree.size[OUTCOMES] + steps * tree.most_outcomes < len(tree.outcome)
        and tree.size[SKETCHES] + steps <= len(tree.sketch)
    )


@inlined
def forget(roots: Roots, tree: Trees) -> None:
    """Forget the trees of all roots."""
    copy_size(tree.size, roots.tree_size)
    for u in range(roots.root.shape[0]):
        for i in range(roots.root.shape[1]):
            roots.root[u, i].node = NO_NODE


@inlined
def search_on(agent: Bfs3, constants: Constants, u: int, key: np.uint64) -> None:
    """Make some roll-outs, a quarter more than there were, from the next root of an action."""
    rng, belief, tree, roots = agent.rng, agent.belief, agent.tree, agent.roots
    i = next_root(roots, constants.branching, u)
    root = roots.root[u, i]
    in_tree = root.made if root.node != NO_NODE else 0
    goal = min(roots.rollouts, root.made + max(roots.least, root.made // 4))
    if not has_room(tree, (goal - in_tree) * (constants.depth - 1) + 1):
        forget(roots, tree)
        goal = roots.rollouts
    edge, outcome = tree.edge[tree.arm[u].edge], tree.outcome[root.outcome]
    count(belief, edge.pair, outcome.next_state, outcome.entry)
    if root.node == NO_NODE:
        root.made = 0
        for j in range(len(rng)):
            rng[j] = keyed_word(key, u * constants.branching + i, j)
        root.node = expand(belief, tree, constants, outcome.next_state, rng)
    else:
        store(rng, kept_words(root))
    is_final, made = tighten(
        belief, tree, agent.path, constants, agent.deadline, root.node, goal - root.made, rng
    )
    take_back(belief, edge.pair, outcome.entry)
    keep_words(root, load(rng))
    agent.made[0] += made
    root.made, root.upper = goal, tree.node[root.node].upper
    if is_final or goal == roots.rollouts:
        root.is_final = 1
        roots.left[u] -= 1


@cold
def search(agent: Bfs3, x: int) -> int:
    """Find the action with the highest value."""
    rng, tree, roots = agent.rng, agent.tree, agent.roots
    end = begin(agent.deadline)
    constants = prepare(agent.belief, agent.constants)
    agent.made[0] = 0
    draw_roots(roots, tree, agent.belief, constants, x, rng)
    for u in range(tree.num_actions):
        agent.q[u] = value(roots, tree, constants, u)
    key, words = next_word(rng), load(rng)
    least_lead, gives_up = TIE * constants.scale, agent.deadline.limit == NO_LIMIT
    u = next_action(agent.q, roots.left, least_lead, gives_up)
    while u != NO_ACTION:
        share(agent.deadline, end, roots.left.sum())
        search_on(agent, constants, u, key)
        agent.q[u] = value(roots, tree, constants, u)
        u = next_action(agent.q, roots.left, least_lead, gives_up)
    store(rng, words)
    return greedy(agent.q, 0, len(agent.q), constants.scale, rng)


def reset(agent: Bfs3, x: int) -> None:
    """Back to the prior."""
    began = now(agent.deadline)
    reset_belief(agent.belief)
    took(agent.deadline, RESET, began)


def act(agent: Bfs3, x: int) -> int:
    """Search."""
    return search(agent, x)


def observe(agent: Bfs3, x: int, u: int, y: int, r: float) -> None:
    """Count the transition."""
    began = now(agent.deadline)
    learn(agent.belief, x, u, y, r)
    took(agent.deadline, OBSERVE, began)


register(Bfs3, reset=reset, act=act, observe=observe)
