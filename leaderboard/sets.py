"""Draw the frozen sets beyond the paper's, write their files, and print their hashes.

python -m leaderboard.sets     those that have no file yet; docs/frozen-sets.md has their reasons
"""

from typing import NamedTuple

from brlbench.problems.frozen import FOLDER, MOST_MDPS, NUM_MDPS, file_name
from brlbench.protocol.experiment import Experiment
from brlbench.storage import write_experiment
from brlbench.storage.frozen import rounded_mdps


class Definition(NamedTuple):
    """What a set is drawn from, and what is played."""

    test: str
    prior: str
    discount: float = 0.95
    horizon: int = 250
    episode: int | None = None


_FAR = (0.99, 1000)  # deep exploration takes longer than 20 decisions, 1 / (1 - 0.95)
SETS = {
    "Grid-10/accurate/v1": Definition("Grid:size=10", "Grid:size=10"),
    "Dense/accurate/v1": Definition("Dense:goals=1", "Dense:goals=1"),
    "GC-Gaussian/accurate/v1": Definition("GC:deviation=5", "GC:deviation=5"),
    "GC-Gaussian/inaccurate/v1": Definition("GC:deviation=5", "uniform:GC:deviation=5"),
    "LongChain/accurate/v1": Definition("LongChain", "LongChain", *_FAR),
    "LongChain/inaccurate/v1": Definition("LongChain", "uniform:LongChain", *_FAR),
    "RiverSwim/unlabelled/v1": Definition("shuffled:20:RiverSwim", "RiverSwim", *_FAR),
    "RiverSwim-20/unlabelled/v1": Definition(
        "shuffled:20:RiverSwim:size=20", "RiverSwim:size=20", *_FAR
    ),
    "DeepSea-6/unlabelled/v1": Definition("shuffled:20:DeepSea:size=6", "DeepSea:size=6", *_FAR),
    "DeepSea-10/unlabelled/v1": Definition("shuffled:20:DeepSea", "DeepSea", *_FAR),
    "Chain-tied/accurate/v1": Definition("Chain:prior=tied", "Chain:prior=tied", *_FAR),
    "Chain-semi/accurate/v1": Definition("Chain:prior=semi", "Chain:prior=semi", *_FAR),
    "Chain-full/accurate/v1": Definition("Chain:prior=full", "Chain:prior=full", *_FAR),
    "GoalGrid/accurate/v1": Definition("GoalGrid", "GoalGrid"),
    "Bandit-5/accurate/v1": Definition("Bandit", "Bandit"),
    "Bandit-10/accurate/v1": Definition("Bandit:arms=10", "Bandit:arms=10"),
    "RandomMDP/accurate/v1": Definition("RandomMDP", "RandomMDP", 1.0, 1000, 10),
}


def draw(name: str, num_mdps: int = NUM_MDPS) -> Experiment:
    """The first MDPs of a set, drawn now and rounded."""
    test, prior, discount, horizon, episode = SETS[name]
    drawn = Experiment(prior, test, num_mdps, discount, horizon, episode=episode)
    return drawn.replace(mdps=rounded_mdps(drawn.mdps), origin=name)


def main() -> None:
    """Write the files that are missing."""
    for name in SETS:
        path = FOLDER / file_name(name)
        if not path.exists():
            made = draw(name)
            write_experiment(path, made)
            print(f'"{name}": "{made.hash}", all: "{draw(name, MOST_MDPS).hash}"', flush=True)


if __name__ == "__main__":
    main()
