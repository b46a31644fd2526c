"""Command: one slash command, the same for every shell and platform."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from hermes.core.ids import SessionId
from hermes.core.services import Services


class Desk(Protocol):
    """What a slash command can do to the conversation it was typed in."""

    @property
    def session(self) -> SessionId: ...

    @property
    def busy(self) -> bool:
        """Whether a turn is running."""
        ...

    def commands(self) -> "tuple[Command, ...]":
        """The registry, for /help."""
        ...

    async def stop(self) -> bool:
        """Stop the running turn; False when none runs."""
        ...

    async def open(self, session: SessionId | None) -> SessionId:
        """Go to a session, or to a new one."""
        ...

    async def say(self, text: str) -> None:
        """Start a turn, as if the person had typed this."""
        ...

    def leave(self) -> None:
        """End this shell."""
        ...


@dataclass(frozen=True, slots=True)
class CommandContext:
    desk: Desk
    services: Services


@dataclass(frozen=True, slots=True)
class Command:
    """`run` gets what stands after the name, and returns Markdown to show ("" for nothing)."""

    name: str
    summary: str
    run: Callable[[CommandContext, str], Awaitable[str]]
    usage: str = ""
    aliases: tuple[str, ...] = ()
    role: str = "guest"
    choices: tuple[str, ...] = field(default=())
