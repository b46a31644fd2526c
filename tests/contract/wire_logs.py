"""Logs of every shape, and what the wires make of them."""

from dataclasses import replace
from typing import Any, TypeAlias

from hypothesis import strategies as st

from hermes.core.endpoints import Endpoint
from hermes.core.ids import CallId
from hermes.core.messages import Media, Message, Note, Outcome, Role, Text, Thought, ToolCall, ToolResult
from hermes.core.models import Model, ModelInfo, Request
from hermes.core.tools import ToolSpec
from hermes.providers import anthropic, openai_chat
from hermes.testing.paper import PaperHttp, sse

WIRES = {"openai_chat": openai_chat.WIRE, "anthropic": anthropic.WIRE}
TOOLS = (
    ToolSpec("read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}}),
    ToolSpec("terminal", "Run a command.", {"type": "object", "properties": {}}),
)
INFO = ModelInfo("big", "vendor", max_output=1000, vision=True)
Read: TypeAlias = tuple[str, str, list[tuple[str, str, Any]], tuple[int, int, int]]
"""Text, thought, calls, and the input, output and cached tokens."""
ANSWERS = {
    "openai_chat": sse({"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]}),
    "anthropic": sse(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "ok"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    ),
}


def opened(wire: str, model: str = "big", **options: Any) -> tuple[Model, PaperHttp]:
    paper = PaperHttp(ANSWERS[wire])
    info = replace(INFO, name=model)
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
    return [request.body for request in paper.requests]


words = st.sampled_from(["", " \n", "hello", "grüße \U0001f600", "lone \ud83d end", 'quote " \\ \x00'])
text = words.map(Text)
note = words.map(lambda words: Note(words, "context"))
thought = st.builds(
    Thought,
    st.sampled_from(["", "hmm"]),
    st.sampled_from(["", "c2ln", "[1]", '{"type":"reasoning.text","signature":"s"}', '{"call":"call_1"}']),
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
identity = st.sampled_from(
    ["call_1", "call_2", "functions.read:0", "x" * 70, "y" * 40, "z" * 64, "ü", "a b"]
).map(CallId)
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
