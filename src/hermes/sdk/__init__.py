"""All that an extension author imports."""

from hermes.core.commands import Command, CommandContext
from hermes.core.effects import Effects
from hermes.core.errors import BadArguments, Denied, TimedOut, ToolError
from hermes.core.tools import Tool, ToolContext, ToolOutput
from hermes.sdk.command import command
from hermes.sdk.tool import tool

__all__ = [
    "BadArguments",
    "Command",
    "CommandContext",
    "Denied",
    "Effects",
    "TimedOut",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolOutput",
    "command",
    "tool",
]
