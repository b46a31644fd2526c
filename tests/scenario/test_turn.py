"""Whole turns, told as transcripts."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import anyio
import anyio.lowlevel
import pytest

from hermes.core import conversation
from hermes.core.budget import Budget
from hermes.core.effects import Effects
from hermes.core.errors import Denied, Rejected, ToolError, Unavailable
from hermes.core.events import (
    Asked,
    Event,
    MessageAdded,
    ModelSwitched,
    Noticed,
    Stop,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from hermes.core.ids import CallId, QuestionId
from hermes.core.messages import JSON, Message, Outcome, Role, Text, ToolCall, Usage
from hermes.core.models import Finish, Reply
from hermes.core.questions import Answer, Question
from hermes.core.tools import Tool, ToolContext, ToolOutput, ToolSpec
from hermes.engine.conversation import Conversation
from hermes.engine.log import LOST, UNANSWERED, Log, Nowhere
from hermes.lib.groups import leaf
from hermes.testing.clock import StillClock
from hermes.testing.scripted import ScriptedModel, agent, calls, down, play, says, talk

pytestmark = pytest.mark.anyio

T = TypeVar("T")


def tool(name: str, body: Callable[[ToolContext], Awaitable[str]]) -> Tool:
    async def run(ctx: ToolContext, given: Mapping[str, JSON]) -> ToolOutput:
        return ToolOutput(await body(ctx))

    return Tool(ToolSpec(name, "", {}), run, Effects())


def only(events: list[Event], kind: type[T]) -> list[T]:
    return [event for event in events if isinstance(event, kind)]


def ended(events: list[Event]) -> TurnEnded:
    last = events[-1]
    assert isinstance(last, TurnEnded)
    return last


async def test_speaks_and_rests() -> None:
    log = Log()
    events = await play(agent(ScriptedModel(says("hello there"))), log)
    assert isinstance(events[0], TurnStarted)
    assert [e.text for e in only(events, TextDelta)] == ["hello", "there"]
    assert ended(events).stop is Stop.DONE
    assert [m.role for m in log.messages] == [Role.USER, Role.ASSISTANT]
    assert [e.message for e in only(events, MessageAdded)] == list(log.messages)


async def test_calls_a_tool_and_reads_the_result() -> None:
    async def add(ctx: ToolContext) -> str:
        return "5"

    model = ScriptedModel(calls("add"), says("five"))
    events = await play(agent(model, tools=(tool("add", add),)))
    assert [e.result.text for e in only(events, ToolFinished)] == ["5"]
    (result,) = model.requests[1].messages[-1].results
    assert (result.text, result.outcome) == ("5", Outcome.OK)


async def test_every_failure_of_a_tool_is_a_result_not_a_crash() -> None:
    async def refuses(ctx: ToolContext) -> str:
        raise ToolError("no such file")

    async def denied(ctx: ToolContext) -> str:
        raise Denied("not allowed", nobody=True)

    async def bug(ctx: ToolContext) -> str:
        return str({}["missing"])

    tools = (tool("refuses", refuses), tool("denied", denied), tool("bug", bug))
    events = await play(
        agent(ScriptedModel(calls("refuses", "denied", "bug", "bugs"), says("sorry")), tools=tools)
    )
    outcomes = {e.call.name: (e.result.outcome, e.result.text) for e in only(events, ToolFinished)}
    assert outcomes == {
        "refuses": (Outcome.FAILED, "no such file"),
        "denied": (Outcome.DENIED, "denied: not allowed"),
        "bug": (Outcome.FAILED, "bug crashed: KeyError('missing')"),
        "bugs": (
            Outcome.FAILED,
            "there is no tool named 'bugs'; did you mean bug? The tools are: refuses, denied, bug",
        ),
    }
    assert ended(events).stop is Stop.DONE


async def test_falls_back_along_the_chain() -> None:
    events = await play(agent(down("a"), ScriptedModel(says("ok"), name="b")))
    assert only(events, ModelSwitched) == [
        ModelSwitched("a", "a", "overloaded"),
        ModelSwitched("a", "a", "overloaded"),
        ModelSwitched("a", "b", "overloaded"),
    ]
    assert ended(events).stop is Stop.DONE


async def test_a_refused_request_is_not_repeated() -> None:
    model = ScriptedModel(Rejected("wrong key"), name="a")
    events = await play(agent(model))
    assert len(model.requests) == 1
    assert (ended(events).stop, ended(events).error) == (Stop.FAILED, "wrong key")


async def test_an_empty_answer_is_asked_for_again() -> None:
    events = await play(agent(ScriptedModel(says(""), says("here I am"))))
    assert only(events, ModelSwitched)[0].reason == "scripted gave an empty answer"
    assert ended(events).stop is Stop.DONE


async def test_an_endpoint_that_wants_us_to_wait_for_long_counts_as_down() -> None:
    busy = ScriptedModel(Unavailable("come back tomorrow", retry_after=86_400), name="a")
    events = await play(agent(busy))
    assert (ended(events).stop, ended(events).error) == (Stop.FAILED, "come back tomorrow")


async def test_chain_exhausted_is_an_event_and_the_next_message_works() -> None:
    log = Log()
    assert ended(await play(agent(down("a")), log)).stop is Stop.FAILED
    model = ScriptedModel(says("back"))
    assert ended(await play(agent(model), log, "again")).stop is Stop.DONE
    assert [m.text for m in model.requests[0].messages] == ["hi", "again"]


async def test_the_budget_ends_the_turn_with_a_valid_history() -> None:
    async def spin(ctx: ToolContext) -> str:
        return "again"

    log = Log()
    model = ScriptedModel(*[calls("spin") for _ in range(9)])
    events = await play(agent(model, tools=(tool("spin", spin),), budget=Budget(steps=3)), log)
    assert (ended(events).stop, ended(events).error) == (
        Stop.BUDGET,
        "the limit of 3 model calls is reached",
    )
    assert ended(events).usage.calls == 3
    assert len(only(events, ToolStarted)) == 3
    assert log.messages[-1].role is Role.TOOL


async def test_a_call_that_was_cut_is_never_run_and_the_turn_ends_honestly() -> None:
    async def write(ctx: ToolContext) -> str:
        pytest.fail("a cut call was run")

    def cut() -> Reply:
        call = ToolCall(CallId("w"), "write", {}, fault="its arguments were cut off")
        return Reply(Message(Role.ASSISTANT, (call,), model="m"), Finish.LENGTH)

    log = Log()
    model = ScriptedModel(cut(), cut(), cut())
    events = await play(agent(model, tools=(tool("write", write),)), log)
    assert ended(events).stop is Stop.FAILED
    assert "none of them was run (its arguments were cut off)" in ended(events).error
    assert model.requests[1].messages[-1].results[0].text == "not run: its arguments were cut off"
    assert ended(await play(agent(ScriptedModel(says("fine"))), log, "smaller")).stop is Stop.DONE


async def test_an_answer_cut_at_the_limit_is_kept_and_noticed() -> None:
    half = Reply(Message(Role.ASSISTANT, (Text("half an ans"),)), Finish.LENGTH)
    events = await play(agent(ScriptedModel(half)))
    assert [n.guard for n in only(events, Noticed)] == ["length"]
    assert ended(events).stop is Stop.DONE


async def test_steering_reaches_the_next_request() -> None:
    model = ScriptedModel(says("first"), says("second"))
    log = Log()
    async with (
        anyio.create_task_group() as tasks,
        talk(agent(model), log).turn(tasks, "go") as turn,
    ):
        turn.steer("wait, also this")
        events = [event async for event in turn.events]
    assert "wait, also this" in [m.text for m in log.messages if m.role is Role.USER]
    assert ended(events).stop is Stop.DONE


async def test_stop_in_a_tool_then_go_on() -> None:
    async def quick(ctx: ToolContext) -> str:
        return "ok"

    async def forever(ctx: ToolContext) -> str:
        await anyio.sleep_forever()
        return ""

    log, seen = Log(), list[Event]()
    who = agent(
        ScriptedModel(calls("quick"), calls("forever")),
        tools=(tool("quick", quick), tool("forever", forever)),
    )
    async with anyio.create_task_group() as tasks, talk(who, log).turn(tasks, "go") as turn:
        async for event in turn.events:
            seen.append(event)
            if isinstance(event, ToolStarted) and event.call.name == "forever":
                turn.stop()
    assert ended(seen).stop is Stop.CANCELLED
    model = ScriptedModel(says("back"))
    await play(agent(model), log, "continue")
    results = [r for m in model.requests[0].messages for r in m.results]
    assert [(r.outcome, r.text) for r in results] == [(Outcome.OK, "ok"), (Outcome.INTERRUPTED, LOST)]


async def test_stop_in_the_middle_of_an_answer_keeps_what_was_said() -> None:
    log = Log()
    words = " ".join(str(n) for n in range(500))
    async with (
        anyio.create_task_group() as tasks,
        talk(agent(ScriptedModel(says(words))), log).turn(tasks, "count") as turn,
    ):
        async for event in turn.events:
            if isinstance(event, TextDelta) and event.text == "7":
                turn.stop()
    await play(agent(ScriptedModel(says("ok"))), log, "go on")
    answer = log.messages[1]
    assert answer.interrupted
    assert answer.text.startswith("01234567")


async def test_everything_around_a_turn_may_be_cancelled() -> None:
    """Nothing hangs: neither on a scope outside nor on the error of a neighbour."""

    async def forever(ctx: ToolContext) -> str:
        await anyio.sleep_forever()
        return ""

    def one() -> Conversation:
        return talk(agent(ScriptedModel(calls("forever")), tools=(tool("forever", forever),)))

    async def broken() -> None:
        raise ValueError("a painting bug")

    with anyio.fail_after(5):
        with anyio.move_on_after(0.01) as outer:
            async with anyio.create_task_group() as tasks, one().turn(tasks, "go") as turn:
                async for _ in turn.events:
                    pass
        assert outer.cancelled_caught
        with pytest.raises(ExceptionGroup) as caught:
            async with anyio.create_task_group() as tasks, one().turn(tasks, "go") as turn:
                async for event in turn.events:
                    if isinstance(event, ToolStarted):
                        tasks.start_soon(broken)
        assert isinstance(leaf(caught.value), ValueError)
        with anyio.CancelScope() as scope:
            scope.cancel()
            async with anyio.create_task_group() as tasks, one().turn(tasks, "go"):
                await anyio.sleep_forever()


async def test_a_stop_while_a_message_is_written_leaves_one_story() -> None:
    class Slow(Nowhere):
        def __init__(self) -> None:
            super().__init__()
            self.kept: list[Message] = []

        async def append(self, message: Message) -> None:
            if message.role is Role.TOOL and len(self.kept) == 2:
                turn.stop()
            await anyio.lowlevel.checkpoint()
            self.kept.append(message)

    async def quick(ctx: ToolContext) -> str:
        return "ok"

    journal = Slow()
    log = Log((), journal)
    who = agent(ScriptedModel(calls("quick")), tools=(tool("quick", quick),))
    async with anyio.create_task_group() as tasks, talk(who, log).turn(tasks, "go") as turn:
        async for _ in turn.events:
            pass
    await play(agent(ScriptedModel(says("back"))), log, "go on")
    assert journal.kept == list(log.messages)
    assert [(r.outcome, r.text) for m in log.messages for r in m.results] == [(Outcome.OK, "ok")]


async def test_time_is_a_budget_too() -> None:
    clock = StillClock()

    async def slow(ctx: ToolContext) -> str:
        clock.advance(20)
        return "done"

    one = talk(agent(ScriptedModel(*[calls("slow") for _ in range(9)]), tools=(tool("slow", slow),)))
    one.clock = clock
    one.switch(replace(one.agent, budget=Budget(seconds=30)))
    async with anyio.create_task_group() as tasks, one.turn(tasks, "go") as turn:
        events = [event async for event in turn.events]
    assert (ended(events).stop, ended(events).error) == (Stop.BUDGET, "the limit of 30 seconds is reached")
    assert len(only(events, ToolStarted)) == 2


async def test_leaving_the_block_ends_the_turn() -> None:
    gone = anyio.Event()

    async def forever(ctx: ToolContext) -> str:
        try:
            await anyio.sleep_forever()
        finally:
            gone.set()
        return ""

    who = agent(ScriptedModel(calls("forever")), tools=(tool("forever", forever),))
    async with anyio.create_task_group() as tasks, talk(who).turn(tasks, "go") as turn:
        async for event in turn.events:
            if isinstance(event, ToolStarted):
                break
    assert gone.is_set()


async def test_a_question_is_answered_once_by_a_person() -> None:
    async def ask(ctx: ToolContext) -> str:
        answer = await ctx.ask(Question(QuestionId("q"), "clarify", "tea or coffee?"))
        return answer.text if answer else "nobody"

    async def answered(attended: bool) -> list[str]:
        texts = list[str]()
        who = agent(ScriptedModel(calls("ask"), says("ok")), tools=(tool("ask", ask),))
        async with (
            anyio.create_task_group() as tasks,
            talk(who).turn(tasks, "go", attended=attended) as turn,
        ):
            async for event in turn.events:
                match event:
                    case Asked(question):
                        assert turn.answer(Answer(question.id, "tea"))
                        assert not turn.answer(Answer(question.id, "coffee"))
                    case ToolFinished(_, result):
                        texts.append(result.text)
                        assert not turn.answer(Answer(QuestionId("q"), "late"))
        return texts

    assert await answered(attended=True) == ["tea"]
    assert await answered(attended=False) == ["nobody"]


async def test_a_stop_while_a_person_is_asked_says_that_nothing_happened() -> None:
    async def careful(ctx: ToolContext) -> str:
        await ctx.ask(Question(QuestionId("q"), "approval", "rm -rf build"))
        pytest.fail("it was not answered")

    async def after(ctx: ToolContext) -> str:
        await ctx.ask(Question(QuestionId("q"), "approval", "make"))
        await anyio.sleep_forever()
        return ""

    said = []
    for body in (careful, after):
        log = Log()
        who = agent(ScriptedModel(calls("ask")), tools=(tool("ask", body),))
        async with (
            anyio.create_task_group() as tasks,
            talk(who, log).turn(tasks, "go", attended=True) as turn,
        ):
            async for event in turn.events:
                if isinstance(event, Asked) and body is after:
                    turn.answer(Answer(event.question.id, "once"))
                    await anyio.wait_all_tasks_blocked()
                if isinstance(event, Asked):
                    turn.stop()
        said += [r.text for m in log.messages for r in m.results]
    assert said == [UNANSWERED, LOST]


async def test_a_question_nobody_answers_in_time_is_answered_by_nobody() -> None:
    async def ask(ctx: ToolContext) -> str:
        answer = await ctx.ask(Question(QuestionId("q"), "approval", "rm -rf build"))
        return answer.text if answer else "nobody"

    one = talk(agent(ScriptedModel(calls("ask"), says("ok")), tools=(tool("ask", ask),)))
    one.waits = {"approval": 0.0, "clarify": 3600.0}
    async with anyio.create_task_group() as tasks, one.turn(tasks, "go", attended=True) as turn:
        events = [event async for event in turn.events]
    assert [e.result.text for e in only(events, ToolFinished)] == ["nobody"]


async def test_progress_of_a_tool_is_an_event() -> None:
    async def slow(ctx: ToolContext) -> str:
        await ctx.progress("half way")
        return "done"

    events = await play(agent(ScriptedModel(calls("slow"), says("ok")), tools=(tool("slow", slow),)))
    assert [e.text for e in only(events, ToolProgress)] == ["half way"]


async def test_what_runs_below_a_turn_knows_its_conversation() -> None:
    seen = []

    async def look(ctx: ToolContext) -> str:
        seen.append(conversation.root())
        return ""

    await play(agent(ScriptedModel(calls("look"), says("ok")), tools=(tool("look", look),)))
    assert seen == ["test"]
    assert conversation.root() is None


async def test_an_engine_bug_is_an_event() -> None:
    events = await play(agent(ScriptedModel(RuntimeError("oops"))))
    assert (ended(events).stop, ended(events).error) == (
        Stop.FAILED,
        "internal error: RuntimeError('oops')",
    )


async def test_the_consumers_own_error_is_not_wrapped() -> None:
    async with anyio.create_task_group() as tasks:
        with pytest.raises(ValueError, match="mine"):
            async with talk(agent(ScriptedModel(says("a b c")))).turn(tasks, "go") as turn:
                async for _ in turn.events:
                    raise ValueError("mine")


async def test_a_slow_listener_slows_the_turn_and_loses_nothing() -> None:
    words = [str(n) for n in range(500)]
    model = ScriptedModel(says(" ".join(words)))
    heard = list[str]()
    async with anyio.create_task_group() as tasks, talk(agent(model)).turn(tasks, "go") as turn:
        async for event in turn.events:
            await anyio.lowlevel.checkpoint()
            if isinstance(event, TextDelta):
                heard.append(event.text)
    assert heard == words


async def test_leaving_with_a_full_buffer_does_not_hang() -> None:
    with anyio.fail_after(2):
        async with (
            anyio.create_task_group() as tasks,
            talk(agent(ScriptedModel(says("w " * 500)))).turn(tasks, "go"),
        ):
            await anyio.wait_all_tasks_blocked()


async def test_what_is_spent_is_charged_to_every_meter_above() -> None:
    one = talk(agent(ScriptedModel(says("a", cost=0.5), says("b", cost=0.25))))
    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            async with one.turn(tasks, "go") as turn:
                async for _event in turn.events:
                    pass
    assert one.meter.used == Usage(2, 2, cost=0.75, calls=2)
