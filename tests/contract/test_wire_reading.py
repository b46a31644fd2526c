"""Whatever a server sends, the wires make an answer of it or say what is wrong."""

import asyncio
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire_logs import INFO, TOOLS, WIRES

from hermes.core.endpoints import Endpoint
from hermes.core.errors import ModelError
from hermes.core.messages import Message, Role, user
from hermes.core.models import Reply, Request
from hermes.testing.paper import PaperHttp, sse
from hermes.testing.wire_rules import complaints

FIELDS = re.findall(
    r"\w+",
    """choices delta message finish_reason usage content reasoning reasoning_content reasoning_details
    refusal tool_calls index id function name arguments extra_content type text thinking error code
    prompt_tokens completion_tokens prompt_tokens_details cached_tokens cost x_groq content_block signature
    data input partial_json stop_reason input_tokens output_tokens""",
)
WORDS = re.findall(
    r"\S+",
    """stop tool_calls length content_filter error text thinking reasoning.text reasoning.encrypted tool_use
    text_delta thinking_delta input_json_delta message_start content_block_start content_block_delta
    message_delta message_stop end_turn max_tokens read_file { {"path":"a"} call_1 [DONE]""",
)
WORDS += ["", "\ud83d", "\u202e"]
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.just(10**40) | st.floats() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
    max_leaves=12,
)
call = st.fixed_dictionaries(
    {},
    optional={
        "index": values,
        "id": values,
        "function": st.fixed_dictionaries({}, optional={"name": values, "arguments": values}),
        "extra_content": values,
    },
)
delta = st.fixed_dictionaries(
    {},
    optional={
        **{name: values for name in ("content", "reasoning", "reasoning_content", "refusal")},
        "reasoning_details": st.lists(values, max_size=3),
        "tool_calls": st.lists(call, max_size=3),
    },
)
chunk = st.fixed_dictionaries(
    {
        "choices": st.lists(
            st.fixed_dictionaries({"delta": delta}, optional={"finish_reason": values}), max_size=2
        )
    },
    optional={"usage": values, "x_groq": values},
)
block = st.fixed_dictionaries(
    {"type": st.sampled_from(WORDS)},
    optional={
        n: values for n in ("text", "thinking", "signature", "data", "id", "name", "input", "partial_json")
    },
)
event = st.fixed_dictionaries(
    {"type": st.sampled_from(WORDS)},
    optional={
        "index": st.integers(0, 2),
        "content_block": block,
        "delta": block | st.fixed_dictionaries({"stop_reason": values}),
        "usage": values,
        "message": values,
    },
)
END = {
    "openai_chat": {"choices": [{"delta": {}, "finish_reason": "stop"}]},
    "anthropic": {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
}
streams = {
    "openai_chat": st.lists(chunk | values, max_size=6),
    "anthropic": st.lists(event | values, max_size=6),
}


async def read(wire: str, paper: PaperHttp) -> Reply | ModelError:
    model = WIRES[wire].open(Endpoint("vendor", "http://127.0.0.1:1", "k"), INFO, paper)
    try:
        deltas = [delta async for delta in model.stream(Request((), (user("hi"),), TOOLS))]
    except ModelError as error:
        return error
    assert isinstance(deltas[-1], Reply)
    assert not any(isinstance(delta, Reply) for delta in deltas[:-1])
    return deltas[-1]


async def judged(wire: str, paper: PaperHttp) -> None:
    """An error is a sentence; an answer can be stored and sent back."""
    got = await read(wire, paper)
    if isinstance(got, ModelError):
        assert got.kind
        assert str(got).isprintable()
        return
    message = got.message
    str(message).encode()
    assert all(not call.arguments for call in message.calls if call.fault)
    again = PaperHttp(sse(END[wire]))
    model = WIRES[wire].open(Endpoint("vendor", "http://127.0.0.1:1", "k"), INFO, again)
    with pytest.raises(ModelError):
        _ = [d async for d in model.stream(Request((), (user("hi"), message, Message(Role.USER, ())), TOOLS))]
    assert complaints(wire, again.requests[0].body) == []


@pytest.mark.parametrize("whole", [False, True], ids=["streamed", "whole"])
@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_odd_answers(wire: str, whole: bool, data: st.DataObject) -> None:
    sent: list[Any] = data.draw(streams[wire])
    if whole:
        body = json.dumps(sent[0] if sent else {}).replace('"delta"', '"message"')
        paper = PaperHttp(body.encode(), kind="application/json")
    else:
        paper = PaperHttp(sse(*map(json.dumps, [*sent, END[wire]])))
    asyncio.run(judged(wire, paper))


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json", "text/html", ""])
@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=30, deadline=None)
@given(body=st.binary(max_size=200), begin=st.sampled_from([b"", b"data: ", b"data: {", b"{", b"<html>"]))
def test_bytes_of_any_kind(wire: str, kind: str, body: bytes, begin: bytes) -> None:
    asyncio.run(judged(wire, PaperHttp(begin + body + b"\n\n", kind=kind)))
