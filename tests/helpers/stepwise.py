"""Agents that come with the package, disguised as plain Python agents."""

from brlbench.testing import step_by_step

__all__ = ["step_by_step"]
