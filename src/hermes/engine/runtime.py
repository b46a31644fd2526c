"""Runtime: what a front end is handed. It opens conversations and consumes their events."""

from collections.abc import Sequence
from typing import Protocol

from hermes.core.clock import Clock
from hermes.core.commands import Command
from hermes.core.services import Services
from hermes.core.store import Session, Store
from hermes.engine.conversation import Conversation
from hermes.engine.hub import Hub


class Runtime(Protocol):
    """One home, composed and running."""

    @property
    def clock(self) -> Clock: ...
    @property
    def store(self) -> Store: ...
    @property
    def hub(self) -> Hub: ...
    @property
    def services(self) -> Services: ...
    @property
    def commands(self) -> Sequence[Command]:
        """The slash commands, in the order of their names."""
        ...

    async def open(
        self, session: Session | None = None, *, source: str = "terminal", cwd: str = "", title: str = ""
    ) -> Conversation:
        """Begin a conversation, or go on with a stored one.

        Its row is written with its first message. Raise ModelError when no model can be reached,
        ConfigError when the settings do not allow one to be chosen.
        """
        ...

    async def find(self, text: str, principal: str = "local") -> Session:
        """A session by id, beginning of an id or title. Raise UsageError for none or several."""
        ...

    def answering(self) -> str:
        """Which model answers and why it was chosen, on one line; known after the first open."""
        ...

    async def switch(self, talk: Conversation, model: str) -> str:
        """Let another model answer from the next turn on; return what `answering` says now."""
        ...
