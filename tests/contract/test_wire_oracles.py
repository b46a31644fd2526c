"""The vendors' own SDKs as judges: they accept what we send, and read what we read."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic as anthropic_sdk
import openai as openai_sdk
import pytest
from anthropic.types.message_create_params import (
    MessageCreateParamsNonStreaming,
    MessageCreateParamsStreaming,
)
from hypothesis import given, settings
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from pydantic import TypeAdapter
from wire_logs import WIRES, logs, rendered

from hermes.core.endpoints import Endpoint
from hermes.core.messages import Message, Thought, user
from hermes.core.models import ModelInfo, Reply, Request
from hermes.core.tools import ToolSpec
from hermes.safety.http import HttpxClient
from hermes.testing.endpoint import ModelServer, Says

SHAPES = {
    ("openai_chat", True): TypeAdapter(CompletionCreateParamsStreaming),
    ("openai_chat", False): TypeAdapter(CompletionCreateParamsNonStreaming),
    ("anthropic", True): TypeAdapter(MessageCreateParamsStreaming),
    ("anthropic", False): TypeAdapter(MessageCreateParamsNonStreaming),
}
TOOLS = (
    ToolSpec("read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}}),
)


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
def test_the_sdk_types_accept_every_request(wire: str, stream: bool, log: tuple[Message, ...]) -> None:
    [body] = asyncio.run(rendered(wire, log or (user("hi"),), stream=stream))
    request = json.loads(body)
    assert fully(SHAPES[wire, stream].validate_python(request, extra="forbid"))["model"] == "big"


def test_the_types_of_the_sdks_do_refuse() -> None:
    message = {"role": "user", "content": "hi", "api_content": "x"}
    for shape in SHAPES.values():
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
Read = tuple[str, str, list[tuple[str, str, Any]], tuple[int, int, int]]
"""Text, thought, calls, and the input, output and cached tokens."""


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


@asynccontextmanager
async def openai_client(server: ModelServer) -> AsyncIterator[openai_sdk.AsyncOpenAI]:
    async with openai_sdk.AsyncOpenAI(base_url=server.url, api_key="k", max_retries=0) as client:
        yield client


async def theirs_openai(server: ModelServer, body: dict[str, Any]) -> Read:
    async with openai_client(server) as client:
        if body["stream"]:
            async with client.chat.completions.stream(
                **{key: value for key, value in body.items() if key != "stream"}
            ) as stream:
                completion: Any = await stream.get_final_completion()
        else:
            completion = await client.chat.completions.create(**body)
    message, usage = completion.choices[0].message, completion.usage
    calls = [(c.id, c.function.name, json.loads(c.function.arguments)) for c in message.tool_calls or ()]
    thought = (message.model_extra or {}).get("reasoning_content") or ""
    tokens = (usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens_details.cached_tokens)
    return message.content or "", thought, calls, tokens


async def theirs_anthropic(server: ModelServer, body: dict[str, Any]) -> Read:
    async with anthropic_sdk.AsyncAnthropic(base_url=server.url, api_key="k", max_retries=0) as client:
        if body["stream"]:
            async with client.messages.stream(
                **{key: value for key, value in body.items() if key != "stream"}
            ) as stream:
                message: Any = await stream.get_final_message()
        else:
            message = await client.messages.create(**body)
    blocks, usage = message.content, message.usage
    text = "".join(block.text for block in blocks if block.type == "text")
    thought = "".join(block.thinking for block in blocks if block.type == "thinking")
    calls = [(block.id, block.name, block.input) for block in blocks if block.type == "tool_use"]
    read = usage.input_tokens + usage.cache_read_input_tokens
    return text, thought, calls, (read, usage.output_tokens, usage.cache_read_input_tokens)


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "plain"])
@pytest.mark.parametrize("wire", WIRES)
def test_the_sdk_sends_and_reads_the_same(wire: str, stream: bool, answer: str) -> None:
    async def compare() -> None:
        async with ModelServer([ANSWERS[answer]] * 2) as server:
            mine = await ours(wire, server, stream)
            body = server.asked[0].json
            read = await (theirs_anthropic if wire == "anthropic" else theirs_openai)(server, body)
            assert mine == read
            assert server.asked[1].json == body
            assert server.asked[1].wire == wire

    asyncio.run(compare())
