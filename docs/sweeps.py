"""Values of agents' parameters whose effects the figures of their pages show."""

from typing import Any, NamedTuple


class Sweep(NamedTuple):
    """Values of one parameter."""

    parameter: str
    values: tuple[Any, ...]
    others: dict[str, Any] = {}  # noqa: RUF012 (never changed); the rest have their defaults


SWEEPS: dict[str, tuple[Sweep, ...]] = {
    "epsilon-greedy": (Sweep("epsilon", (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)),),
    "soft-max": (Sweep("tau", (0.01, 0.05, 0.2, 0.5, 1.0, 5.0, 25.0)),),
    "vdbe": (
        Sweep("sigma", (0.01, 0.1, 1.0, 10.0, 100.0)),
        Sweep("delta", (0.01, 0.03, 0.1, 0.3, 1.0)),
        Sweep("initial_epsilon", (0.0, 0.25, 0.5, 0.75, 1.0)),
        Sweep("scope", ("state", "all")),
    ),
    "beb": (
        Sweep("beta", (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)),
        Sweep("bonus", ("pair", "transition")),
        Sweep("ties", ("first", "random")),
    ),
    "bolt": (Sweep("eta", (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)),),
    "vbrb": (Sweep("beta", (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)),),
    "mbie-eb": (Sweep("beta", (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)),),
    "bonus": (
        Sweep("beta", (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)),
        Sweep("spread", (0.0, 0.25, 0.5, 1.0, 2.0)),
        Sweep("decay", (0.0, 0.25, 0.5, 1.0, 2.0)),
        Sweep("shift", (0.0, 0.5, 1.0, 2.0, 4.0)),
    ),
    "eubrl": (Sweep("eta", (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)),),
    "spread": (
        Sweep("kappa", (0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0, 1.5)),
        Sweep("decay", (0.25, 0.5, 0.75, 1.0)),
    ),
    "sparse-prior": (
        Sweep("kappa", (0.0, 0.2, 0.45, 0.7, 1.0)),
        Sweep("odds", (0.0, 0.01, 0.03, 0.1, 1.0)),
    ),
    "shift-prior": (Sweep("kappa", (0.0, 0.2, 0.45, 0.7, 1.0)),),
    "formula": (
        Sweep("formula", ("Qmean", "Quniform", "Qself", "Qmean + Quniform", "Qmean / Quniform")),
    ),
    "opps-ds": (
        Sweep("draws", (12, 50, 200, 1000, 5000)),
        Sweep("formulas", ("F2", "F3", "F4"), {"draws": 2000}),
        Sweep("exploration", (1.0, 10.0, 100.0, 660.0), {"formulas": "F4", "draws": 5000}),
    ),
    "opps-cs": (
        Sweep("strategy", ("epsilon-greedy", "soft-max", "vdbe", "bonus", "w * Qmean + Qself")),
        Sweep("evaluations", (3, 10, 30, 100)),
        Sweep("mdps_per_evaluation", (2, 10, 50, 200)),
    ),
    "ann": (
        Sweep("hidden", ("10", "50", "10-10")),
        Sweep("rate", (1e-6, 1e-4, 1e-3, 1e-2)),
        Sweep("mdps", (20, 100, 500, 1000)),
        Sweep("rounds", (0, 1, 2), {"labels": "advantage"}),
    ),
    "bamcp": (
        Sweep("simulations", (1, 10, 100, 1000)),
        Sweep("depth", (2, 5, 15, 30), {"simulations": 100}),
        Sweep("exploration", (0.0, 1.0, 3.0, 10.0), {"simulations": 100}),
        Sweep("leaf", ("rollout", "value", "updated-value"), {"simulations": 100}),
    ),
    "bfs3": (
        Sweep("simulations", (1, 10, 30, 100)),
        Sweep("branching", (1, 2, 5, 15), {"simulations": 15}),
        Sweep("depth", (2, 5, 15, 30), {"simulations": 15}),
    ),
    "lookahead": (Sweep("depth", (0, 1, 2, 3)),),
    "boss": (
        Sweep("samples", (1, 2, 5, 10, 20)),
        Sweep("visits", (1, 3, 10, 30, 100)),
    ),
    "sboss": (
        Sweep("epsilon", (1.0, 0.1, 0.01, 0.001)),
        Sweep("delta", (0.01, 0.1, 1.0, 3.0, 9.0)),
    ),
    "vpi": (Sweep("samples", (1, 3, 10, 30)),),
    "hindsight": (Sweep("samples", (1, 3, 10, 30)),),
    "psrl": (
        Sweep("resample", (0.01, 0.05, 0.2, 0.5, 1.0)),
        Sweep("every", (1, 3, 10, 30, 100)),
    ),
    "random-mix": (
        Sweep("epsilon", (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)),
        Sweep("base", ("optimal", "beb", "bolt", "psrl")),
    ),
}
"""By agent."""
