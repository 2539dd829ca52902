"""The task of an agent, in all MDPs of an experiment."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Task:
    """The discount, horizon and deadline that an agent is told besides the prior."""

    discount: float
    horizon: int  # decisions in a trajectory
    deadline: float | None = None  # seconds per decision
