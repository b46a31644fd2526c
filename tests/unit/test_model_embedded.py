"""The embedded model: what it is asked, and how its JSON becomes calls, words and errors.

A scripted server stands in for the one that runs the file: it streams what the test wrote.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from hermes.core.endpoints import Endpoint
from hermes.core.errors import ContextTooLong, Rejected, Unavailable
from hermes.core.events import TextDelta
from hermes.core.ids import CallId
from hermes.core.messages import Message, Outcome, Role, Text, ToolCall, ToolResult, user
from hermes.core.models import Finish, ModelInfo, Reply, Request
from hermes.core.tools import ToolSpec
from hermes.providers.embedded import Embedded

pytestmark = pytest.mark.anyio

READ = ToolSpec(
    "read_file",
    "Read a file.",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["path"],
    },
)
LIST = ToolSpec("list", "List.", {"type": "object", "properties": {}})
EXAMPLES = [
    {"question": "Read car.md.", "call": {"tool": "read_file", "path": "car.md"}},
    {"question": "Search.", "call": {"tool": "search_files", "pattern": "x"}},
    {"question": "Oil?", "found": ["oil: 5W"], "quote": ["oil: 5W"], "answer": "5W."},
]


@dataclass
class Server:
    """Streams each scripted text in pieces of three characters, then what was used."""

    script: list[str | Exception | dict[str, Any]]
    asked: list[dict[str, Any]] = field(default_factory=list)
    told: int = 0
    gate: threading.Event = field(default_factory=threading.Event)
    halted: threading.Event = field(default_factory=threading.Event)

    def handle_chat_completions(self, body: dict[str, Any], hear: Callable[[Any], bool]) -> None:
        self.asked.append(body)
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        if isinstance(step, dict):
            hear(step)
            return
        for chunk in self._chunks(step):
            self.told += 1
            if hear(chunk):
                self.halted.set()
                return
            if step.startswith("...") and self.told > 1:
                self.gate.wait(5)

    @staticmethod
    def _chunks(text: str) -> Iterator[dict[str, Any]]:
        yield {"choices": [{"delta": {"role": "assistant", "content": None}, "finish_reason": None}]}
        for start in range(0, len(text), 3):
            piece = text[start : start + 3]
            yield {"choices": [{"delta": {"content": piece}, "finish_reason": None}]}
        used = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2}}
        yield {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": used}


def model(*script: str | Exception | dict[str, Any], window: int = 8_192) -> tuple[Embedded, Server]:
    server = Server(list(script))
    endpoint = Endpoint("embedded", "", options={"path": "m.gguf", "examples": EXAMPLES})
    info = ModelInfo("tiny", "embedded", window)
    return Embedded(endpoint, info, None, load=lambda path, size: server), server  # type: ignore[arg-type]


async def play(model: Embedded, request: Request) -> tuple[str, Reply]:
    words, reply = "", None
    async for delta in model.stream(request):
        if isinstance(delta, TextDelta):
            words += delta.text
        elif isinstance(delta, Reply):
            assert reply is None
            reply = delta
    assert reply is not None
    return words, reply


def asking(text: str, *after: Message, tools: tuple[ToolSpec, ...] = (READ,)) -> Request:
    return Request(("A long system prompt.",), (user(text), *after), tools)


def called(
    text: str, outcome: Outcome = Outcome.OK, data: Mapping[str, Any] | None = None
) -> tuple[Message, Message]:
    call = ToolCall(CallId("1"), "read_file", {"path": "a"})
    result = ToolResult(call.id, outcome, text, data or {})
    return Message(Role.ASSISTANT, (call,)), Message(Role.TOOL, (result,))


async def test_a_call_comes_as_json_and_becomes_a_call() -> None:
    tiny, server = model('{"tool": "read_file", "path": "car.md"}')
    words, reply = await play(tiny, asking("What is in car.md?"))
    assert words == ""
    assert reply.finish is Finish.CALLS
    (call,) = reply.message.calls
    assert (call.name, call.arguments, call.fault) == ("read_file", {"path": "car.md"}, "")
    usage = reply.message.usage
    assert (usage.input, usage.output, usage.cached, usage.calls) == (7, 3, 2, 1)
    assert (server.asked[0]["temperature"], server.asked[0]["seed"]) == (0, 1)


async def test_a_small_model_gets_a_short_prompt_with_the_examples_of_the_offered_tools() -> None:
    tiny, server = model('{"tool": "read_file", "path": "b"}')
    await play(tiny, asking("What is in b?"))
    chat = server.asked[0]["messages"]
    assert [m["content"] for m in chat[1:]] == [
        "Read car.md.",
        '{"tool": "read_file", "path": "car.md"}',
        "What is in b?",
    ]
    assert "A long system prompt." not in json.dumps(chat)
    (only,) = server.asked[0]["response_format"]["json_schema"]["schema"]["oneOf"]
    assert list(only["properties"]) == ["tool", "path"]  # what is optional is left out


async def test_it_answers_from_what_the_tool_found_with_a_quotation() -> None:
    tiny, server = model('{"quote": ["Eggs: 3"], "answer": "It needs 3 \\u00f6ggs."}')
    found = called("1|# Cake\n2|Eggs: 3\n[2 lines]")
    words, reply = await play(tiny, asking("How many eggs?", *found))
    assert words == "It needs 3 öggs."
    assert reply.message.text == "It needs 3 öggs.\n> Eggs: 3"
    body = server.asked[0]
    assert body["messages"][-1]["content"] == "# Cake\nEggs: 3\n\nQuestion: How many eggs?"
    quote = body["response_format"]["json_schema"]["schema"]["properties"]["quote"]
    assert quote["items"] == {"enum": ["# Cake", "Eggs: 3"]}


async def test_a_quotation_that_the_answer_repeats_is_not_shown_twice() -> None:
    tiny, _ = model('{"quote": ["Eggs: 3"], "answer": "Eggs: 3"}')
    _, reply = await play(tiny, asking("Eggs?", *called("1|Eggs: 3")))
    assert reply.message.text == "Eggs: 3"


async def test_lines_of_a_search_carry_the_name_of_their_file() -> None:
    tiny, server = model('{"quote": ["Eggs: 3 (a.md)"], "answer": "3"}')
    await play(tiny, asking("Eggs?", *called("a.md\n4:Eggs: 3\nb.md\n1:Eggs\n[2 matches]")))
    told = server.asked[0]["messages"][-1]["content"]
    assert told.startswith("Eggs: 3 (a.md)\nEggs (b.md)\n\n")


@pytest.mark.parametrize(
    ("outcome", "data"), [(Outcome.FAILED, {}), (Outcome.DENIED, {}), (Outcome.OK, {"count": 0})]
)
async def test_after_a_tool_that_found_nothing_another_is_offered(
    outcome: Outcome, data: dict[str, Any]
) -> None:
    tiny, server = model('{"tool": "list"}')
    request = asking("What is there?", *called("nothing", outcome, data), tools=(READ, LIST))
    _, reply = await play(tiny, request)
    assert reply.message.calls[0].name == "list"
    schema = server.asked[0]["response_format"]["json_schema"]["schema"]
    names = [branch["properties"].get("tool", {}).get("const") for branch in schema["oneOf"]]
    assert names == ["list", None]  # not the same tool again; or an answer


async def test_without_tools_it_talks_and_streams_as_it_comes() -> None:
    tiny, server = model("Hello to you.")
    words, reply = await play(tiny, asking("Hello!", tools=()))
    assert words == reply.message.text == "Hello to you."
    assert "response_format" not in server.asked[0]


async def test_a_large_window_gets_the_whole_conversation() -> None:
    big, server = model('{"answer": "done"}', window=32_768)
    words, reply = await play(big, asking("Look.", *called("1|x")))
    assert words == reply.message.text == "done"
    chat = server.asked[0]["messages"]
    assert chat[0]["content"].startswith("A long system prompt.")
    assert "Read a file." in chat[0]["content"]
    assert chat[2] == {"role": "assistant", "content": '{"tool": "read_file", "path": "a"}'}
    assert chat[3]["content"] == "Result (ok):\n1|x"
    branches = server.asked[0]["response_format"]["json_schema"]["schema"]["oneOf"]
    assert list(branches[0]["properties"]) == ["tool", "path", "limit"]


async def test_a_schema_of_the_request_is_kept_to() -> None:
    tiny, server = model('{"n": 1}')
    schema = {"type": "object"}
    _, reply = await play(tiny, Request((), (user("n?"),), schema=schema))
    assert server.asked[0]["response_format"]["json_schema"]["schema"] == schema
    assert reply.message.text == '{"n": 1}'


async def test_a_call_cut_in_the_middle_is_marked_and_not_run() -> None:
    tiny, _ = model('{"tool": "read_file", "pa')
    _, reply = await play(tiny, asking("What is in a?"))
    assert "not whole JSON" in reply.message.calls[0].fault


async def test_what_does_not_fit_says_so() -> None:
    error = {"error": {"type": "exceed_context_size_error", "n_ctx": 4096, "message": "too long"}}
    tiny, _ = model(error)
    with pytest.raises(ContextTooLong) as caught:
        await play(tiny, asking("long"))
    assert caught.value.limit == 4096


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ({"error": {"message": "bad"}}, Rejected),
        (RuntimeError("boom"), Unavailable),
        (MemoryError(), Unavailable),
        (Rejected("cannot be loaded"), Rejected),
    ],
)
async def test_an_error_of_the_library_is_one_of_ours(script: Any, kind: type[Exception]) -> None:
    tiny, _ = model(script)
    with anyio.fail_after(5), pytest.raises(kind):
        await play(tiny, asking("x"))


async def test_leaving_ends_the_generation_at_the_next_token() -> None:
    tiny, server = model("..." + "word " * 500)
    with anyio.move_on_after(5) as scope:
        async with anyio.create_task_group() as tasks:

            async def listen() -> None:
                async with aclosing(tiny.stream(asking("Talk.", tools=()))) as deltas:
                    async for _ in deltas:
                        tasks.cancel_scope.cancel()

            tasks.start_soon(listen)
    assert not scope.cancelled_caught
    server.gate.set()
    assert await anyio.to_thread.run_sync(server.halted.wait, 5)
    assert server.told < 10


async def test_words_are_shown_only_when_whole() -> None:
    tiny, _ = model('{"answer": "a \\"b\\" \\ud83d\\ude00 c\\\\"}', window=32_768)
    words, reply = await play(tiny, asking("x"))
    assert words == reply.message.text == 'a "b" 😀 c\\'


async def test_the_text_of_a_reply_is_a_plain_part() -> None:
    tiny, _ = model("Hi.")
    _, reply = await play(tiny, asking("Hello!", tools=()))
    assert reply.message.parts == (Text("Hi."),)
    assert reply.message.model == "embedded/tiny"
