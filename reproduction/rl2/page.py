"""The page on RL²'s tables, made from the results alone."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..markdown import listed, template
from . import audit, library, replay
from .audit import Cell, Mean

PAGE = Path(__file__).parents[2] / "docs/rl2.md"
_NAMES = {
    "random": "random",
    "psrl": "PSRL",
    "opsrl": "OPSRL",
    "ucrl2": "UCRL2",
    "beb": "BEB",
    "epsilon-greedy": "ε-greedy",
    "gittins": "Gittins",
    "ts": "Thompson",
    "ucb1": "UCB1",
}
_PARAMETERS = {"opsrl": "number of samples", "epsilon-greedy": "ε"}
_STEP = "greedy, right prior, by step"
_BEB = "beb, right prior, by step"
RIVALS = {
    _STEP: "greedy, by step",
    _BEB: "BEB, by step",
    "greedy, right prior": "greedy, by episode",
    "psrl, right prior": "PSRL",
    "opsrl, right prior": f"OPSRL, {library.FEW_SAMPLES} samples",
}
OWN = ("random", "psrl", "opsrl", "ucrl2", "epsilon-greedy", "greedy")
WITH_PRIOR = ("greedy", "epsilon-greedy", "beb", "psrl")
CHOSEN = ("opsrl", "ucrl2", "beb", "epsilon-greedy")


def make_page() -> str:
    """The page as Markdown."""
    filters = (_called, _parameter, _scored, _farthest, _change, _z, _thousands, listed)
    page = template("rl2/page.md.j2", **{each.__name__.lstrip("_"): each for each in filters})
    return page.render(**_random_mdps(), **_rivals(), **_bandits())


def _random_mdps() -> dict[str, Any]:
    lengths, all_cells = replay.LENGTHS["mdps"], audit.cells("mdps")
    longest = lengths[-1]
    gains = [
        (grid.gain_of_choosing.mean, grid.score.error)
        for agent in CHOSEN
        for variant in (replay.PUBLISHED, replay.RIGHT)
        if variant == replay.PUBLISHED or agent in WITH_PRIOR
        for grid in (audit.grid("mdps", variant, agent, n) for n in lengths)
    ]
    return {
        "states": replay.STATES,
        "actions": replay.ACTIONS,
        "episode": replay.EPISODE,
        "seeds": replay.SEEDS,
        "mdps": library.NUM_MDPS,
        "opsrl_samples": library.OPSRL_SAMPLES,
        "lengths": lengths,
        "shortest": lengths[0],
        "longest": longest,
        "agents": audit.by_agent("mdps"),
        "all_cells": all_cells,
        "tolerance": audit.TOLERANCE,
        "exact": [cell for cell in all_cells if cell.is_exact],
        "own": OWN,
        "blocks": replay.SEEDS // replay.BLOCK,
        "farthest_own": max(abs(audit.own_z(c)) for c in all_cells if c.agent in OWN),
        "own_z": audit.own_z,
        "agreeing": audit.agreeing(OWN),
        "with_prior": WITH_PRIOR,
        "chosen": CHOSEN,
        "grid": lambda variant, agent, n: audit.grid("mdps", variant, agent, n),
        "honest": lambda variant, agent, n: Mean.of(
            audit.grid("mdps", variant, agent, n).honest_blocks
        ),
        "variant_change": audit.change,
        "copied_longest": audit.change("ucrl2", replay.COPIED, longest),
        "greedy_gain": audit.change("greedy", replay.RIGHT, longest),
        "beb_gain": audit.change("beb", replay.RIGHT, longest),
        "psrl_gain": audit.change("psrl", replay.RIGHT, longest),
        "counted_psrl": audit.change("psrl", replay.COUNTED, longest),
        "counted_greedy": audit.change("greedy", replay.COUNTED, longest),
        "largest_choice": max(gain for gain, _ in gains),
        "largest_share": max(gain / error for gain, error in gains),
    }


def rl2_z(agent: str, n: int) -> float:
    """RL²'s published number minus the score of one of brlbench's agents, in standard errors."""
    step = audit.mine(_STEP, n)
    error = step.error * (library.NUM_MDPS / replay.SEEDS) ** 0.5
    return Mean(audit.rl2(n), error).z(audit.mine(agent, n))


def bayes_z(n: int) -> float:
    """How far RL² is below the best agent that knows the prior, at most; positive is below."""
    return max(-rl2_z(agent, n) for agent in RIVALS)


def _rivals() -> dict[str, Any]:
    lengths = replay.LENGTHS["mdps"]
    won, lost = ([n for n in lengths if sign * rl2_z(_STEP, n) > audit.CLOSE] for sign in (-1, 1))
    beb = [n for n in lengths if rl2_z(_BEB, n) < -audit.CLOSE]
    shares = [f"{audit.rl2(n) / audit.mine('optimal', n).mean:.0%}" for n in lengths]
    return {
        "rivals": RIVALS,
        "mine": audit.mine,
        "rl2": audit.rl2,
        "rl2_z": rl2_z,
        "greedy_won": _numbers(won),
        "greedy_lost": _numbers(lost),
        "greedy_even": _numbers(n for n in lengths if n not in [*won, *lost]),
        "beb_won": _numbers(beb),
        "betas": _numbers(int(beta) for beta in library.BETAS),
        "above_rl2": _numbers(n for n in lengths if bayes_z(n) > audit.CLOSE),
        "share_first": shares[0],
        "share_last": shares[-1],
    }


def _bandits() -> dict[str, Any]:
    cells = audit.cells("bandits")
    by_place = {(cell.agent, cell.n, cell.arms): cell for cell in cells}

    def bandit_cell(agent: str, n: int, arms: int) -> str:
        cell = by_place[agent, n, arms]
        return f"{cell.published}" + ("" if cell.is_exact else f" **{cell.grid.score.mean:.1f}**")

    gittins = [cell for cell in cells if cell.agent == "gittins"]
    return {
        "bandit_cells": cells,
        "bandit_exact": [cell for cell in cells if cell.is_exact],
        "bandit_agents": list(audit.by_agent("bandits")),
        "bandits": sorted({(cell.n, cell.arms) for cell in cells}),
        "bandit_lengths": replay.LENGTHS["bandits"],
        "arms_played": replay.ARMS,
        "bandit_cell": bandit_cell,
        "odd": [cell for cell in cells if not cell.is_exact],
        "gittins_exact": sum(cell.is_exact for cell in gittins),
        "gittins": lambda n, arms: by_place["gittins", n, arms],
        "discount": library.DISCOUNT,
    }


def _numbers(numbers: Iterable[int]) -> list[str]:
    return list(map(str, numbers))


def _called(agent: str) -> str:
    return _NAMES.get(agent, agent)


def _parameter(agent: str) -> str:
    return _PARAMETERS.get(agent, "scale")


def _scored(of: Mean) -> str:
    return f"{of.mean:.1f} ± {of.error:.1f}"


def _farthest(row: Sequence[Cell]) -> str:
    return f"{max(abs(cell.difference) for cell in row):.2f}"


def _change(of: Mean) -> str:
    return _minus(f"{of.mean:+.1f} ± {of.error:.1f}")


def _z(value: float) -> str:
    return _minus(f"{round(value, 1) + 0.0:+.1f}")


def _thousands(number: int) -> str:
    return f"{number:,}"


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")
