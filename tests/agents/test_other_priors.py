"""Agents under priors of other families, against brute force, closed forms and flat priors."""

from collections.abc import Collection
from typing import Any

import numpy as np
import pytest

from brlbench.agents import AGENTS, make_agent
from brlbench.agents.base import CompiledAgent, Task
from brlbench.analysis.bayes_optimal import bayes_optimal_value
from brlbench.beliefs.base import Family
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.beliefs.hypotheses import Hypotheses
from brlbench.beliefs.rewards import BernoulliRewards
from brlbench.errors import Pointless
from brlbench.mdps.mdp import MDP
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.streams import generator
from helpers.beliefs import what_is_known
from helpers.families import FAMILIES, goal_grid, random_hypotheses, slippery_chain
from helpers.own_problems import River
from helpers.sizes import sizes, thinned

DISCOUNT = 0.9


def expectimax(belief: Any, x: int, depth: int, actions: int, has_leaf: bool = True) -> list[float]:
    """The values of all actions in x, by looking at all that can happen within some steps.

    A leaf has the optimal value of the mean MDP, or none.
    """
    values = []
    for u in range(actions):
        values.append(0.0)
        for chance, y, r in belief.outcomes(x, u):
            mark = belief.mark()
            belief.observe(x, u, y, r)
            if depth > 1:
                future = max(expectimax(belief, y, depth - 1, actions, has_leaf))
            else:
                future = belief.mean().solve(DISCOUNT).value[y] if has_leaf else 0.0
            belief.undo(mark)
            values[-1] += chance * (r + DISCOUNT * future)
    return values


LOOKED_AT = ["chain", "two groups", "goal", "known", "constant", "binary"]


@pytest.mark.parametrize("name", thinned(LOOKED_AT, usual=["two groups", "known"]))
def test_lookahead_finds_the_values_of_brute_force(name: str) -> None:
    prior: Any = FAMILIES[name]
    agent: Any = make_agent("lookahead", depth=2)
    agent.train(prior, Task(DISCOUNT, 20), generator("test families"))
    agent.start(0, generator("test families"))
    belief = prior.belief()
    for x, u in ((0, 0), (1, 1), (2, 0)):
        agent.act(x)
        wanted = expectimax(belief, x, 2, prior.num_actions)
        np.testing.assert_allclose(agent.arrays.levels.q[0], wanted, rtol=1e-9)
        _, y, r = belief.outcomes(x, u)[-1]
        belief.observe(x, u, y, r)
        agent.observe(x, u, y, r)


def test_lookahead_values_binary_rewards_that_are_nearly_known_as_known() -> None:
    """A reward that is all but sure to be 0 or 1 teaches nothing and changes no value."""
    counts = np.array([[[1.0, 2.0], [0.3, 0.5]], [[0.7, 0.2], [1.5, 1.0]]])
    pays = np.array([[0.0, 1.0], [1.0, 0.0]])
    nearly = BernoulliRewards(1e-3 + 1e18 * pays, 1e-3 + 1e18 * (1 - pays))
    agents: list[Any] = []
    for prior in (FlatDirichlet(counts, pays[:, :, None]), FlatDirichlet(counts, nearly)):
        agents.append(make_agent("lookahead", depth=2))
        agents[-1].train(prior, Task(DISCOUNT, 20), generator("test families"))
        agents[-1].start(0, generator("test families"))
    for x, u, y in ((0, 0, 1), (1, 1, 1), (1, 0, 0), (0, 1, 0)):
        actions = [agent.act(x) for agent in agents]
        assert actions[0] == actions[1]
        one, other = (agent.arrays.levels.q[0] for agent in agents)
        np.testing.assert_allclose(one, other, rtol=1e-9)
        for agent in agents:
            agent.observe(x, u, y, float(pays[x, u]))


ROOTS = {
    "chain": slippery_chain(3),
    "goal": goal_grid(2),
    "constant": FAMILIES["constant"],
    "binary": FlatDirichlet(np.ones((2, 2, 2)), BernoulliRewards([[1.0, 4.0], [2.0, 1.0]], 2.0)),
}


@pytest.mark.parametrize("name", ROOTS)
def test_many_simulations_of_bamcp_are_bayes_optimal(name: str) -> None:
    prior: Any = ROOTS[name]
    exact = expectimax(prior.belief(), 0, 4, prior.num_actions, has_leaf=False)
    largest = max(1.0, prior.max_reward)  # returns differ by as much
    agent: Any = make_agent("bamcp", simulations=400_000, depth=4, exploration=2 * largest)
    agent.train(prior, Task(DISCOUNT, 4), generator("test families"))
    agent.start(0, generator("test families"))
    best = agent.act(0)
    assert exact[best] == pytest.approx(max(exact), rel=1e-3)
    assert agent.arrays.tree.edges["value"][best] == pytest.approx(max(exact), rel=0.02)


@pytest.mark.parametrize("name", thinned(["two groups", "known", "constant"], usual=["two groups"]))
def test_updated_values_of_bamcp_count_what_transitions_teach(name: str) -> None:
    """With one step in the tree, values are those of one step of lookahead."""
    prior: Any = FAMILIES[name]
    agent: Any = make_agent(
        "bamcp", simulations=20_000, depth=1, exploration=100.0, leaf="updated-value"
    )
    agent.train(prior, Task(DISCOUNT, 20), generator("test families"))
    agent.start(0, generator("test families"))
    belief = prior.belief()
    for x, u in ((0, 0), (1, 1), (2, 0)):
        before = what_is_known(agent.arrays.leaf.model)
        agent.act(x)
        assert what_is_known(agent.arrays.leaf.model) == before
        edges = agent.arrays.tree.edges[: prior.num_actions]
        for v, edge in enumerate(edges):
            wanted, spread = one_step(belief, x, v)
            assert abs(edge["value"] - wanted) <= 4 * spread / np.sqrt(edge["visits"]) + 1e-9
        _, y, r = belief.outcomes(x, u)[-1]
        belief.observe(x, u, y, r)
        agent.observe(x, u, y, r)


def one_step(belief: Any, x: int, u: int) -> tuple[float, float]:
    """The mean and the standard deviation of an action's returns, with the next belief's values."""
    chances, returns = [], []
    for chance, y, r in belief.outcomes(x, u):
        mark = belief.mark()
        belief.observe(x, u, y, r)
        chances.append(chance)
        returns.append(r + DISCOUNT * belief.mean().solve(DISCOUNT).value[y])
        belief.undo(mark)
    mean = np.dot(chances, returns)
    return mean, np.sqrt(np.dot(chances, (np.array(returns) - mean) ** 2))


@pytest.mark.parametrize("kind", ["tied", "hypotheses", "particles"])
def test_more_simulations_of_bamcp_are_nearer_to_bayes_optimal(kind: str) -> None:
    """The value of the best action at the root, by five searches of each size."""
    own = distribution(River(), particles=30).for_kernels()
    prior: Any = {"tied": slippery_chain(3), "hypotheses": goal_grid(2), "particles": own}[kind]
    exact = bayes_optimal_value(prior, DISCOUNT, 4)
    largest, errors = max(1.0, prior.max_reward), []
    for simulations in (30, 1000, 40_000):
        agent: Any = make_agent("bamcp", simulations=simulations, depth=4, exploration=2 * largest)
        agent.train(prior, Task(DISCOUNT, 4), generator("test families"))
        found = []
        for seed in range(5):
            agent.start(0, generator("test families", seed))
            found.append(agent.arrays.tree.edges["value"][agent.act(0)])
        errors.append(abs(np.mean(found) / exact - 1))
    assert errors[0] > 2 * errors[2]
    assert errors[1] > errors[2]
    assert errors[2] < 0.03


TINY = {"tied": slippery_chain(3), "goal": goal_grid(2), "constant": FAMILIES["constant"]}
PLAYERS: dict[str, dict[str, Any]] = {
    "bamcp": {"simulations": 25, "depth": 4},
    "lookahead": {"depth": 2},
    "epsilon-greedy": {"epsilon": 0.0},
    "psrl": {},
    "rlsvi": {},
    "boss": {"samples": 2},
    "beb": {},
    "spread": {},
    "bolt": {},
}


SOME_PLAYERS = ("bamcp", "lookahead", "epsilon-greedy", "psrl", "spread")


@pytest.mark.parametrize("form", sizes((3000, SOME_PLAYERS), (30_000, PLAYERS)))
@pytest.mark.parametrize("kind", TINY)
def test_nobody_is_better_than_bayes_optimal(kind: str, form: tuple[int, Collection[str]]) -> None:
    """But who knows the MDP is, by more than the error, where there is much to know."""
    number, players = form
    experiment = Experiment(TINY[kind], num_mdps=number, discount=DISCOUNT, horizon=6)
    exact = bayes_optimal_value(TINY[kind], DISCOUNT, 6)
    known = evaluate(make_agent("optimal"), experiment)
    assert known.mean - 2 * known.ci95 > exact or kind == "tied"
    means = {}
    for name in players:
        result = evaluate(make_agent(name, **PLAYERS[name]), experiment)
        means[name] = result.mean / exact
        assert result.mean - 2 * result.ci95 < exact, means
    assert means["lookahead"] > 0.95, means


@pytest.mark.parametrize("number", sizes(50, 1000))
@pytest.mark.parametrize("name", ["epsilon-greedy", "psrl", "beb"])
def test_agents_that_do_not_know_the_slip_nearly_reach_the_best_sum(name: str, number: int) -> None:
    """Of the known chain: 3,665.8 expected in 1,000 steps, see `test_single_mdps`."""
    experiment = Experiment("Chain:prior=tied", "Chain", number, discount=0.99, horizon=1000)
    parameters = {"epsilon": 0.0} if name == "epsilon-greedy" else {}
    result = evaluate(make_agent(name, **parameters), experiment, keep_paths=True)
    sums = result.columns["rewards"].sum(axis=1)
    error = sums.std(ddof=1) / np.sqrt(number)
    assert 0.96 * 3665.8 - 4 * error < sums.mean() < 3665.8 + 4 * error


@pytest.mark.parametrize("name", ["psrl", "vpi", "hindsight"])
def test_solutions_of_hypotheses_are_looked_up(name: str) -> None:
    """Each agent follows stored solutions, whatever they say; all hypotheses are solved before."""
    prior = random_hypotheses("constant")
    agent: Any = make_agent(name)
    agent.train(prior, Task(DISCOUNT, 10), generator("test solutions"))
    samples = agent.arrays if name == "psrl" else agent.arrays.samples
    solutions = samples.mdp.belief.solutions
    exact = [mdp.solve(DISCOUNT).q.ravel() for mdp in prior.mdps]
    np.testing.assert_allclose(solutions.q, exact, rtol=1e-9)
    for action in (0, 1):
        solutions.q[:] = np.arange(solutions.q.shape[1]) % 2 == action
        agent.start(0, generator("test solutions"))
        chosen = []
        for _ in range(3):
            chosen.append(agent.act(0))
            agent.observe(0, chosen[-1], 1, 0.0)
        assert chosen == [action] * 3


def test_bamcp_keeps_the_subtree_of_a_reward() -> None:
    """Where a reward was seen, the goal is known: the kept tree expects more."""
    agent: Any = make_agent("bamcp", simulations=5000, depth=6, reuse_tree=True, exploration=10.0)
    agent.train(goal_grid(2), Task(DISCOUNT, 4), generator("test families"))
    values = []
    for reward in (0.0, 1.0):
        agent.start(0, generator("test families"))
        agent.act(0)
        tree = agent.arrays.tree
        agent.observe(0, 1, 2, reward)  # to the cell below, one of three that can be the goal
        assert tree.size[0] > 50
        values.append(tree.edges["value"][:4].max())
    assert values[0] + 0.3 < values[1]


@pytest.mark.parametrize("number", sizes(1000, 20_000))
def test_psrl_draws_hypotheses_by_their_weights(number: int) -> None:
    """Two hypotheses have different best actions; a transition makes one of them likelier."""
    likely = np.array([0.8, 0.3])
    mdps = []
    for best, chance in enumerate(likely):
        transitions = np.full((2, 3, 2), 0.5)
        transitions[:, 2] = 1 - chance, chance
        rewards = np.zeros((2, 3, 2))
        rewards[:, best, :] = 1.0
        mdps.append(MDP(transitions, rewards, 0))
    weights = np.array([0.3, 0.7])
    agent = make_agent("psrl", resample=1.0)
    agent.train(Hypotheses(mdps, weights), Task(DISCOUNT, 10), generator("test psrl"))
    first, second = np.zeros((2, number))
    for i in range(number):
        agent.start(0, generator("test psrl", i))
        first[i] = agent.act(0)
        agent.observe(0, 2, 1, 0.0)
        second[i] = agent.act(1)
    for actions, chances in ((first, weights), (second, weights * likely)):
        wanted = chances[1] / chances.sum()
        error = np.sqrt(wanted * (1 - wanted) / number)
        assert set(actions) == {0.0, 1.0}
        assert actions.mean() == pytest.approx(wanted, abs=4 * error)


def return_in(agent: Any, prior: Family, mdp: MDP, steps: int, seed: int) -> float:
    """The sum of rewards in an MDP without chance."""
    agent.train(prior, Task(DISCOUNT, steps), generator("test families", seed))
    x, total = 0, 0.0
    agent.start(x, generator("test families start", seed))
    for _ in range(steps):
        u = agent.act(x)
        y = int(mdp.transitions.to_dense()[x, u].argmax())
        r = float(mdp.rewards.mean.to_dense()[x, u, y])
        agent.observe(x, u, y, r)
        x, total = y, total + r
    return total


@pytest.mark.parametrize("name", ["beb", "boss", "spread", "bolt"])
def test_agents_find_the_goal_and_stay(name: str) -> None:
    """Of 60 steps, 24 are enough to visit all cells twice and come back."""
    prior = goal_grid()
    for goal in (1, 8):
        assert return_in(make_agent(name), prior, prior.mdps.mdp(goal - 1), 60, goal) >= 36


LEARN_FROM_STARTS: dict[str, dict[str, Any]] = {
    "epsilon-greedy": {},
    "vdbe": {"initial_epsilon": 0.0},
    "formula": {"formula": "max(Qmean, Quniform)"},
    "beb": {"beta": 3},
    "bonus": {},
    "eubrl": {},
    "spread": {},
    "bolt": {},
    "lookahead": {"depth": 2},
    "psrl": {},
    "rlsvi": {},
    "boss": {"samples": 2},
    "sboss": {},
    "vpi": {"samples": 2},
    "bamcp": {"simulations": 50, "depth": 4},
}


LEARN_IN_WAYS_OF_THEIR_OWN = ("epsilon-greedy", "formula", "spread", "psrl", "boss", "vpi", "bamcp")


@pytest.mark.parametrize("name", thinned(LEARN_FROM_STARTS, usual=LEARN_IN_WAYS_OF_THEIR_OWN))
def test_agents_learn_from_the_start_state(name: str) -> None:
    """Each plays as under the weights that the start leaves, of MDPs that share a start."""
    apart, told = starting_apart(), starting_apart().posterior([], start=1)
    told = Hypotheses([MDP(m.transitions, m.rewards, 1) for m in told.mdps], told.weights)
    actions, values = [], []
    for prior in (apart, told):
        agent: Any = make_agent(name, **LEARN_FROM_STARTS[name])
        agent.train(prior, Task(DISCOUNT, 8), generator("test starts"))
        chosen = []
        for seed in range(6):
            agent.start(1 if seed % 2 else 0, generator("another start"))
            agent.start(1, generator("test starts", seed))
            if hasattr(agent.arrays, "model"):
                values.append(agent.arrays.model.q.copy())
            for x, u, y, r in ((1, 0, 0, 0.0), (0, 1, 2, 1.0), (2, 0, 2, 0.0)):
                chosen.append(agent.act(x))
                agent.observe(x, u, y, r)
        actions.append(chosen)
    assert actions[0] == actions[1]
    np.testing.assert_allclose(values[: len(values) // 2], values[len(values) // 2 :], rtol=1e-6)


def starting_apart() -> Hypotheses:
    """Random MDPs, each with a start of its own."""
    shared = random_hypotheses("constant", 6)
    rng = generator("test starts")
    starts = rng.dirichlet([0.3, 0.3, 0.3], 6)
    mdps = [
        MDP(m.transitions, m.rewards, start) for m, start in zip(shared.mdps, starts, strict=True)
    ]
    return Hypotheses(mdps, shared.weights)


REFUSED = (
    ("bfs3", FAMILIES["gaussian"]),
    ("lookahead", FAMILIES["gaussian"]),
    ("bfs3", FAMILIES["normal"]),
    ("lookahead", FAMILIES["normal"]),
    ("mc-brl", FAMILIES["normal"]),
    ("sboss", FAMILIES["normal"]),
    ("gittins", FAMILIES["binary"]),
)


@pytest.mark.parametrize(("name", "prior"), REFUSED)
def test_agents_that_need_more_refuse_in_a_sentence_that_names_others(
    name: str, prior: Family
) -> None:
    with pytest.raises(Pointless) as caught:
        make_agent(name).train(prior, Task(0.9, 5), generator("test families"))
    message = str(caught.value)
    assert message.startswith(f"{name} needs ")
    able = message.split("use one of ")[1].split(", ")
    assert name not in able
    assert {"psrl", "beb", "optimal"} <= set(able) < set(AGENTS)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("bamcp", {"leaf": "updated-value"}), ("random-mix", {"base": "bfs3"})],
)
def test_who_refuses_is_not_named_as_it_is(name: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(Pointless) as caught:
        prior = FAMILIES["gaussian"]
        make_agent(name, **parameters).train(prior, Task(0.9, 5), generator("test"))
    able = str(caught.value).split("use one of ")[1].split(", ")
    assert f"{name} with its default parameters" in able
    assert not {name, "bfs3"} & set(able)


@pytest.mark.parametrize("kind", AGENTS.values())
def test_every_agent_says_what_it_needs(kind: type[CompiledAgent]) -> None:
    needed = kind().needed()
    assert needed or kind.name in ("random", "optimal", "q-learning")
    assert all(needed <= prior.answers for prior in FAMILIES.values()) or kind.name in (
        "bfs3",
        "lookahead",
        "mc-brl",
        "sboss",
        "gittins",
    )
