"""Agents: one folder each, listed in `registry`."""

from .base import Agent, CompiledAgent, Task
from .registry import AGENTS, check_agent, default_parameters, describe, identity, make_agent

__all__ = [
    "AGENTS",
    "Agent",
    "CompiledAgent",
    "Task",
    "check_agent",
    "default_parameters",
    "describe",
    "identity",
    "make_agent",
]
