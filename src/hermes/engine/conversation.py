"""A conversation: its log, its prompt, its agent; and the turns that are run in it."""

import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup, TaskStatus
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from hermes.core import conversation
from hermes.core.budget import Meter
from hermes.core.clock import Clock, Lap
from hermes.core.errors import BudgetSpent, HermesError, ModelError
from hermes.core.events import Emit, Event, Stop, TurnEnded, TurnStarted
from hermes.core.ids import QuestionId, SessionId, TurnId
from hermes.core.messages import Media, Message, Note, Role, Text
from hermes.core.questions import Answer
from hermes.engine.act import Scene
from hermes.engine.agent import Agent
from hermes.engine.draft import Draft
from hermes.engine.hub import Hub
from hermes.engine.log import Log
from hermes.engine.permission import Pending
from hermes.engine.prompt import volatile
from hermes.engine.turn import Inbox, Stage, run
from hermes.engine.window import Window
from hermes.lib.ids import fresh

logger = logging.getLogger(__name__)

BUFFER = 64


@dataclass(frozen=True, slots=True)
class Turn:
    """A running turn: iterate its events, steer it, answer its questions, stop it."""

    id: TurnId
    events: MemoryObjectReceiveStream[Event]
    _inbox: Inbox
    _pending: Pending
    _scope: anyio.CancelScope
    _clock: Clock

    def steer(self, text: str) -> None:
        """Say something while the turn runs: a real user message at the next step."""
        parts = (Text(text), Note("said while you were at work", "steer"))
        self._inbox.waiting.append(Message(Role.USER, parts, at=self._clock.now()))

    def answer(self, answer: Answer) -> bool:
        """Answer the question of an Asked event. False when it is not open (any more)."""
        return self._pending.settle(answer)

    def questions(self) -> Sequence[QuestionId]:
        """What is waiting for an answer."""
        return self._pending.open()

    def unread(self) -> list[Message]:
        """What was said but never reached the model, once the turn has ended."""
        return self._inbox.take()

    def stop(self) -> None:
        """End the turn and everything it started."""
        self._scope.cancel()


@dataclass(slots=True)
class Conversation:
    """One session at work.

    `system` are the stored tiers of its prompt. `meter` is what its turns draw from. `hub` tells
    observers beside the shell that runs the turn. `facts` are what may differ from turn to turn (the
    date): told to the model with the newest message when they have changed. `waits` are the seconds
    that a question of a kind stays open.
    """

    session: SessionId
    agent: Agent
    log: Log
    clock: Clock
    system: tuple[str, ...] = ()
    cwd: str = "/"
    max_tokens: int | None = None
    meter: Meter = field(default_factory=Meter)
    hub: Hub = field(default_factory=Hub)
    root: SessionId | None = None
    facts: Callable[[], Sequence[str]] = tuple
    waits: Mapping[str, float] = field(default_factory=dict[str, float])
    _window: Window | None = None

    async def settle(self) -> None:
        """Make the history whole after a turn that was stopped, without beginning another one."""
        try:
            await self.log.repair()
        finally:
            self.log.journal.close()

    def switch(self, agent: Agent) -> None:
        """Go on with another agent from the next turn."""
        self.agent, self._window = agent, None

    @asynccontextmanager
    async def turn(
        self,
        tasks: TaskGroup,
        text: str,
        *,
        notes: Sequence[Note] = (),
        media: Sequence[Media] = (),
        attended: bool = False,
    ) -> AsyncGenerator[Turn, None]:
        """Run a turn in the caller's task group. Leaving the block ends the turn.

        Its events must be read: a slow listener slows the turn down and loses nothing. The last one
        is TurnEnded. `attended` says that a person can answer questions.
        """
        send, receive = anyio.create_memory_object_stream[Event](BUFFER)
        turn, emit = TurnId(fresh("turn")), _Outlet(self.hub, self.session, send)
        pending = Pending(emit, attended, self.waits)
        told = volatile(self.facts(), self.log.messages)
        first = Message(Role.USER, (Text(text), *media, *notes, *told), at=self.clock.now())
        inbox = Inbox([first] if text or media else [])
        stage = self._stage(turn, inbox, pending, emit)
        scope, entered, ended = anyio.CancelScope(), anyio.Event(), anyio.Event()

        async def drive(*, task_status: TaskStatus[None]) -> None:
            task_status.started()
            async with send:
                try:
                    await entered.wait()
                    end = await self._play(turn, stage, scope)
                finally:
                    ended.set()  # also when everything around the turn is cancelled
                await emit(end)

        async with receive:
            try:
                await tasks.start(drive)  # one that is only scheduled may be cancelled before it begins
            except BaseException:
                send.close()
                raise
            try:
                entered.set()
                yield Turn(turn, receive, inbox, pending, scope, self.clock)
            finally:
                scope.cancel()
                with anyio.CancelScope(shield=True):
                    await ended.wait()

    def _stage(self, turn: TurnId, inbox: Inbox, pending: Pending, emit: Emit) -> Stage:
        if self._window is None:
            self._window = Window(self.system, self.agent.toolbox.specs, self.max_tokens)
        tools, log, clock = self.agent.toolbox, self.log, self.clock
        scene = Scene(tools, log, emit, self.session, self.cwd, pending.ask, clock.now)
        meter, draft = Meter(self.agent.budget, self.meter), Draft(log.journal, turn)
        return Stage(self.agent, log, self._window, inbox, meter, draft, scene, emit, Lap(clock))

    async def _play(self, turn: TurnId, stage: Stage, scope: anyio.CancelScope) -> TurnEnded:
        """Run the loop to its end, whatever that is, and name it."""
        stop, error, reason = Stop.CANCELLED, "", ""
        token = conversation.current.set(self.root or self.session)
        try:
            with scope:
                models = stage.agent.models
                await stage.emit(TurnStarted(turn, self.session, models[0].name if models else ""))
                stop = await run(stage)
        except BudgetSpent:
            stop = Stop.BUDGET
        except HermesError as failure:
            stop, error = Stop.FAILED, str(failure)
            reason = failure.kind if isinstance(failure, ModelError) else type(failure).__name__
        except Exception as bug:  # crash boundary: a turn may die, the process may not
            logger.exception("turn crashed")
            stop, error, reason = Stop.FAILED, f"internal error: {bug!r}", type(bug).__name__
        finally:
            stage.meter.elapse(stage.lap())
            self.log.journal.close()
            conversation.current.reset(token)
        if stop is Stop.BUDGET:
            error, reason = stage.meter.spent, "budget"
        return TurnEnded(stop, stage.meter.used, error, reason)


@dataclass(frozen=True, slots=True)
class _Outlet:
    """Where a turn's events go: to observers, and to the shell that runs it."""

    hub: Hub
    session: SessionId
    send: MemoryObjectSendStream[Event]

    async def __call__(self, event: Event) -> None:
        self.hub.publish(self.session, event)
        with suppress(anyio.BrokenResourceError):  # nobody listens any more
            try:
                self.send.send_nowait(event)
            except anyio.WouldBlock:
                await self.send.send(event)
