"""A conversation in the terminal: what is typed becomes turns, steering, answers and commands."""

import signal

import anyio
from anyio.abc import TaskGroup, TaskStatus

from hermes.core.commands import CommandContext, find, said, typed
from hermes.core.errors import HermesError, UsageError
from hermes.core.events import Asked, Event, MessageAdded, Stop, TurnEnded
from hermes.core.messages import Message, Role
from hermes.core.store import Session
from hermes.engine.conversation import Conversation, Turn
from hermes.engine.runtime import Runtime
from hermes.lib.amounts import dollars, tokens
from hermes.lib.text import harmless, one_line
from hermes.shells.cli.asking import Asking
from hermes.shells.cli.complete import Offers
from hermes.shells.cli.desk import TerminalDesk, filled
from hermes.shells.cli.lines import by_lines
from hermes.shells.cli.look import Look
from hermes.shells.cli.plain import Streams, discard
from hermes.shells.cli.render import Painter
from hermes.shells.cli.screen import Interrupt, Key, Leave, Line, Screen, Typed
from hermes.shells.cli.view import View

TICK = 0.125
BUSY = "Ctrl-C stops, typing steers"
RECALLED = 2
"""Exchanges shown when a conversation is gone on with."""


async def interactive(runtime: Runtime, session: Session | None = None, *, look: Look) -> int:
    """Talk until the person leaves; return the exit code.

    `session` is a stored conversation to go on with, None begins a new one. Raise ModelError or
    ConfigError when no model can be asked.
    """
    talk = await runtime.open(session)
    streams = Streams.standard(dumb=True)
    if look.plain or not (streams.stdin.isatty() and streams.out.isatty()):
        return await by_lines(runtime, talk, streams)
    async with anyio.create_task_group() as tasks:
        shell = Shell(runtime, talk, look, tasks)
        code = await shell.run()
        tasks.cancel_scope.cancel()
    try:
        streams.out.flush()
    except OSError:  # the window was closed
        discard(streams.out)
    return code


class Shell:
    """One terminal, one conversation at a time."""

    def __init__(self, runtime: Runtime, talk: Conversation, look: Look, tasks: TaskGroup) -> None:
        self.tasks = tasks
        self.desk = TerminalDesk(runtime, talk, self.say, self._leave, self._opened)
        self.painter = Painter(look)
        self.screen = Screen(look, Offers(runtime.commands, talk.cwd), self._above, self._status)
        clock = runtime.clock.monotonic
        self.view = View(self.painter, self.screen.put, lambda: self.screen.width, clock)
        self.asking = Asking(self.painter, self.screen, clock)
        self.context = CommandContext(self.desk, runtime.services)
        self._code = 0
        self._warned = False
        self._filled = 0
        self._hint = ""
        self._idle = anyio.Event()
        self._over = False
        self._next: list[str] = []

    async def run(self) -> int:
        """Take what is typed until the person leaves."""
        self.tasks.start_soon(self._heed)
        self.tasks.start_soon(self.screen.run)
        self._greet()
        await self._repair(self.desk.talk)
        self._opened(self.desk.talk)
        async for what in self.screen.typed:
            self._hint = ""
            if isinstance(what, Interrupt):
                await self._interrupted(what)
            else:
                self._warned = False
                await self._take(what)
        await self._close()
        return self._code

    async def _close(self) -> None:
        """End what runs, and say how to come back."""
        if await self.desk.stop():
            await self._idle.wait()
        if self.desk.talk.log.messages:
            self.screen.put("\n")
            self._row((f"To go on with this: hermes --resume {self.desk.session}", "faint"))

    async def say(self, text: str) -> None:
        """Begin a turn, or say it into the one that runs."""
        if self.desk.turn is None:
            self.desk.undone.clear()
            self.view.you(text)
            await self.tasks.start(self._turn, text)
        elif self._over:
            self._next.append(text)
        else:
            self.view.steered.append(text)
            self.desk.turn.steer(text)
            self.screen.redraw()

    async def _take(self, what: Typed) -> None:
        turn = self.desk.turn
        match what:
            case Leave():
                self._leave()
            case Key(key) if turn:
                self.tasks.start_soon(self.asking.press, key, turn)
            case Line(text) if typed(text):
                await self._command(text)
            case Line(text) if turn and self.asking.current:
                self.asking.line(text, turn)
            case Line(text):
                await self.say(said(text))
            case _:
                pass

    async def _interrupted(self, what: Interrupt) -> None:
        """Stop the turn; without one empty the line; with an empty line, the second time, leave."""
        if not self._over and await self.desk.stop():  # one that has ended already is not there to be stopped
            return
        if not what.empty:
            self.screen.empty()
        elif self._warned:
            self._leave()
        else:
            self._warned, self._hint = True, "Ctrl-C again or Ctrl-D leaves"
            self.screen.redraw()

    async def _command(self, text: str) -> None:
        name, rest = typed(text) or ("", "")
        self.view.you(text)
        try:
            command = find(self.desk.commands(), name)
            if command.idle and self.desk.busy:
                raise UsageError(
                    f"/{command.name} has to wait until the turn has ended: Ctrl-C or /stop ends it."
                )
            shown = await command.run(self.context, rest)
        except HermesError as error:
            self.view.note(str(error), "bad")
        else:
            self.view.answer(shown)
            self._filled = filled(self.desk.talk.log.messages)

    async def _turn(self, text: str, *, task_status: TaskStatus[None]) -> None:
        talk = self.desk.talk
        last: TurnEnded | None = None
        self.view.begin()
        self._idle, self._over = anyio.Event(), False
        async with anyio.create_task_group() as tasks:
            async with talk.turn(tasks, text, attended=True) as turn:
                self.desk.turn = turn
                task_status.started()
                tasks.start_soon(self._tick)
                async for event in turn.events:
                    self._show(event, turn)
                    if isinstance(event, TurnEnded):
                        last, self._over = event, True
            tasks.cancel_scope.cancel()
        await self._after(talk, turn, last)

    def _show(self, event: Event, turn: Turn) -> None:
        match event:
            case Asked(question):
                self.asking.add(question)
            case MessageAdded(Message(role=Role.ASSISTANT) as message) if message.usage.input:
                self._filled = message.usage.input + message.usage.output
                self.view.show(event)
            case _:
                self.view.show(event)
        self.asking.keep(turn)
        self.screen.redraw()

    async def _after(self, talk: Conversation, turn: Turn, last: TurnEnded | None) -> None:
        """Nothing said gets lost: what the turn did not read is said next, or is in the line again."""
        self.asking.clear()
        if last is None or last.stop in {Stop.CANCELLED, Stop.FAILED}:
            await self._repair(talk)
        self.desk.turn = None
        self.view.steered.clear()
        unread = [message.text for message in turn.unread()]
        if last is None or last.stop not in {Stop.DONE, Stop.WAITING}:
            self.screen.fill("\n".join(unread))
            unread.clear()
        following, self._next = [*unread, *self._next], []
        if following:
            self.tasks.start_soon(self.say, "\n".join(following))
        self._idle.set()
        self.screen.redraw()

    async def _repair(self, talk: Conversation) -> None:
        try:
            await talk.settle()
        except HermesError as error:
            self.view.note(str(error), "bad")

    async def _tick(self) -> None:
        while True:
            await anyio.sleep(TICK)
            self.screen.redraw()

    async def _heed(self) -> None:
        """Asked to go, or the terminal is gone: end in order."""
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as signals:
            async for number in signals:
                self._code = 128 + number
                self._leave()
                return

    def _leave(self) -> None:
        self.screen.leave()

    def _greet(self) -> None:
        dot = f" {self.painter.sign('·', '-')} "
        self._row(("hermes", "you"), (f"{dot}{self.desk.answering()}", "faint"))
        self._row((f"session {self.desk.session}", "faint"))
        hints = "/help lists the commands", "Alt-Enter begins a line", "Ctrl-D leaves"
        self._row((dot.join(hints), "faint"))

    def _row(self, *pieces: tuple[str, str]) -> None:
        self.screen.put(self.painter.line(*pieces, width=self.screen.width, indent=2))

    def _opened(self, talk: Conversation) -> None:
        """Show the end of what was said before, briefly."""
        messages = talk.log.messages
        self._filled = filled(messages)
        openings = [place for place, message in enumerate(messages) if message.opening]
        if not openings:
            return
        begin = openings[-RECALLED:][0]
        self.screen.put("\n")
        self.view.note(f"going on with {talk.session}: {len(messages)} messages, the last of them:")
        for message in messages[begin:]:
            self.view.recall(message)

    def _above(self, width: int) -> str:
        asked = self.asking.rows(width)
        room = max(self.screen.height - asked.count("\n") - 6, 3)
        return self.view.rows(width, min(room, 16)) + asked

    def _status(self, width: int) -> str:
        desk = self.desk
        dot = f" {self.painter.sign('·', '-')} "
        info = desk.model()
        parts = [self.view.elapsed()] if desk.busy else []
        parts.append(info.name)
        if self._filled:
            share = (
                f"/{tokens(info.context)} {self._filled / info.context:.0%}" if info.context else " tokens"
            )
            parts.append(f"{tokens(self._filled)}{share}")
        if cost := desk.spent().cost:
            parts.append(dollars(cost))
        if hint := self._hint or (BUSY if desk.busy else ""):
            parts.append(hint)
        return harmless(one_line(dot.join(parts), width))
