"""What the vendors' own SDKs send, accept and read. Slow to load: see the fixture `sdks`."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import anthropic as anthropic_sdk
import openai as openai_sdk
from anthropic.types.message_create_params import (
    MessageCreateParamsNonStreaming,
    MessageCreateParamsStreaming,
)
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from pydantic import TypeAdapter
from wire_logs import Read

from hermes.testing.endpoint import ModelServer

_PARAMETERS = {
    ("openai_chat", True): CompletionCreateParamsStreaming,
    ("openai_chat", False): CompletionCreateParamsNonStreaming,
    ("anthropic", True): MessageCreateParamsStreaming,
    ("anthropic", False): MessageCreateParamsNonStreaming,
}


@cache
def shape(wire: str, stream: bool) -> TypeAdapter[Any]:
    """What the SDK lets through as a request."""
    return TypeAdapter(_PARAMETERS[wire, stream])


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


READING = {"openai_chat": theirs_openai, "anthropic": theirs_anthropic}
