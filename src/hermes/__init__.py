"""Hermes: an agent that talks, acts, remembers and learns.

The public names are loaded when they are first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermes.app.api import Agent as Agent
    from hermes.app.api import AIAgent as AIAgent
    from hermes.sdk import tool as tool

__version__ = "0.1.0"
__all__ = ["AIAgent", "Agent", "__version__", "tool"]

_HOMES = {"Agent": "hermes.app.api", "AIAgent": "hermes.app.api", "tool": "hermes.sdk"}


def __getattr__(name: str) -> Any:
    if home := _HOMES.get(name):
        return getattr(import_module(home), name)
    raise AttributeError(f"module 'hermes' has no attribute {name!r}")
