"""BFS3's decisions: C next states for each action, and the upper bounds that FSSS finds for them.

An upper bound falls with every roll-out and never rises. So the action whose value is bounded
highest is searched on, and others only as long as they may still be the best: most never get all
their roll-outs. Its roots, the drawn next states, take turns. The trees of all roots are kept side
by side. When there is no room for more, all are forgotten, and one root gets all its roll-outs at
once; as each has random numbers of its own, its tree is made again as it was.

With a deadline all roots are searched, for equal shares of the time.
"""

import numpy as np

from ...kernels.arrays import at
from ...kernels.choice import TIE, greedy
from ...kernels.jit import cold, inlined
from ...kernels.loop.deadline import OBSERVE, RESET, begin, now, share, took
from ...kernels.loop.trajectory import register
from ...kernels.random.rng import keyed_word, load, next_word, store
from .belief import count, learn, reset, take_back
from .fsss import expand, keep_words, make_arms, tighten, use_words
from .outcomes import draw_edge
from .tree import NO_EDGE, NO_NODE
from .tree import Bfs3 as Bfs3

NO_ACTION = -1


@inlined
def draw_roots(agent: Bfs3, x: int) -> None:
    """Draw C next states for each action."""
    tree, actions = agent.tree, agent.belief.counts.num_actions
    tree.size[:] = 0
    make_arms(agent, expand(agent, x))
    for u in range(actions):
        arm, n = tree.arm[u], u * agent.branching
        if arm.edge == NO_EDGE:
            arm.edge, _ = draw_edge(agent, u, x * actions + u, arm.reward)
        edge = tree.edge[arm.edge]
        for i in range(edge.first, edge.end):
            for _ in range(tree.outcome[i].times):
                root = agent.root[n]
                root.outcome, root.node, root.made, root.is_final = i, NO_NODE, 0, 0
                root.upper = agent.value_max
                n += 1
        agent.turn[u], agent.left[u] = 0, agent.branching
        agent.q[u] = value(agent, u)
    for i in range(4):
        agent.base[i] = tree.size[i]


@inlined
def value(agent: Bfs3, u: int) -> float:
    """The mean over the roots of an action: reward and discounted bound."""
    total = 0.0
    for n in range(u * agent.branching, (u + 1) * agent.branching):
        total += agent.root[at(n)].upper
    return agent.tree.arm[u].reward + agent.discount * total / agent.branching


@inlined
def next_action(agent: Bfs3) -> int:
    """The action to be searched on, if there is one that may be the best."""
    chosen, least = NO_ACTION, -np.inf
    for u in range(len(agent.q)):
        if agent.left[u] > 0:
            chosen = u if chosen == NO_ACTION or agent.q[u] > agent.q[chosen] else chosen
        elif agent.deadline.limit == 0:
            least = max(least, agent.q[u] - TIE * scale(agent))
    return chosen if chosen != NO_ACTION and agent.q[chosen] >= least else NO_ACTION


@inlined
def scale(agent: Bfs3) -> float:
    """No value is larger; what is a tie depends on it."""
    return max(abs(agent.value_min), abs(agent.value_max))


@inlined
def next_root(agent: Bfs3, u: int) -> int:
    """The root of an action whose turn it is."""
    while True:
        n = u * agent.branching + agent.turn[u]
        agent.turn[u] = (agent.turn[u] + 1) % agent.branching
        if not agent.root[n].is_final:
            return n


@inlined
def has_room(agent: Bfs3, rollouts: int) -> bool:
    """Whether the trees can grow by so many roll-outs."""
    tree, steps = agent.tree, rollouts * (agent.depth - 1) + 1
    return (
        tree.size[0] + steps <= len(tree.node)
        and tree.size[1] + steps * len(agent.q) <= len(tree.edge)
        and tree.size[2] + steps * agent.most_outcomes < len(tree.outcome)
        and tree.size[3] + steps <= len(tree.sketch)
    )


@inlined
def forget(agent: Bfs3) -> None:
    """Keep no tree."""
    for i in range(4):
        agent.tree.size[i] = agent.base[i]
    for n in range(len(agent.root)):
        agent.root[n].node = NO_NODE


@inlined
def search_on(agent: Bfs3, u: int, key: np.uint64) -> None:
    """Make some roll-outs, a quarter more than there were, from the next root of an action."""
    tree, n = agent.tree, next_root(agent, u)
    root = agent.root[n]
    made = root.made if root.node != NO_NODE else 0
    goal = min(agent.rollouts, root.made + max(agent.least, root.made // 4))
    if not has_room(agent, goal - made):
        forget(agent)
        goal = agent.rollouts
    edge, outcome = tree.edge[tree.arm[u].edge], tree.outcome[root.outcome]
    count(agent.belief, edge.pair, outcome.next_state, outcome.entry)
    if root.node == NO_NODE:
        root.made = 0
        for i in range(4):
            agent.rng[i] = keyed_word(key, n, i)
        root.node = expand(agent, outcome.next_state)
    else:
        use_words(root, agent.rng)
    is_known = tighten(agent, root.node, goal - root.made)
    take_back(agent.belief, edge.pair, outcome.entry)
    keep_words(root, agent.rng)
    root.made, root.upper = goal, tree.node[root.node].upper
    if is_known or goal == agent.rollouts:
        root.is_final = 1
        agent.left[u] -= 1
    agent.q[u] = value(agent, u)


@cold
def search(agent: Bfs3, x: int) -> int:
    """Find the action with the highest value."""
    end = begin(agent.deadline)
    agent.made[0] = 0
    draw_roots(agent, x)
    key, state = next_word(agent.rng), load(agent.rng)
    u = next_action(agent)
    while u != NO_ACTION:
        share(agent.deadline, end, agent.left.sum())
        search_on(agent, u, key)
        u = next_action(agent)
    store(agent.rng, state)
    return greedy(agent.q, 0, len(agent.q), scale(agent), agent.rng)


def start(agent: Bfs3, x: int) -> None:
    """Back to the prior."""
    began = now(agent.deadline)
    reset(agent.belief)
    took(agent.deadline, RESET, began)


def act(agent: Bfs3, x: int) -> int:
    """Search."""
    return search(agent, x)


def observe(agent: Bfs3, x: int, u: int, y: int, r: float) -> None:
    """Count the transition."""
    began = now(agent.deadline)
    learn(agent.belief, x, u, y)
    took(agent.deadline, OBSERVE, began)


register(Bfs3, reset=start, act=act, observe=observe)
