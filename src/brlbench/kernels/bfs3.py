"""BFS3's decisions: C next states for each action, and the upper bounds that FSSS finds for them.

An upper bound falls with every roll-out and never rises. So the action whose values are bounded
highest is searched first, and others only as long as they may still be the best: most never get
all their roll-outs. At first an action's roots, the drawn next states, have a part of them; these
say most. Searching the root again with all of them begins anew, as trees are not kept; a root
always has the same random numbers, whatever is searched before it.

With a deadline all actions get the same share of the time.
"""

import numpy as np

from .arrays import at
from .choice import TIE, greedy
from .deadline import OBSERVE, START, begin, now, share, took
from .fsss import expand, make_arms, upper_bound
from .fsss_state import NO_EDGE
from .fsss_state import Bfs3 as Bfs3
from .jit import cold, inlined
from .outcomes import draw_edge
from .path_belief import count, learn, reset, take_back
from .rng import keyed_word, load, next_word, store
from .trajectory import register

_NO_ACTION = -1


@inlined
def draw_roots(agent: Bfs3, x: int) -> None:
    """Draw C next states for each action."""
    tree, actions = agent.tree, agent.belief.counts.num_actions
    tree.size[:] = 0
    make_arms(agent, expand(agent, x))
    for u in range(actions):
        arm, n = tree.arm[u], u * agent.branching
        if arm.edge == NO_EDGE:
            arm.edge = draw_edge(agent, u, x * actions + u, arm.reward)
        edge = tree.edge[arm.edge]
        for i in range(edge.first, edge.end):
            for _ in range(tree.outcome[i].times):
                root = agent.root[n]
                root.upper, root.outcome, root.is_known = agent.value_max, i, 0
                n += 1
        agent.turn[u] = 0 if agent.first_look > 0 else agent.branching
        agent.q[u] = value(agent, u)


@inlined
def value(agent: Bfs3, u: int) -> float:
    """The mean over the roots of an action: reward and discounted bound."""
    total = 0.0
    for n in range(u * agent.branching, (u + 1) * agent.branching):
        total += agent.root[at(n)].upper
    return agent.tree.arm[u].reward + agent.discount * total / agent.branching


@inlined
def is_searched(agent: Bfs3, u: int) -> bool:
    """Whether all roots of an action have had all their roll-outs."""
    return agent.turn[u] == 2 * agent.branching


@inlined
def next_action(agent: Bfs3) -> int:
    """The action to be searched next, if there is one that may be the best."""
    least, scale = -np.inf, max(abs(agent.value_min), abs(agent.value_max))
    chosen = _NO_ACTION
    for u in range(len(agent.q)):
        if not is_searched(agent, u):
            chosen = u if chosen == _NO_ACTION or agent.q[u] > agent.q[chosen] else chosen
        elif agent.deadline.limit == 0:
            least = max(least, agent.q[u] - TIE * scale)
    return chosen if chosen != _NO_ACTION and agent.q[chosen] >= least else _NO_ACTION


@inlined
def look(agent: Bfs3, u: int, key: np.uint64) -> None:
    """Search from the next root of an action."""
    turn, tree = agent.turn[u], agent.tree
    n = u * agent.branching + turn % agent.branching
    agent.turn[u] += 1
    root = agent.root[n]
    if not root.is_known:
        for i in range(4):
            agent.rng[i] = keyed_word(key, n, i)
        edge, outcome = tree.edge[tree.arm[u].edge], tree.outcome[root.outcome]
        rollouts = agent.first_look if turn < agent.branching else agent.rollouts
        nodes, edges, outcomes, sketches = tree.size
        count(agent.belief, edge.pair, outcome.next_state, outcome.entry)
        root.upper, root.is_known = upper_bound(agent, outcome.next_state, rollouts)
        take_back(agent.belief, edge.pair, outcome.entry)
        tree.size[0], tree.size[1], tree.size[2], tree.size[3] = nodes, edges, outcomes, sketches
        agent.q[u] = value(agent, u)


@cold
def search(agent: Bfs3, x: int) -> int:
    """Find the action with the highest value."""
    end, left = begin(agent.deadline), len(agent.root)
    agent.made[0] = 0
    draw_roots(agent, x)
    key, state = next_word(agent.rng), load(agent.rng)
    u = next_action(agent)
    while u != _NO_ACTION:
        share(agent.deadline, end, left)
        look(agent, u, key)
        left -= 1
        u = next_action(agent)
    store(agent.rng, state)
    scale = max(abs(agent.value_min), abs(agent.value_max))
    return greedy(agent.q, 0, len(agent.q), scale, agent.rng)


def start(agent: Bfs3, x: int) -> None:
    """Back to the prior."""
    began = now(agent.deadline)
    reset(agent.belief)
    took(agent.deadline, START, began)


def act(agent: Bfs3, x: int) -> int:
    """Search."""
    return search(agent, x)


def observe(agent: Bfs3, x: int, u: int, y: int, r: float) -> None:
    """Count the transition."""
    began = now(agent.deadline)
    learn(agent.belief, x, u, y)
    took(agent.deadline, OBSERVE, began)


register(Bfs3, start=start, act=act, observe=observe)
