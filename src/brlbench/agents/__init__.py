"""Agents: one folder each, listed in `registry`."""

from .base import Agent, CompiledAgent, Task
from .registry import AGENTS, describe, make_agent

__all__ = ["AGENTS", "Agent", "CompiledAgent", "Task", "describe", "make_agent"]
