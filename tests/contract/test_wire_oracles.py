"""The vendors' own SDKs as judges: they accept what we send, and read what we read."""

import asyncio
import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from wire_logs import WIRES, Read, logs, rendered

from hermes.core.endpoints import Endpoint
from hermes.core.messages import Message, Thought, user
from hermes.core.models import ModelInfo, Reply, Request
from hermes.core.tools import ToolSpec
from hermes.safety.http import HttpxClient
from hermes.testing.endpoint import ModelServer, Says

TOOLS = (
    ToolSpec("read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}}),
)


@pytest.fixture(scope="module")
def sdks() -> Any:
    """The module that speaks for the vendors; it takes seconds to load, so only who asks it does."""
    return import_module("vendor_sdks")


def fully(value: Any) -> Any:
    """Walk through what pydantic only checks when it is walked through."""
    if isinstance(value, dict):
        return {key: fully(item) for key, item in value.items()}
    if isinstance(value, Iterator | list | tuple):
        return [fully(item) for item in value]
    return value


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=40, deadline=None)
@given(log=logs)
def test_the_sdk_types_accept_every_request(
    sdks: Any, wire: str, stream: bool, log: tuple[Message, ...]
) -> None:
    [body] = asyncio.run(rendered(wire, log or (user("hi"),), stream=stream))
    request = json.loads(body)
    assert fully(sdks.shape(wire, stream).validate_python(request, extra="forbid"))["model"] == "big"


def test_the_types_of_the_sdks_do_refuse(sdks: Any) -> None:
    message = {"role": "user", "content": "hi", "api_content": "x"}
    for shape in (sdks.shape(wire, stream) for wire in WIRES for stream in (True, False)):
        with pytest.raises(ValueError, match="api_content"):
            fully(
                shape.validate_python({"model": "m", "max_tokens": 1, "messages": [message]}, extra="forbid")
            )


ANSWERS = {
    "words": Says("Grüße, \U0001f600 and \x00 control.", usage=(120, 30, 100)),
    "a call": Says("Reading.", (("read_file", {"path": "a/ü.txt", "n": [1, {"x": None}]}),), usage=(9, 4, 0)),
    "calls": Says("", (("read_file", {}), ("read_file", {"path": "b"}), ("other", {"deep": {"a": "\\"}}))),
    "a thought": Says("42", thought="six times seven", signature="sig"),
}


async def ours(wire: str, server: ModelServer, stream: bool) -> Read:
    http = HttpxClient()
    endpoint = Endpoint("test", server.url, "k", options={"stream": stream})
    model = WIRES[wire].open(endpoint, ModelInfo("m", "test"), http)
    [*_, reply] = [delta async for delta in model.stream(Request(("Be brief.",), (user("hi"),), TOOLS))]
    await http.aclose()
    assert isinstance(reply, Reply)
    message = reply.message
    thought = "".join(part.text for part in message.parts if isinstance(part, Thought))
    usage = message.usage
    calls = [(call.id, call.name, dict(call.arguments)) for call in message.calls]
    return message.text, thought, calls, (usage.input, usage.output, usage.cached)


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "plain"])
@pytest.mark.parametrize("wire", WIRES)
def test_the_sdk_sends_and_reads_the_same(sdks: Any, wire: str, stream: bool, answer: str) -> None:
    async def compare() -> None:
        async with ModelServer([ANSWERS[answer]] * 2) as server:
            mine = await ours(wire, server, stream)
            body = server.asked[0].json
            read = await sdks.READING[wire](server, body)
            assert mine == read
            assert server.asked[1].json == body
            assert server.asked[1].wire == wire

    asyncio.run(compare())
