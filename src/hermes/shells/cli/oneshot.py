"""One question, one answer: the answer on stdout and nothing else, the work on stderr.

Nothing heavy is imported here: this is the start path.
"""

import signal
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from hermes.core.errors import ConfigError, HermesError, UsageError
from hermes.core.events import (
    Asked,
    Event,
    MessageAdded,
    ModelSwitched,
    Stop,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from hermes.core.messages import Role
from hermes.core.store import Session
from hermes.engine.conversation import Conversation, Turn
from hermes.engine.runtime import Runtime
from hermes.engine.toolbox import refused_unasked
from hermes.shells.cli import words
from hermes.shells.cli.plain import Closed, Interview, Notes, Paper, Streams, discard
from hermes.shells.cli.stdin import question

ANSWERED, FAILED, USAGE, LIMIT, REFUSED = 0, 1, 2, 3, 4
CLOSED = 128 + signal.SIGPIPE
LONG = 1.5
"""Seconds after which a running call is mentioned before it is done."""


@dataclass(slots=True)
class _Course:
    """What has happened so far in the one turn."""

    answer: str = ""
    refused: bool = False
    signal: int = 0
    broken: Exception | None = None
    last: TurnEnded | None = None
    running: set[str] = field(default_factory=set[str])


async def oneshot(
    runtime: Runtime, text: str, streams: Streams, *, session: Session | None = None, quiet: bool = True
) -> int:
    """Ask once and return the exit code.

    0 answered, 1 failed, 2 nothing to ask or a wrong setting, 3 stopped by a guard or the budget,
    4 something was refused because nobody was there to be asked, 130 interrupted, 141 the reader of
    stdout left. `text` "-" reads the question from stdin; what is piped in is added to it. Without
    `quiet` it is also told on stderr what the model says on its way, and where the conversation is
    kept. A terminal sees the answer grow.
    """
    out, err = streams.out, streams.err
    notes = Notes(err, talkative=not quiet)
    try:
        asked = question(text, streams.stdin, err)
        talk = await runtime.open(session)
        notes.add(runtime.answering())
        person = Interview(streams.stdin, notes) if streams.attended else None
        shell = _Shell(talk, Paper(out, out.isatty() and not streams.dumb), notes, person)
        return await shell.run(asked)
    except (UsageError, ConfigError) as error:
        notes.say(f"hermes: {error}")
        return USAGE
    except HermesError as error:
        notes.say(f"hermes: {error}")
        discard(out)
        return FAILED
    except Closed:
        discard(out)
        return CLOSED


@dataclass(slots=True)
class _Shell:
    """One turn on paper."""

    talk: Conversation
    paper: Paper
    notes: Notes
    person: Interview | None
    course: _Course = field(default_factory=_Course)

    async def run(self, asked: str) -> int:
        async with anyio.create_task_group() as tasks:
            async with self.talk.turn(tasks, asked, attended=self.person is not None) as turn:
                tasks.start_soon(self._heed, turn)
                async for event in turn.events:
                    try:
                        self._show(event, turn, tasks)
                    except (Closed, HermesError) as error:  # raised again once the turn has ended
                        self.course.broken = error
                        turn.stop()
            tasks.cancel_scope.cancel()
        with suppress(HermesError):  # said already, or said again by whoever goes on with this
            await self.talk.settle()
        if self.course.broken:
            raise self.course.broken
        return self._leave()

    async def _heed(self, turn: Turn) -> None:
        """The first signal ends the turn in order; the second one is not caught any more."""
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                self.course.signal = number
                turn.stop()
                return

    def _show(self, event: Event, turn: Turn, tasks: TaskGroup) -> None:
        match event:
            case TextDelta(piece):
                self.paper.grow(piece)
            case MessageAdded(message) if message.role is Role.ASSISTANT:
                self.course.answer = message.text or self.course.answer
                self.paper.settle(message.text)
                if message.calls and not self.paper.live:  # a terminal has seen it already
                    self.notes.aside(message.text)
            case ModelSwitched():
                self.paper.void()
            case ToolStarted(call):
                self.course.running.add(call.id)
                tasks.start_soon(self._mention, event)
            case ToolFinished(call, result):
                self.course.running.discard(call.id)
                self.course.refused |= refused_unasked(result)
            case Asked(asked) if self.person is not None:
                tasks.start_soon(self.person.ask, asked, turn)
            case TurnEnded():
                self.course.last = event
            case _:
                pass
        self.notes.event(event)

    async def _mention(self, event: ToolStarted) -> None:
        await anyio.sleep(LONG)
        if event.call.id in self.course.running:
            self.notes.add(f"{words.action(event.call)} ...")

    def _leave(self) -> int:
        """Print the answer, say why it ended, and name that as an exit code."""
        last = self.course.last
        stop = last.stop if last else Stop.FAILED
        if stop not in {Stop.CANCELLED, Stop.FAILED} and self.course.answer:
            self.paper.answer(self.course.answer)
        self.paper.end()
        if last and (why := words.ended(last)):
            self.notes.say(f"hermes: {why}")
        if stop is Stop.CANCELLED:
            self.notes.say(f"Go on with: hermes --resume {self.talk.session}")
            return 128 + (self.course.signal or signal.SIGINT)
        self.notes.close(self.talk.session, last.usage if last else None)
        if stop is Stop.FAILED:
            return FAILED
        if stop in {Stop.GUARD, Stop.BUDGET}:
            return LIMIT
        return REFUSED if self.course.refused else ANSWERED
