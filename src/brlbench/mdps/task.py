"""The task of an agent, in all MDPs of an experiment."""

import dataclasses

STEP, EPISODE = "step", "episode"  # how often agents plan in episodes


@dataclasses.dataclass(frozen=True, repr=False)
class Task:
    """The discount, horizon, deadline and episodes that an agent is told besides the prior."""

    discount: float
    horizon: int  # decisions in a trajectory
    deadline: float | None = None  # seconds per decision
    episode: int | None = None  # decisions after which the state is drawn from the start again

    def __repr__(self) -> str:
        # Names of files depend on it: without episodes, it is what it was before there were any.
        names = [field.name for field in dataclasses.fields(self)]
        shown = [name for name in names if name != "episode" or self.episode is not None]
        return f"Task({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"
