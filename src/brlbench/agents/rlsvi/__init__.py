"""RLSVI, randomised least-squares value iteration (Osband, Van Roy, Russo and Wen, 2019).

In its tabular form, the mean MDP is solved by backward induction with Gaussian noise in every
backup: each pair, with each number of decisions left, gets noise of its own, of the standard
deviation sigma / sqrt(n), where n is the pair's count. The best actions by these values are
followed for an episode. Noise that happens to be high is kept long enough to lead there.

Without episodes there are no layers: each pair has one noise in all its backups, so the noisy mean
MDP has values, which are solved for exactly. Noise is drawn anew as PSRL draws MDPs: with a fixed
probability at each step, or every n steps.

Deviations: the paper regresses on visits, with a regulariser and a prior for what was not seen.
Here the mean MDP and the count are the posterior's, as in this benchmark's other agents, so that
the prior takes that place. Of several best actions the lowest-numbered is taken.
"""

from dataclasses import dataclass

from ...values import NOT_NEGATIVE
from ..base import Arrays, Family, Generator, Task, parameter
from ..psrl import Resampling


@dataclass
class Rlsvi(Resampling):
    """Follows the best actions of the mean MDP with Gaussian noise in every backup."""

    name = "rlsvi"
    reference = "Osband et al., 2019"
    needs = ("counts",)
    episodes = (
        "Plans at the start of each episode, unless `resample` or `every` is given, with noise of "
        "its own for each number of decisions left."
    )
    sigma: float = parameter(1.0, "size of the noise", NOT_NEGATIVE)

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Make room for the prior's mean MDP."""
        from ...builders.model import build_model, copy
        from ...mdps.task import EPISODE
        from . import kernel as kernels

        model = build_model(prior, task, replan=EPISODE)
        return self.make_arrays(
            kernels.Rlsvi, model=copy(model), initial=model, **self.schedule(task)
        )
