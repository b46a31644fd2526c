"""Command: one slash command, the same for every shell and platform; Desk: what it works on."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Protocol

from hermes.core.errors import UsageError
from hermes.core.ids import SessionId
from hermes.core.messages import Usage
from hermes.core.models import ModelInfo
from hermes.core.services import Services
from hermes.core.store import Session, Store


class Desk(Protocol):
    """What a slash command can see of the conversation it was typed in, and do to it."""

    @property
    def session(self) -> SessionId: ...

    @property
    def principal(self) -> str:
        """Whose conversation it is: the id of who typed the command."""
        ...

    @property
    def store(self) -> Store: ...

    def now(self) -> int:
        """Microseconds since the epoch."""
        ...

    @property
    def busy(self) -> bool:
        """Whether a turn is running."""
        ...

    @property
    def undone(self) -> list[int]:
        """Places of the log from which messages were taken back since something was last said."""
        ...

    def commands(self) -> "Sequence[Command]":
        """The registry, for /help."""
        ...

    def model(self) -> ModelInfo:
        """The model that is asked first."""
        ...

    def answering(self) -> str:
        """Which model answers and why, on one line."""
        ...

    def filled(self) -> int:
        """Tokens of the model's window that the conversation took at the last answer."""
        ...

    def spent(self) -> Usage:
        """What was spent since the conversation was opened here."""
        ...

    async def find(self, text: str) -> Session:
        """A session by id, beginning of an id or title. Raise UsageError for none or several."""
        ...

    async def open(self, session: SessionId | None, title: str = "") -> SessionId:
        """Go to a session (the same one: read its log again), or to a new one."""
        ...

    async def switch(self, model: str) -> str:
        """Let another model answer from the next turn on; return what `answering` says now."""
        ...

    async def stop(self) -> bool:
        """Stop the running turn; False when none runs."""
        ...

    async def say(self, text: str) -> None:
        """Start a turn, as if the person had typed this."""
        ...

    def leave(self) -> None:
        """End this shell."""
        ...


class Preferences(Protocol):
    """The settings, for reading."""

    def show(self, key: str) -> str:
        """A value and where it comes from, secrets masked; every changed one for "".

        Raise ConfigError for a key that does not exist, naming the nearest one.
        """
        ...


@dataclass(frozen=True, slots=True)
class CommandContext:
    desk: Desk
    services: Services


@dataclass(frozen=True, slots=True)
class Command:
    """`run` gets what stands after the name, and returns Markdown to show ("" for nothing).

    `choices` are the words that may come first after the name. `idle` commands are refused while a
    turn runs. `role` is what a person needs to have: "guest" is everybody, "owner" whose home it is.
    """

    name: str
    summary: str
    run: Callable[[CommandContext, str], Awaitable[str]]
    usage: str = ""
    aliases: tuple[str, ...] = ()
    role: str = "guest"
    choices: tuple[str, ...] = field(default=())
    idle: bool = False


def typed(text: str) -> tuple[str, str] | None:
    """Name and rest of a slash command; None when the text is something to say.

    A path such as /etc/hosts is not a command, and neither is a text that begins with two slashes.
    """
    if not text.startswith("/") or text.startswith("//"):
        return None
    name, _, rest = text[1:].partition(" ")
    name, newline, below = name.partition("\n")
    if not name or "/" in name:
        return None
    return name.lower(), f"{below}{newline}{rest}".strip()


def said(text: str) -> str:
    """What the model gets of a text that is not a command: the first of two slashes only protects."""
    return text[1:] if text.startswith("//") else text


def find(commands: Sequence[Command], name: str) -> Command:
    """The command of this name or alias, or the only one that begins so.

    Raise UsageError that names the nearest ones.
    """
    names = {known: command for command in commands for known in (*command.aliases, command.name)}
    if name in names:
        return names[name]
    begun = sorted({command.name for known, command in names.items() if known.startswith(name)})
    if len(begun) == 1:
        return names[begun[0]]
    near = begun or get_close_matches(name, names, n=1)
    hint = f"Did you mean {' or '.join(f'/{one}' for one in near)}?" if near else "/help lists them."
    raise UsageError(f"There is no command /{name}. {hint} To say it to the model, type //{name}.")
