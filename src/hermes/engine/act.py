"""The tool calls of one answer: run together what may run together, record in the order called."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import anyio

from hermes.core.events import Emit, ToolFinished, ToolProgress, ToolStarted
from hermes.core.ids import SessionId
from hermes.core.messages import Message, Outcome, Role, ToolCall, ToolResult
from hermes.core.questions import Answer, Question
from hermes.core.tools import ToolContext
from hermes.engine.log import LOST, UNANSWERED, UNBEGUN, Log
from hermes.engine.toolbox import Toolbox, renamed
from hermes.lib.groups import leaf

AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Scene:
    """Where calls happen: what every call of a turn shares."""

    toolbox: Toolbox
    log: Log
    emit: Emit
    session: SessionId
    cwd: str
    ask: Callable[[Question], Awaitable[Answer | None]]
    now: Callable[[], int]


@dataclass(slots=True)
class _Row:
    """One call: what it waits for, and its result once there is one."""

    call: ToolCall
    after: list["_Row"]
    twin: "_Row | None"
    done: anyio.Event = field(default_factory=anyio.Event)
    fate: str = UNBEGUN
    result: ToolResult | None = None

    def lost(self) -> ToolResult:
        """What is recorded of a call that is stopped now."""
        return ToolResult(self.call.id, Outcome.INTERRUPTED, self.fate)


async def act(calls: Sequence[ToolCall], scene: Scene) -> None:
    """Run every call once; a call waits for the earlier calls whose effects conflict with its own.

    Results go into the log in call order, as soon as all earlier ones are there. A stop in the middle
    keeps the results there are and records the other calls as interrupted.
    """
    rows = _plan(calls, scene)
    writer = _Writer(rows, scene)
    try:
        if len(rows) == 1:
            await _run(rows[0], scene)
            await writer.write()
        else:
            await _together(rows, writer, scene)
    except anyio.get_cancelled_exc_class():
        await writer.close()
        raise


async def _together(rows: Sequence["_Row"], writer: "_Writer", scene: Scene) -> None:
    limiter = anyio.Semaphore(AT_ONCE)

    async def one(row: _Row) -> None:
        for earlier in row.after:
            await earlier.done.wait()
        if row.twin and row.twin.result:
            row.result = renamed(row.twin.result, row.call)
        else:
            async with limiter:
                await _run(row, scene)
        row.done.set()
        await writer.write()

    try:
        async with anyio.create_task_group() as tasks:
            for row in rows:
                tasks.start_soon(one, row)
    except ExceptionGroup as group:  # the log failed: one of them says how
        raise leaf(group) from None


@dataclass(slots=True)
class _Writer:
    """Puts results into the log in call order."""

    rows: Sequence[_Row]
    scene: Scene
    written: int = 0
    lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def write(self) -> None:
        async with self.lock:
            ready: list[ToolResult] = []
            for row in self.rows[self.written :]:
                if row.result is None:
                    break
                ready.append(row.result)
            await self._append(ready)

    async def close(self) -> None:
        """Record what is left after a stop. The log finishes an append that a stop interrupts."""
        await self._append([row.result or row.lost() for row in self.rows[self.written :]])

    async def _append(self, results: Sequence[ToolResult]) -> None:
        if results:
            self.written += len(results)
            await self.scene.log.append(Message(Role.TOOL, tuple(results), at=self.scene.now()))


def _plan(calls: Sequence[ToolCall], scene: Scene) -> list[_Row]:
    if len(calls) == 1:
        return [_Row(calls[0], [], None)]
    rows: list[_Row] = []
    prints = [scene.toolbox.footprint(call, scene.cwd) for call in calls]
    first: dict[str, _Row] = {}
    for call, mine in zip(calls, prints, strict=True):
        key = f"{call.name} {json.dumps(call.arguments, sort_keys=True)}"
        twin = None if call.fault else first.get(key)
        after = [twin] if twin else [r for r, p in zip(rows, prints, strict=False) if p.conflicts(mine)]
        row = _Row(call, after, twin)
        first.setdefault(key, row)
        rows.append(row)
    return rows


async def _run(row: _Row, scene: Scene) -> None:
    async def progress(text: str) -> None:
        await scene.emit(ToolProgress(row.call, text))

    async def ask(question: Question) -> Answer | None:
        row.fate = UNANSWERED
        answer = await scene.ask(question)
        row.fate = LOST
        return answer

    row.fate = LOST
    ctx = ToolContext(row.call.id, scene.session, scene.cwd, scene.toolbox.services, ask, progress)
    await scene.emit(ToolStarted(row.call))
    row.result = await scene.toolbox.run(row.call, ctx)
    await scene.emit(ToolFinished(row.call, row.result))
