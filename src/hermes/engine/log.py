"""The append-only log of a conversation, and its repair after a crash or a cancel."""

from collections.abc import Sequence

import anyio

from hermes.core.ids import TurnId
from hermes.core.messages import Message, Outcome, Role, Text, ToolResult
from hermes.core.store import Journal, Opening

UNBEGUN = "stopped before it began: it did not happen."
UNANSWERED = "stopped while a person was asked: what was asked about did not happen."
LOST = (
    "interrupted before it finished: it may have happened, in part or in whole. Look before doing it again."
)


class Nowhere:
    """A journal for conversations that are not kept."""

    def __init__(self) -> None:
        self._draft = ""

    async def append(self, message: Message) -> None:
        if message.role is Role.ASSISTANT:
            self._draft = ""

    async def draft(self, turn: TurnId, n: int, text: str) -> None:  # noqa: ARG002
        self._draft = text if n == 0 else self._draft + text

    async def open(self) -> Opening:
        return Opening((), self._draft)

    def close(self) -> None:
        return


class Log:
    """Messages in order. A message is in the log once its journal has acknowledged it."""

    __slots__ = ("_messages", "journal")

    def __init__(self, messages: Sequence[Message] = (), journal: Journal | None = None) -> None:
        self._messages = list(messages)
        self.journal: Journal = journal or Nowhere()

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    @property
    def last(self) -> Message | None:
        return self._messages[-1] if self._messages else None

    async def append(self, message: Message) -> None:
        """Append to both, or to none: a stop in between waits, or they would tell two stories."""
        with anyio.CancelScope(shield=True):
            await self.journal.append(message)
            self._messages.append(message)

    async def repair(self) -> None:
        """Become the only writer, and make the history valid: a crash and a cancel leave the same marks.

        What others wrote meanwhile is taken in. Text that was being streamed becomes an interrupted
        answer; a call without a result is answered `interrupted`.
        """
        opening = await self.journal.open()
        self._messages += opening.news
        if opening.draft:
            await self.append(Message(Role.ASSISTANT, (Text(opening.draft),), interrupted=True))
        answered = {result.call for message in self._messages for result in message.results}
        lost = tuple(
            ToolResult(call.id, Outcome.INTERRUPTED, LOST)
            for message in self._messages
            for call in message.calls
            if call.id not in answered
        )
        if lost:
            await self.append(Message(Role.TOOL, lost))
