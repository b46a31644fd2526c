"""TerminalDesk: the conversation a slash command works on, in this terminal."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from hermes.core.commands import Command
from hermes.core.ids import SessionId
from hermes.core.messages import Message, Role, Usage
from hermes.core.models import ModelInfo
from hermes.core.people import OWNER
from hermes.core.store import Session, Store
from hermes.engine.conversation import Conversation, Turn
from hermes.engine.runtime import Runtime


@dataclass(slots=True)
class TerminalDesk:
    """`start` begins a turn, `end` leaves the shell, `opened` shows a conversation that was gone to."""

    runtime: Runtime
    talk: Conversation
    start: Callable[[str], Awaitable[None]]
    end: Callable[[], None]
    opened: Callable[[Conversation], None]
    turn: Turn | None = None
    undone: list[int] = field(default_factory=list[int])

    @property
    def session(self) -> SessionId:
        return self.talk.session

    @property
    def principal(self) -> str:
        return OWNER.id

    @property
    def store(self) -> Store:
        return self.runtime.store

    def now(self) -> int:
        return self.runtime.clock.now()

    @property
    def busy(self) -> bool:
        return self.turn is not None

    def commands(self) -> Sequence[Command]:
        return self.runtime.commands

    def model(self) -> ModelInfo:
        return self.talk.agent.models[0].info

    def answering(self) -> str:
        return self.runtime.answering()

    def filled(self) -> int:
        return filled(self.talk.log.messages)

    def spent(self) -> Usage:
        return self.talk.meter.used

    async def find(self, text: str) -> Session:
        return await self.runtime.find(text, OWNER.id)

    async def open(self, session: SessionId | None, title: str = "") -> SessionId:
        stored = None
        if session is not None:
            stored = await self.store.read(lambda tx: tx.sessions.get(session))
        same, before = session == self.talk.session, self.talk
        self.talk = await self.runtime.open(stored, cwd=before.cwd if stored is None else "", title=title)
        self.undone.clear()
        if same:
            self.talk.meter = before.meter
        else:
            self.opened(self.talk)
        return self.talk.session

    async def switch(self, model: str) -> str:
        return await self.runtime.switch(self.talk, model)

    async def stop(self) -> bool:
        if self.turn is None:
            return False
        self.turn.stop()
        return True

    async def say(self, text: str) -> None:
        await self.start(text)

    def leave(self) -> None:
        self.end()


def filled(messages: Sequence[Message]) -> int:
    """Tokens of the window at the last answer: what was sent and what came back."""
    for message in reversed(messages):
        if message.role is Role.ASSISTANT and message.usage.input:
            return message.usage.input + message.usage.output
    return 0
