"""Whatever a log looks like, what the wires make of it is what the vendors accept."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.core.endpoints import Endpoint
from hermes.core.http import Http, HttpReply, HttpRequest
from hermes.core.ids import CallId
from hermes.core.messages import Media, Message, Note, Outcome, Role, Text, Thought, ToolCall, ToolResult
from hermes.core.models import Model, ModelInfo, Request
from hermes.core.tools import ToolSpec
from hermes.providers import anthropic, openai_chat
from hermes.testing.wire_rules import complaints

WIRES = {"openai_chat": openai_chat.WIRE, "anthropic": anthropic.WIRE}
TOOLS = (
    ToolSpec("read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}}),
    ToolSpec("terminal", "Run a command.", {"type": "object", "properties": {}}),
)
ANSWERS = {
    "openai_chat": b'data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\n',
    "anthropic": b"".join(
        b"data: " + json.dumps(event).encode() + b"\n\n"
        for event in (
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "ok"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            {"type": "message_stop"},
        )
    ),
}


@dataclass
class Paper(Http):
    """An Http that writes down what it is asked and gives a canned answer."""

    answer: bytes
    bodies: list[bytes] = field(default_factory=list)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncIterator[HttpReply]:
        self.bodies.append(request.body)
        yield self

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        yield self.answer

    async def read(self) -> bytes:
        return self.answer


def opened(wire: str, model: str = "big", paper: Paper | None = None, **options: Any) -> tuple[Model, Paper]:
    paper = paper or Paper(ANSWERS[wire])
    info = ModelInfo(model, "vendor", max_output=1000, vision=True)
    return WIRES[wire].open(
        Endpoint("vendor", "http://127.0.0.1:1", "k", options=options), info, paper
    ), paper


async def rendered(wire: str, *logs: tuple[Message, ...], **options: Any) -> list[bytes]:
    """The bodies of one conversation's requests."""
    model, paper = opened(wire, **options)
    memo: dict[str, Any] = {}
    for log in logs:
        request = Request(("You are brief.", "The project is blue."), log, TOOLS, memo=memo)
        async for _ in model.stream(request):
            pass
    return paper.bodies


words = st.sampled_from(["", " \n", "hello", "grüße \U0001f600", "lone \ud83d end", 'quote " \\ \x00'])
text = words.map(Text)
note = words.map(lambda words: Note(words, "context"))
thought = st.builds(
    Thought,
    st.sampled_from(["", "hmm"]),
    st.sampled_from(["", '{"type":"reasoning.text","signature":"s"}']),
    st.sampled_from(["vendor/big", "vendor/small", ""]),
    st.booleans(),
)
media = st.sampled_from(
    [
        Media("image", "https://example.org/a.png"),
        Media("image", "data:image/png;base64,aGk="),
        Media("image", "/nowhere/at/all.png"),
        Media("audio", "data:audio/wav;base64,aGk=", "audio/wav"),
        Media("document", "data:application/pdf;base64,aGk=", "application/pdf"),
        Media("video", "https://example.org/a.mp4"),
    ]
)
identity = st.sampled_from(["call_1", "call_2", "functions.read:0", "x" * 70, "ü", "a b"]).map(CallId)
call = st.builds(
    ToolCall,
    identity,
    st.sampled_from(["read_file", "", "no such tool!", "n" * 90, "lone\ud83d"]),
    st.sampled_from([{}, {"path": "a"}, {"n": 10**30, "deep": [{"x": None}], "s": "\udc80"}]),
    st.sampled_from(["", "The arguments were cut off before they were complete."]),
)
result = st.builds(
    ToolResult,
    identity,
    st.sampled_from(list(Outcome)),
    words,
    media=st.lists(media, max_size=1).map(tuple),
)


def message(role: Role, *parts: Any, most: int = 3) -> st.SearchStrategy[Message]:
    return st.builds(
        Message,
        st.just(role),
        st.lists(st.one_of(*parts), max_size=most).map(tuple),
        interrupted=st.booleans() if role is Role.ASSISTANT else st.just(False),
    )


logs = st.lists(
    st.one_of(
        message(Role.USER, text, note, media),
        message(Role.ASSISTANT, text, thought, call, most=4),
        message(Role.TOOL, result),
    ),
    max_size=8,
).map(tuple)


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=150, deadline=None)
@given(log=logs)
def test_every_log_becomes_a_request_the_vendor_accepts(wire: str, log: tuple[Message, ...]) -> None:
    log = log or (Message(Role.USER, (Text("hi"),)),)
    [body] = asyncio.run(rendered(wire, log))
    assert complaints(wire, body) == []


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=100, deadline=None)
@given(log=logs, data=st.data())
def test_a_conversation_that_grows_is_rendered_as_if_it_were_new(
    wire: str, log: tuple[Message, ...], data: st.DataObject
) -> None:
    log = (Message(Role.USER, (Text("hi"),)), *log)
    cuts = data.draw(st.lists(st.integers(1, len(log)), max_size=4).map(sorted))
    *_, grown = asyncio.run(rendered(wire, *[log[:cut] for cut in cuts], log))
    [new] = asyncio.run(rendered(wire, log))
    assert grown == new
