"""What is made of a messages answer, and what is sent back."""

import json
from typing import Any

import pytest

from hermes.core.endpoints import Endpoint
from hermes.core.errors import Rejected, Unavailable
from hermes.core.events import TextDelta, ThoughtDelta
from hermes.core.ids import CallId
from hermes.core.messages import (
    Media,
    Message,
    Outcome,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Usage,
    user,
)
from hermes.core.models import Delta, Finish, ModelInfo, Price, Reply, Request
from hermes.core.tools import ToolSpec
from hermes.providers.anthropic import WIRE
from hermes.testing.paper import PaperHttp, sse

pytestmark = pytest.mark.anyio
INFO = ModelInfo("m", "acme", max_output=4000, price=Price(1.0, 10.0, cached=0.1, written=1.25), vision=True)
TOOLS = (ToolSpec("list_dir", "List.", {"type": "object"}),)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def ask(paper: PaperHttp, request: Request | None = None, **options: Any) -> list[Delta]:
    model = WIRE.open(Endpoint("acme", "http://host", "key-123456", options=options), INFO, paper)
    return [delta async for delta in model.stream(request or Request(("sys",), (user("hi"),), TOOLS))]


async def heard(*events: Any, **options: Any) -> Reply:
    reply = (await ask(PaperHttp(sse(*events)), **options))[-1]
    assert isinstance(reply, Reply)
    return reply


def start(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


def more(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": f"{kind}_delta", **fields}}


def end(reason: str = "end_turn", **usage: int) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def sent(paper: PaperHttp) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(paper.requests[-1].body)
    return body


STOP = {"type": "message_stop"}


async def test_thoughts_words_and_calls_in_their_order() -> None:
    usage = {"input_tokens": 100, "cache_read_input_tokens": 800, "cache_creation_input_tokens": 100}
    deltas = await ask(
        PaperHttp(
            sse(
                {"type": "message_start", "message": {"usage": {**usage, "output_tokens": 1}}},
                {"type": "ping"},
                start(0, "thinking", thinking="", signature=""),
                more(0, "thinking", thinking="hmm"),
                more(0, "signature", signature="sig"),
                start(1, "redacted_thinking", data="blob"),
                start(2, "text", text=""),
                more(2, "text", text="I look."),
                start(3, "tool_use", id="a", name="list_dir", input={}),
                more(3, "input_json", partial_json='{"path"'),
                start(4, "tool_use", id="b", name="list_dir", input={}),
                more(3, "input_json", partial_json=':"."}'),
                {"type": "a kind of event that is yet to be invented"},
                end("tool_use", output_tokens=20),
                STOP,
            ),
            size=11,
        )
    )
    assert deltas[:-1] == [ThoughtDelta("hmm"), TextDelta("I look.")]
    assert deltas[-1] == Reply(
        Message(
            Role.ASSISTANT,
            (
                Thought("hmm", "sig", "acme/m"),
                Thought("blob", provider="acme/m", redacted=True),
                Text("I look."),
                ToolCall(CallId("a"), "list_dir", {"path": "."}),
                ToolCall(CallId("b"), "list_dir", {}),
            ),
            Usage(1000, 20, 800, 100, cost=(100 + 80 + 125 + 200) / 1e6, calls=1),
            model="acme/m",
        ),
        Finish.CALLS,
    )


async def test_a_whole_answer_is_the_same_as_a_streamed_one() -> None:
    content = [
        {"type": "thinking", "thinking": "hmm", "signature": "sig"},
        {"type": "text", "text": "ok \ud83d"},
        {"type": "tool_use", "id": "a", "name": "list_dir", "input": {"path": "."}},
    ]
    body = {"type": "message", "content": content, "stop_reason": "tool_use", "usage": {"input_tokens": 3}}
    paper = PaperHttp(json.dumps(body).encode(), kind="application/json")
    deltas = await ask(paper, stream=False)
    assert sent(paper)["stream"] is False
    assert deltas[:-1] == [ThoughtDelta("hmm"), TextDelta("ok \ufffd")]
    assert isinstance(deltas[-1], Reply)
    assert deltas[-1].message.parts == (
        Thought("hmm", "sig", "acme/m"),
        Text("ok \ufffd"),
        ToolCall(CallId("a"), "list_dir", {"path": "."}),
    )


async def test_a_call_cut_by_the_limit_is_never_whole() -> None:
    pieces = [start(0, "tool_use", id="a", name="write_file", input={})]
    for written in ([], [more(0, "input_json", partial_json='{"path":"a","conte')]):
        reply = await heard(*pieces, *written, end("max_tokens"))
        assert reply.finish is Finish.LENGTH
        assert "cut off" in reply.message.calls[0].fault


async def test_calls_with_the_same_id_become_two() -> None:
    block = {"id": "a", "name": "list_dir", "input": {}}
    reply = await heard(start(0, "tool_use", **block), start(1, "tool_use", **block), end("tool_use"))
    first, second = reply.message.calls
    assert first.id == "a"
    assert second.id != "a"


BROKEN: dict[str, tuple[Any, ...]] = {
    "cut": (start(0, "text", text=""), more(0, "text", text="Hel")),
    "cut ": (),
    "empty": (end(), STOP),
    "empty ": (start(0, "thinking", thinking="hmm"), end(), STOP),
    "overloaded": ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},),
    "server": ({"type": "error", "error": {"type": "api_error", "message": "Internal server error"}},),
    "malformed": ("{nonsense",),
}


@pytest.mark.parametrize("kind", BROKEN)
async def test_a_stream_that_is_no_answer(kind: str) -> None:
    with pytest.raises(Unavailable) as caught:
        await heard(*BROKEN[kind])
    assert caught.value.kind == kind.strip()


async def test_a_refusal_without_a_word_is_the_vendors_policy() -> None:
    with pytest.raises(Rejected) as caught:
        await heard(end("refusal"), STOP)
    assert caught.value.kind == "policy"
    assert (await heard(start(0, "text", text="No."), end("refusal"))).finish is Finish.REFUSED


async def test_thoughts_go_back_signed_to_the_model_that_signed_them_or_not_at_all() -> None:
    said = Message(
        Role.ASSISTANT,
        (
            Thought("mine", "sig", "acme/m"),
            Thought("blob", provider="acme/m", redacted=True),
            Thought("unsigned", "", "acme/m"),
            Thought("theirs", "sig", "acme/other"),
            Text("ok"),
        ),
    )
    paper = PaperHttp(sse(start(0, "text", text="ok"), end()))
    await ask(paper, Request((), (user("hi"), said, user("go"))))
    assert sent(paper)["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "mine", "signature": "sig"},
        {"type": "redacted_thinking", "data": "blob"},
        {"type": "text", "text": "ok"},
    ]


async def test_results_say_whether_they_are_errors_and_come_before_what_was_said_meanwhile() -> None:
    calls = tuple(ToolCall(CallId(f"functions.f:{n}"), "f") for n in range(2))
    picture = Media("image", "data:image/png;base64,aGk=")
    results = (
        ToolResult(calls[1].id, Outcome.DENIED, "no"),
        ToolResult(calls[0].id, Outcome.OK, "", media=(picture,)),
    )
    log = (user("hi"), Message(Role.ASSISTANT, calls), Message(Role.TOOL, results), user("hurry"))
    paper = PaperHttp(sse(start(0, "text", text="ok"), end()))
    await ask(paper, Request((), log))
    _, asked, told = sent(paper)["messages"]
    first, second = (block["id"] for block in asked["content"])
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    nothing = {"type": "text", "text": "(no output)"}
    [shown, refused, words] = told["content"]
    assert shown == {
        "type": "tool_result",
        "tool_use_id": first,
        "content": [nothing, {"type": "image", "source": source}],
    }
    assert refused == {"type": "tool_result", "tool_use_id": second, "content": "no", "is_error": True}
    assert words["text"] == "hurry"


async def test_options_shape_the_request() -> None:
    paper = PaperHttp(sse(start(0, "text", text="ok"), end()))
    schema = {"type": "object"}
    request = Request(("a",), (user("hi"),), TOOLS, temperature=0.5, schema=schema)
    await ask(paper, request)
    body, headers = sent(paper), paper.requests[-1].headers
    assert paper.requests[-1].url == "http://host/v1/messages"
    assert (headers["x-api-key"], headers["anthropic-version"]) == ("key-123456", "2023-06-01")
    assert (body["max_tokens"], body["temperature"]) == (4000, 0.5)
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": schema}}
    thinking = {"type": "enabled", "budget_tokens": 1024}
    await ask(
        paper, request, auth="bearer", cache=False, schema=False, path="/m", extra={"thinking": thinking}
    )
    body, headers = sent(paper), paper.requests[-1].headers
    assert paper.requests[-1].url == "http://host/m"
    assert headers["Authorization"] == "Bearer key-123456"
    assert body["thinking"] == thinking
    assert not {"temperature", "output_config"} & set(body)
    assert "cache_control" not in paper.requests[-1].body.decode()
