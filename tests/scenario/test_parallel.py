"""Calls of one reply: together what may, alone what must, recorded in order."""

from collections.abc import Mapping

import anyio
import anyio.lowlevel
import pytest

from hermes.core.effects import Effects, Footprint
from hermes.core.errors import StoreError, ToolError
from hermes.core.events import Stop, ToolFinished, TurnEnded
from hermes.core.gate import Action, Gate, Verdict
from hermes.core.ids import CallId
from hermes.core.messages import JSON, Message, Outcome, Role, ToolCall
from hermes.core.services import Services
from hermes.core.spill import Spill
from hermes.core.tools import Tool, ToolContext, ToolOutput, ToolSpec
from hermes.engine.agent import Agent
from hermes.engine.log import LOST, UNBEGUN, Log, Nowhere
from hermes.engine.toolbox import Toolbox
from hermes.testing.scripted import ScriptedModel, calls, play, says, talk

pytestmark = pytest.mark.anyio


class Paths:
    """A gate that allows everything and takes paths as they are written."""

    def footprint(self, effects: Effects, call: ToolCall, cwd: str) -> Footprint:
        return Footprint(
            tuple(str(call.arguments[name]) for name in effects.reads),
            tuple(str(call.arguments[name]) for name in effects.writes),
            unknown=bool(effects.executes),
        )

    def judge(self, action: Action) -> Verdict:
        return Verdict("allow")

    async def admit(self, action: Action, ctx: ToolContext) -> None:
        return


class Stopwatch:
    """Tools that overlap or not, and remember in which order they ran."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.order: list[str] = []

    def tool(self, name: str, effects: Effects) -> Tool:
        async def run(ctx: ToolContext, given: Mapping[str, JSON]) -> ToolOutput:
            self.now += 1
            self.most = max(self.most, self.now)
            self.order.append(f"{name} {given.get('path', '')}".strip())
            for _ in range(int(str(given.get("steps", 3)))):
                await anyio.lowlevel.checkpoint()
            self.now -= 1
            return ToolOutput(str(given.get("path", "done")))

        return Tool(ToolSpec(name, "", {}), run, effects)


def bench() -> tuple[Stopwatch, Toolbox]:
    watch = Stopwatch()
    tools = (
        watch.tool("read", Effects(reads=("path",))),
        watch.tool("write", Effects(writes=("path",))),
        watch.tool("shell", Effects(executes="command")),
    )
    return watch, Toolbox(tools, Services({Gate: Paths()}))


def asks(*wanted: tuple[str, str]) -> Message:
    return Message(
        Role.ASSISTANT,
        tuple(
            ToolCall(CallId(f"c{n}"), name, {"path": path, "n": n}) for n, (name, path) in enumerate(wanted)
        ),
    )


async def run(*wanted: tuple[str, str]) -> Stopwatch:
    watch, box = bench()
    await play(Agent((ScriptedModel(asks(*wanted), says("done")),), box))
    return watch


async def test_reads_run_together() -> None:
    assert (await run(("read", "/a"), ("read", "/a"), ("read", "/b"))).most == 3


async def test_calls_of_unknown_effect_run_alone() -> None:
    assert (await run(("shell", ""), ("shell", ""), ("read", "/a"))).most == 1


async def test_a_write_waits_for_the_reads_before_it_and_holds_those_after() -> None:
    watch = await run(("read", "/d/a"), ("read", "/e"), ("write", "/d"), ("read", "/d/a"))
    assert watch.order.index("write /d") > watch.order.index("read /d/a")
    assert watch.order[-1] == "read /d/a"
    assert watch.most == 2


async def test_writes_to_different_places_run_together() -> None:
    assert (await run(("write", "/a"), ("write", "/b"), ("write", "/ab"))).most == 3


async def test_results_are_recorded_in_call_order_whoever_is_first() -> None:
    _, box = bench()
    message = Message(
        Role.ASSISTANT,
        tuple(ToolCall(CallId(f"c{n}"), "read", {"path": f"/{n}", "steps": 9 - n}) for n in range(4)),
    )
    log = Log()
    events = await play(Agent((ScriptedModel(message, says("done")),), box), log)
    finished = [e.call.id for e in events if isinstance(e, ToolFinished)]
    recorded = [r.call for m in log.messages for r in m.results]
    assert finished == ["c3", "c2", "c1", "c0"]
    assert recorded == ["c0", "c1", "c2", "c3"]


async def test_the_same_call_twice_in_one_reply_runs_once_and_both_get_the_result() -> None:
    watch, box = bench()
    log = Log()
    await play(Agent((ScriptedModel(calls("read", "read", path="/x"), says("ok")),), box), log)
    assert watch.order == ["read /x"]
    results = [r for m in log.messages for r in m.results]
    assert [(r.outcome, r.text) for r in results] == [(Outcome.OK, "/x")] * 2
    assert len({r.call for r in results}) == 2


async def test_a_long_result_is_kept_whole_in_a_file() -> None:
    class Shelf:
        kept = ""

        async def keep(self, name: str, text: str) -> str:
            self.kept = text
            return "/spill/1.txt"

    async def long(ctx: ToolContext, given: Mapping[str, JSON]) -> ToolOutput:
        return ToolOutput("x" * 200_000 + "\ud83d")

    shelf = Shelf()
    box = Toolbox((Tool(ToolSpec("long", "", {}), long),), Services({Spill: shelf}))
    log = Log()
    await play(Agent((ScriptedModel(calls("long"), says("ok")),), box), log)
    (result,) = (r for m in log.messages for r in m.results)
    assert shelf.kept == "x" * 200_000 + "\ufffd"
    assert len(result.text) < 4_000
    assert "200,001 characters in all, kept in /spill/1.txt" in result.text


async def test_a_stop_keeps_what_is_done_and_tells_the_rest_apart() -> None:
    async def forever(ctx: ToolContext, given: Mapping[str, JSON]) -> ToolOutput:
        await anyio.sleep_forever()
        return ToolOutput("")

    watch, _ = bench()
    tools = (
        Tool(ToolSpec("hang", "", {}), forever, Effects(reads=("path",))),
        watch.tool("read", Effects(reads=("path",))),
        watch.tool("write", Effects(writes=("path",))),
    )
    box = Toolbox(tools, Services({Gate: Paths()}))
    log = Log()
    reply = asks(("hang", "/a"), ("read", "/b"), ("write", "/a"))
    one = talk(Agent((ScriptedModel(reply),), box), log)
    async with anyio.create_task_group() as tasks, one.turn(tasks, "go") as turn:
        async for event in turn.events:
            if isinstance(event, ToolFinished):
                turn.stop()
    results = [(r.call, r.outcome, r.text) for m in log.messages for r in m.results]
    assert results == [
        ("c0", Outcome.INTERRUPTED, LOST),
        ("c1", Outcome.OK, "/b"),
        ("c2", Outcome.INTERRUPTED, UNBEGUN),
    ]


async def test_a_log_that_cannot_be_written_is_one_error_in_words() -> None:
    class Full(Nowhere):
        async def append(self, message: Message) -> None:
            if message.role is Role.TOOL:
                raise StoreError("the disk is full")

    _, box = bench()
    reply = asks(("read", "/a"), ("read", "/b"))
    events = await play(Agent((ScriptedModel(reply),), box), Log((), Full()))
    assert isinstance(events[-1], TurnEnded)
    assert (events[-1].stop, events[-1].error) == (Stop.FAILED, "the disk is full")


async def test_a_long_result_that_cannot_be_kept_is_shown_in_part() -> None:
    class NoRoom:
        async def keep(self, name: str, text: str) -> str:
            raise ToolError("the disk is full")

    async def long(ctx: ToolContext, given: Mapping[str, JSON]) -> ToolOutput:
        return ToolOutput("x" * 200_000)

    box = Toolbox((Tool(ToolSpec("long", "", {}), long),), Services({Spill: NoRoom()}))
    log = Log()
    await play(Agent((ScriptedModel(calls("long"), says("ok")),), box), log)
    (result,) = (r for m in log.messages for r in m.results)
    assert result.outcome is Outcome.OK
    assert result.text.endswith("[the rest could not be kept: the disk is full]")


async def test_a_path_that_is_none_is_the_tools_to_refuse() -> None:
    class Strict(Paths):
        def footprint(self, effects: Effects, call: ToolCall, cwd: str) -> Footprint:
            raise ValueError("embedded null byte")

    watch, _ = bench()
    box = Toolbox((watch.tool("read", Effects(reads=("path",))),), Services({Gate: Strict()}))
    events = await play(Agent((ScriptedModel(asks(("read", "a"), ("read", "b")), says("ok")),), box))
    assert [e.result.outcome for e in events if isinstance(e, ToolFinished)] == [Outcome.OK] * 2
