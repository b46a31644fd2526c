"""A conversation by lines, for terminals that cannot move their cursor and for pipes."""

import os
import signal
import stat
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from hermes.core.commands import CommandContext, find, said, typed
from hermes.core.errors import HermesError, UsageError
from hermes.core.events import Asked, MessageAdded, Stop, TurnEnded
from hermes.core.messages import NOTHING_SPENT, Role
from hermes.engine.conversation import Conversation
from hermes.engine.runtime import Runtime
from hermes.shells.cli import words
from hermes.shells.cli.desk import TerminalDesk
from hermes.shells.cli.plain import Closed, Interview, Notes, Paper, Streams


async def by_lines(runtime: Runtime, talk: Conversation, streams: Streams) -> int:
    """One line is one message or command, until there are no more. Return the exit code."""
    shell = _Lines(runtime, streams, Notes(streams.err), Paper(streams.out, live=False))
    shell.desk = TerminalDesk(runtime, talk, shell.say, shell.leave, lambda _: None)
    try:
        return await shell.run()
    except Closed:
        return 128 + signal.SIGPIPE


@dataclass(slots=True)
class _Lines:
    runtime: Runtime
    streams: Streams
    notes: Notes
    paper: Paper
    desk: TerminalDesk = field(init=False)
    left: bool = False
    _kept: bytes = b""

    async def run(self) -> int:
        self.notes.add(self.desk.answering())
        self.notes.add(f"session {self.desk.session}; /help lists the commands, /quit leaves")
        while not self.left:
            if self.streams.attended:
                self.streams.err.write("> ")
                self.streams.err.flush()
            line = await self._line()
            if line is None:
                return 0
            if line.strip():
                await self._take(line.strip())
        return 0

    def leave(self) -> None:
        self.left = True

    async def _take(self, text: str) -> None:
        try:
            if command := typed(text):
                found = find(self.desk.commands(), command[0])
                shown = await found.run(CommandContext(self.desk, self.runtime.services), command[1])
                if shown:
                    self.paper.answer(shown)
            else:
                await self.say(said(text))
        except UsageError as error:
            self.notes.say(str(error))
        except HermesError as error:
            self.notes.say(f"hermes: {error}")

    async def say(self, text: str) -> None:
        """Run one turn to its end; Ctrl-C stops it."""
        self.desk.undone.clear()
        person = Interview(self.streams.stdin, self.notes) if self.streams.attended else None
        answer, last = "", TurnEnded(Stop.FAILED, NOTHING_SPENT)
        async with anyio.create_task_group() as tasks:
            async with self.desk.talk.turn(tasks, text, attended=person is not None) as turn:
                tasks.start_soon(self._heed, turn.stop)
                async for event in turn.events:
                    match event:
                        case MessageAdded(message) if message.role is Role.ASSISTANT:
                            answer = message.text or answer
                        case Asked(question) if person:
                            tasks.start_soon(person.ask, question, turn)
                        case TurnEnded():
                            last = event
                        case _:
                            self.notes.event(event)
            tasks.cancel_scope.cancel()
        self._end(last, answer)
        await self.desk.talk.settle()

    def _end(self, event: TurnEnded, answer: str) -> None:
        if answer:
            self.paper.answer(answer)
        if why := words.ended(event):
            self.notes.say(why)

    async def _heed(self, stop: Callable[[], None]) -> None:
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            async for _ in signals:
                stop()

    async def _line(self) -> str | None:
        """The next line; None at the end of the input."""
        try:
            handle = self.streams.stdin.fileno()
        except (OSError, ValueError):  # it is closed
            return None
        while b"\n" not in self._kept:
            await _readable(handle)
            piece = os.read(handle, 65_536)
            if not piece:
                rest, self._kept = self._kept, b""
                return rest.decode(errors="replace") if rest else None
            self._kept += piece
        line, _, self._kept = self._kept.partition(b"\n")
        return line.decode(errors="replace")


async def _readable(handle: int) -> None:
    """Wait until there is something to read; a file is always ready, and cannot be waited for."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        await anyio.wait_readable(handle)
