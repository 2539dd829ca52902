"""The uniformly random agent, the lower end of every comparison."""

from dataclasses import dataclass

from ..base import Arrays, CompiledAgent, Family, Generator, Task


@dataclass
class Random(CompiledAgent):
    """Draws every action uniformly at random."""

    name = "random"
    episodes = "Draws every action, as always."

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Nothing to learn."""
        from . import kernel as kernels

        return self.make_arrays(kernels.Random, num_actions=prior.num_actions)
