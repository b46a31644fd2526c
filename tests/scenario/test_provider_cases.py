"""Cases of providers, streaming, tool-call parsing and odd text, in whole turns with a real server."""

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from hermes.core.effects import Effects
from hermes.core.endpoints import Endpoint, WireSpec
from hermes.core.events import Event, MessageAdded, ModelSwitched, Stop, TextDelta, TurnEnded
from hermes.core.ids import SessionId
from hermes.core.messages import Outcome, Role
from hermes.core.models import Model, ModelInfo
from hermes.core.services import Services
from hermes.core.tools import Tool, ToolContext
from hermes.engine.agent import Agent, Patience
from hermes.engine.conversation import Conversation
from hermes.engine.log import Log
from hermes.engine.toolbox import Toolbox
from hermes.providers import anthropic, openai_chat
from hermes.safety.http import HttpxClient
from hermes.sdk import tool
from hermes.testing.clock import StillClock
from hermes.testing.endpoint import Answer, Asked, Fails, ModelServer, Raw, Says, Script, encode, frames
from hermes.testing.paper import sse
from hermes.testing.wire_rules import complaints

pytestmark = pytest.mark.anyio
AT_ONCE = Patience(base=0.0, cap=0.0)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def serving(
    script: Script, wire: WireSpec = openai_chat.WIRE, idle: float = 5.0
) -> AsyncIterator[tuple[ModelServer, Model]]:
    http = HttpxClient()
    async with ModelServer(script) as server:
        try:
            yield server, opened(wire, server, http, idle=idle)
        finally:
            await http.aclose()


def opened(
    wire: WireSpec, server: ModelServer, http: HttpxClient, model: str = "m", idle: float = 5.0
) -> Model:
    return wire.open(Endpoint("test", server.url, "key", idle=idle), ModelInfo(model, "test"), http)


def talking(*models: Model, tools: tuple[Tool, ...] = (), log: Log | None = None) -> Conversation:
    agent = Agent(models, Toolbox(tools, Services()), patience=AT_ONCE)
    return Conversation(SessionId("s"), agent, log or Log(), StillClock(), ("Be brief.", "Here."))


async def turn(talk: Conversation, text: str) -> list[Event]:
    async with anyio.create_task_group() as tasks, talk.turn(tasks, text) as running:
        return [event async for event in running.events]


def end(events: list[Event]) -> TurnEnded:
    last = events[-1]
    assert isinstance(last, TurnEnded)
    return last


def list_dir(ran: list[str]) -> Tool:
    @tool(effects=Effects())
    async def list_dir(_: ToolContext, path: str) -> str:
        """List a folder."""
        ran.append(path)
        return "a.txt"

    return list_dir


async def test_tool_01_cut_arguments_never_run_and_the_third_time_ends_the_turn(tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    report.write_text("KEEP")

    @tool(effects=Effects())
    async def write_file(_: ToolContext, path: str, content: str) -> str:
        """Write a file."""
        (tmp_path / path).write_text(content)
        return "written"

    cut = Says(
        calls=(("write_file", '{"path":"report.md","content":"# Title\\nline one\\nline tw'),),
        finish="length",
    )
    async with serving([cut] * 10) as (server, model):
        talk = talking(model, tools=(write_file,))
        ended = end(await turn(talk, "write the report"))
    assert report.read_text() == "KEEP"
    results = [result for message in talk.log.messages for result in message.results]
    assert all(r.outcome is Outcome.FAILED and "cut off" in r.text for r in results)
    assert len(results) == len(server.asked) == 3
    assert ended.stop is Stop.FAILED
    assert "none of them was run" in ended.error
    assert [complaints(asked.wire, asked.body) for asked in server.asked] == [[], [], []]
    again = server.asked[-1].json["messages"][-2]["tool_calls"][0]["function"]
    assert json.loads(again["arguments"]) == {}


async def test_tool_02_a_name_streamed_twice_is_one_call_of_the_tool() -> None:
    def piece(**function: str) -> dict[str, Any]:
        return {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": function}]}}]}

    stream = sse(
        piece(name="list_dir", arguments=""),
        piece(arguments='{"path":"."}'),
        piece(name="list_dir"),
        piece(arguments='{"path":"."}'),
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
        done=True,
    )
    ran: list[str] = []
    async with serving([Raw((stream,)), Says("There is a.txt.")]) as (server, model):
        talk = talking(model, tools=(list_dir(ran),))
        assert end(await turn(talk, "what is here?")).stop is Stop.DONE
    assert ran == ["."]
    assert [call.name for message in talk.log.messages for call in message.calls] == ["list_dir"]
    assert complaints("openai_chat", server.asked[1].body) == []


@pytest.mark.parametrize("stream", [True, False])
async def test_uni_01_a_lone_surrogate_goes_through_everything(stream: bool) -> None:
    choice = '{"choices":[{"%s":{"content":"price \\ud83d end"},"finish_reason":"stop"}]}'
    answer = (
        Raw((b"data: " + (choice % "delta").encode() + b"\n\n",))
        if stream
        else Raw(((choice % "message").encode(),), headers={"content_type": "application/json"})
    )

    @tool(effects=Effects())
    async def look(_: ToolContext) -> str:
        """Look."""
        return "odd \udc80 bytes"

    async with serving([Says(calls=(("look", {}),)), answer, Says("ok")]) as (server, model):
        talk = talking(model, tools=(look,))
        events = await turn(talk, "what does it cost?")
        assert end(await turn(talk, "and \ud83d this?")).stop is Stop.DONE
    assert TextDelta("price \ufffd end") in events
    assert [m.message.text for m in events if isinstance(m, MessageAdded)][-1] == "price \ufffd end"
    assert [complaints(asked.wire, asked.body) for asked in server.asked] == [[], [], []]


async def test_web_02_an_empty_result_is_no_empty_block() -> None:
    @tool(effects=Effects())
    async def fetch(_: ToolContext) -> str:
        """Fetch."""
        return ""

    def strict(asked: Asked) -> Answer:
        if wrong := complaints(asked.wire, asked.body):
            return Raw((encode({"error": {"message": str(wrong)}}),), 400)
        told = b"(no output)" in asked.body
        return Says("I got nothing.") if told else Says(calls=(("fetch", {}),))

    for wire in (openai_chat.WIRE, anthropic.WIRE):
        async with serving(strict, wire) as (server, model):
            assert end(await turn(talking(model, tools=(fetch,)), "get it")).stop is Stop.DONE
        assert len(server.asked) == 2


def signature(model: str, text: str) -> str:
    return hashlib.sha256(f"{model} {text}".encode()).hexdigest()


def signing(asked: Asked) -> Answer:
    """A vendor that knows its own signatures and refuses all others."""
    body = asked.json
    blocks = [block for message in body["messages"] for block in message["content"]]
    for block in blocks:
        if block["type"] == "thinking" and block["signature"] != signature(body["model"], block["thinking"]):
            return Raw((encode({"type": "error", "error": {"type": "invalid_request_error"}}),), 400)
    asked_by_person = [block["text"] for block in blocks if block["type"] == "text"][-1]
    thought = f"{body['model']} thinks about {asked_by_person}"
    answered = blocks[-1]["type"] == "tool_result"
    return Says(
        f"{body['model']} answers {asked_by_person}" if answered or body["model"] == "M2" else "",
        () if answered or body["model"] == "M2" else (("list_dir", {"path": asked_by_person}),),
        thought,
        signature(body["model"], thought),
    )


async def test_prov_01_thoughts_go_back_only_to_the_model_that_signed_them() -> None:
    ran: list[str] = []
    http = HttpxClient()
    async with ModelServer(signing) as server:
        first, second = (opened(anthropic.WIRE, server, http, name) for name in ("M1", "M2"))
        talk = talking(first, tools=(list_dir(ran),))
        events = await turn(talk, "one")
        for model, text in ((second, "two"), (second, "three"), (first, "four")):
            talk.switch(Agent((model,), talk.agent.toolbox, patience=AT_ONCE))
            events += await turn(talk, text)
        await http.aclose()
    assert [e.stop for e in events if isinstance(e, TurnEnded)] == [Stop.DONE] * 4
    assert not [e for e in events if isinstance(e, ModelSwitched)]
    assert ran == ["one", "four"]
    answers = [m.text for m in talk.log.messages if m.role is Role.ASSISTANT and m.text]
    assert answers == ["M1 answers one", "M2 answers two", "M2 answers three", "M1 answers four"]
    assert [w for asked in server.asked for w in complaints("anthropic", asked.body)] == []
    thoughts = [
        [b["thinking"] for m in asked.json["messages"] for b in m["content"] if b["type"] == "thinking"]
        for asked in server.asked
    ]
    assert thoughts[2] == []  # M2 is asked for the first time: M1's thoughts are not for it
    assert thoughts[3] == ["M2 thinks about two"]
    assert thoughts[4] == ["M1 thinks about one", "M1 thinks about one"]


async def test_prov_02_comments_are_no_progress_and_half_an_answer_is_void() -> None:
    http = HttpxClient()
    stalls = [Fails("comments", "text", Says("Hello, all of it")) for _ in range(3)]
    async with ModelServer(stalls) as a, ModelServer([Says("Hello from B")]) as b:
        talk = talking(
            opened(openai_chat.WIRE, a, http, "a", idle=0.2), opened(openai_chat.WIRE, b, http, "b", idle=0.2)
        )
        with anyio.fail_after(5):
            events = await turn(talk, "hello?")
        await http.aclose()
    assert end(events).stop is Stop.DONE
    switches = [event for event in events if isinstance(event, ModelSwitched)]
    assert all("no progress for 0.2 s" in switch.reason for switch in switches)
    assert switches[-1].model == "test/b"
    after = events[events.index(switches[-1]) :]
    assert "".join(event.text for event in after if isinstance(event, TextDelta)) == "Hello from B"
    assert [m.text for m in talk.log.messages] == ["hello?", "Hello from B"]


async def test_one_connection_serves_a_whole_conversation() -> None:
    script = [Says(calls=(("list_dir", {"path": str(n)}),)) for n in range(5)]
    for wire in (openai_chat.WIRE, anthropic.WIRE):
        ran: list[str] = []
        async with serving([*script, Says("done")], wire) as (server, model):
            assert end(await turn(talking(model, tools=(list_dir(ran),)), "go")).stop is Stop.DONE
        assert ran == ["0", "1", "2", "3", "4"]
        assert {asked.connection for asked in server.asked} == {1}


async def test_a_stopped_turn_leaves_the_connection_and_the_server_alone() -> None:
    http = HttpxClient()
    async with ModelServer([Fails("silent", "text"), Says("again")]) as server:
        talk = talking(opened(openai_chat.WIRE, server, http, idle=60))
        async with anyio.create_task_group() as tasks, talk.turn(tasks, "hello") as running:
            async for event in running.events:
                if isinstance(event, TextDelta):
                    running.stop()
                last = event
        assert isinstance(last, TurnEnded)
        assert last.stop is Stop.CANCELLED
        assert end(await turn(talk, "again")).stop is Stop.DONE
        await http.aclose()
    assert [complaints(asked.wire, asked.body) for asked in server.asked] == [[], []]
    assert "interrupted" in json.dumps(server.asked[1].json["messages"])


async def test_an_answer_that_is_whole_needs_no_end() -> None:
    """A server that leaves the connection open costs a moment, not the answer; nor is it used again."""

    def endless(asked: Asked) -> Answer:
        return Raw(
            (*(data for _, data in frames(Says("done"), asked)[:-1]), b": and then silence\n"), hold=True
        )

    for wire in (openai_chat.WIRE, anthropic.WIRE):
        async with serving(endless, wire, idle=0.2) as (_, model):
            with anyio.fail_after(4):
                talk = talking(model)
                assert end(await turn(talk, "hello")).stop is Stop.DONE
            assert talk.log.messages[-1].text == "done"
