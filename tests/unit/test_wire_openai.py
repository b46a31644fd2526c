"""What is made of a chat-completions answer, in every accent it comes in."""

import json
from typing import Any

import pytest

from hermes.core.endpoints import Endpoint
from hermes.core.errors import ContextTooLong, ModelError, Rejected, Unavailable
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
from hermes.providers.openai_chat import WIRE
from hermes.testing.paper import PaperHttp, sse

pytestmark = pytest.mark.anyio
INFO = ModelInfo("m", "acme", price=Price(1.0, 10.0, cached=0.1), vision=True)
TOOLS = (
    ToolSpec("list_dir", "List.", {"type": "object"}),
    ToolSpec("write_file", "Write.", {"type": "object"}),
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def ask(paper: PaperHttp, request: Request | None = None, **options: Any) -> list[Delta]:
    model = WIRE.open(Endpoint("acme", "http://host/v1/", "key-123456", options=options), INFO, paper)
    return [delta async for delta in model.stream(request or Request(("sys",), (user("hi"),), TOOLS))]


async def heard(*chunks: Any, **options: Any) -> Reply:
    reply = (await ask(PaperHttp(sse(*chunks)), **options))[-1]
    assert isinstance(reply, Reply)
    return reply


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(
    index: Any = 0, id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    part = {"index": index, "id": id, "function": {k: v for k, v in function.items() if v is not None}}
    return chunk(tool_calls=[{k: v for k, v in part.items() if v is not None}])


def sent(paper: PaperHttp) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(paper.requests[-1].body)
    return body


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
async def test_text_comes_as_it_is_streamed_however_the_bytes_are_cut(size: int, end: str) -> None:
    answer = sse(chunk(content=""), chunk(content="Grüße "), chunk(content="\U0001f600"), chunk("stop"))
    usage = sse({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 7}}, done=True)
    text = ": waiting\n\n" + (answer + usage).decode().replace("\\u00fc", "ü").replace("\\ud83d\\ude00", "😀")
    deltas = await ask(PaperHttp(text.replace("\n", end).replace("data: ", "data:").encode(), size=size))
    pieces = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert "".join(pieces) == "Grüße \U0001f600"
    assert len(pieces) == (1 if size == 1000 else 2)  # what arrives together is one piece
    assert deltas[-1] == Reply(
        Message(
            Role.ASSISTANT,
            (Text("Grüße \U0001f600"),),
            Usage(100, 7, cost=(100 + 70) / 1e6, calls=1),
            model="acme/m",
        ),
        Finish.STOP,
    )


async def test_parallel_calls_come_in_pieces_and_interleaved() -> None:
    reply = await heard(
        call(0, "a", "list_dir", ""),
        call(1, "b", "write_file", '{"path"'),
        call(0, arguments='{"path":'),
        call(1, arguments=':"x"}'),
        call(0, arguments='"."}'),
        chunk("tool_calls"),
    )
    assert reply.finish is Finish.CALLS
    assert reply.message.calls == (
        ToolCall(CallId("a"), "list_dir", {"path": "."}),
        ToolCall(CallId("b"), "write_file", {"path": "x"}),
    )


MERGED = {
    "the name again": [
        call(0, "a", "list_dir", ""),
        call(0, None, None, '{"path":"."}'),
        call(0, None, "list_dir"),
        chunk("tool_calls"),
    ],
    "id and name in every piece": [
        call(0, "a", "list_dir", '{"path":'),
        call(0, "a", "list_dir", '"."}'),
        chunk("tool_calls"),
    ],
    "the name in two pieces": [
        call(0, "a", "list_", ""),
        call(0, None, "dir", '{"path":"."}'),
        chunk("tool_calls"),
    ],
    "the name doubled": [call(0, "a", "list_dirlist_dir", '{"path":"."}'), chunk("tool_calls")],
    "no index": [
        call(None, "a", "list_dir", '{"path":'),
        call(None, None, None, '"."}'),
        chunk("tool_calls"),
    ],
    "arguments as an object": [call(0, "a", "list_dir", {"path": "."}), chunk("tool_calls")],
    "encoded twice": [call(0, "a", "list_dir", json.dumps('{"path":"."}')), chunk("tool_calls")],
    "finish is stop": [call(0, "a", "list_dir", '{"path":"."}'), chunk("stop")],
    "all at the end": [
        {
            "choices": [
                {
                    "message": {
                        "tool_calls": [
                            {"id": "a", "function": {"name": "list_dir", "arguments": '{"path":"."}'}}
                        ]
                    },
                    "finish_reason": "tool_calls",
                }
            ]
        }
    ],
}


@pytest.mark.parametrize("how", MERGED)
async def test_one_call_is_one_call(how: str) -> None:
    reply = await heard(*MERGED[how])
    assert reply.message.calls == (ToolCall(CallId("a"), "list_dir", {"path": "."}),)
    assert reply.finish is Finish.CALLS


async def test_new_ids_under_one_index_are_different_calls() -> None:
    reply = await heard(
        call(0, "a", "list_dir", '{"path":"."}'),
        call(0, "b", "list_dir", '{"path":"/"}'),
        chunk("tool_calls"),
    )
    assert [(c.id, c.arguments) for c in reply.message.calls] == [("a", {"path": "."}), ("b", {"path": "/"})]


async def test_calls_without_ids_get_the_same_ids_each_time_and_none_twice() -> None:
    pieces = [call(0, None, "list_dir", "{}"), call(1, None, "list_dir", "{}"), chunk("tool_calls")]
    first, second = await heard(*pieces), await heard(*pieces)
    assert first == second
    assert len({c.id for c in first.message.calls}) == 2


async def test_an_id_that_the_conversation_has_used_is_replaced() -> None:
    used = Message(Role.ASSISTANT, (ToolCall(CallId("call_0"), "list_dir"),))
    answered = Message(Role.TOOL, (ToolResult(CallId("call_0"), Outcome.OK, "x"),))
    paper = PaperHttp(
        sse(call(0, "call_0", "list_dir", "{}"), call(1, "call_0", "list_dir", "{}"), chunk("stop"))
    )
    reply = (await ask(paper, Request((), (user("hi"), used, answered), TOOLS)))[-1]
    assert isinstance(reply, Reply)
    assert len({"call_0", *(c.id for c in reply.message.calls)}) == 3


FAULTS = {
    '{"path":"a","content":"# Ti': "cut off",
    "[1,2]": "not a JSON object but a list",
    '"text"': "not a JSON object but a string",
    "path=a": "not valid JSON",
    '{"a":1}{"b":2}': "more than one",
    '{"a":1} and so on': "more than one",
    "[" * 100_000: "nested too deeply",
    '{"a":' * 120 + "1" + "}" * 120: "nested too deeply",
    "1" * 5000: "not valid JSON",
}


@pytest.mark.parametrize("written", FAULTS)
async def test_arguments_that_cannot_be_read_are_a_fault_in_one_sentence(written: str) -> None:
    [got] = (await heard(call(0, "a", "write_file", written), chunk("tool_calls"))).message.calls
    assert FAULTS[written] in got.fault
    assert (got.name, got.arguments) == ("write_file", {})
    assert got.fault.startswith("The ")
    assert got.fault.endswith(".")


async def test_a_call_cut_by_the_limit_is_never_whole() -> None:
    for written in ("", '{"path":"report.md","content":"# Title\\nline tw'):
        reply = await heard(call(0, "a", "write_file", written), chunk("length"))
        assert reply.finish is Finish.LENGTH
        assert "cut off" in reply.message.calls[0].fault
        assert reply.message.calls[0].arguments == {}


async def test_odd_arguments_that_can_be_read() -> None:
    written = '{"s":"a\\ud83d","n":1e999,"big":123456789012345678901234567890,"tab":"a\tb"}'
    [got] = (await heard(call(0, "a", "write_file", written), chunk("stop"))).message.calls
    assert got.arguments == {"s": "a\ufffd", "n": None, "big": 123456789012345678901234567890, "tab": "a\tb"}
    [none] = (await heard(call(0, "a", "list_dir"), chunk("tool_calls"))).message.calls
    assert (none.arguments, none.fault) == ({}, "")


async def test_a_call_in_words_is_words() -> None:
    words = '<tool_call>{"name":"list_dir","arguments":{}}</tool_call>'
    reply = await heard(chunk(content=words), chunk("stop"))
    assert reply.message.parts == (Text(words),)


async def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    body = '{"choices":[{"message":{"content":"price \\ud83d end"},"finish_reason":"stop"}]}'
    for kind, answer in (
        ("application/json", body.encode()),
        ("text/event-stream", b"data: " + body.replace("message", "delta").encode() + b"\n\n"),
    ):
        deltas = await ask(PaperHttp(answer, kind=kind))
        assert deltas[0] == TextDelta("price \ufffd end")


REASONING = {
    "reasoning_content": [chunk(reasoning_content="I "), chunk(reasoning_content="think")],
    "reasoning": [chunk(reasoning="I "), chunk(reasoning="think")],
    "parts": [
        chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "I "}]}]),
        chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "think"}]}]),
    ],
}


@pytest.mark.parametrize("how", REASONING)
async def test_reasoning_is_kept_apart_and_knows_who_thought_it(how: str) -> None:
    deltas = await ask(PaperHttp(sse(*REASONING[how], chunk(content="ok"), chunk("stop"))))
    assert deltas[:2] == [ThoughtDelta("I think"), TextDelta("ok")]
    assert isinstance(deltas[-1], Reply)
    assert deltas[-1].message.parts == (Thought("I think", provider="acme/m"), Text("ok"))


@pytest.mark.parametrize("size", [1, 3, 8, 100])
async def test_reasoning_in_tags_at_the_beginning_is_reasoning(size: int) -> None:
    answer = "\n<think>\nsix < seven </thin\n</think>\n\n42 <think>no</think>"
    pieces = [chunk(content=answer[n : n + size]) for n in range(0, len(answer), size)]
    deltas = await ask(PaperHttp(sse(*pieces, chunk("stop"))))
    assert isinstance(deltas[-1], Reply)
    assert deltas[-1].message.text == "42 <think>no</think>"
    assert "".join(d.text for d in deltas if isinstance(d, TextDelta)) == "42 <think>no</think>"
    assert deltas[-1].message.parts[0] == Thought("\nsix < seven </thin\n", provider="acme/m")


async def test_an_answer_that_only_looks_like_a_tag_is_an_answer() -> None:
    assert (await heard(chunk(content="<thi"), chunk("stop"))).message.text == "<thi"
    assert (await heard(chunk(content="<the"), chunk(content="n>"), chunk("stop"))).message.text == "<then>"
    with pytest.raises(Unavailable, match="empty"):
        await heard(chunk(content="<think>for ever"), chunk("stop"))


async def echoed(parts: tuple[Any, ...], **options: Any) -> dict[str, Any]:
    paper = PaperHttp(sse(chunk("stop", content="ok")))
    said = Message(Role.ASSISTANT, parts)
    got = Message(Role.TOOL, tuple(ToolResult(c.id, Outcome.OK, "x") for c in said.calls))
    await ask(paper, Request((), (user("hi"), said, got, user("go"))), **options)
    message: dict[str, Any] = sent(paper)["messages"][1]
    return message


async def test_reasoning_goes_back_only_to_the_model_that_thought_it_and_wants_it() -> None:
    own = (Thought("mine", provider="acme/m"), Thought("theirs", provider="other/m"), Text("ok"))
    assert await echoed(own) == {"role": "assistant", "content": "ok"}
    back = await echoed(own, reasoning_echo="reasoning_content")
    assert back == {"role": "assistant", "content": "ok", "reasoning_content": "mine"}


async def test_a_message_with_calls_has_the_reasoning_field_even_if_another_model_wrote_it() -> None:
    parts = (ToolCall(CallId("a"), "list_dir"),)
    assert (await echoed(parts, reasoning_echo="reasoning_content"))["reasoning_content"] == ""


async def test_reasoning_details_go_back_as_they_came() -> None:
    text = {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1"}
    reply = await heard(
        chunk(reasoning="I ", reasoning_details=[{**text, "text": "I "}]),
        chunk(reasoning="think", reasoning_details=[{**text, "text": "think"}]),
        chunk(reasoning_details=[{**text, "signature": "sig"}]),
        chunk(reasoning_details=[{"type": "reasoning.encrypted", "index": 1, "data": "blob"}]),
        chunk("stop", content="ok"),
    )
    message = await echoed(reply.message.parts, reasoning_echo="reasoning_details")
    assert message["reasoning_details"] == [
        {**text, "signature": "sig", "text": "I think"},
        {"type": "reasoning.encrypted", "index": 1, "data": "blob"},
    ]
    assert [part.redacted for part in reply.message.parts if isinstance(part, Thought)] == [False, True]


async def test_what_a_vendor_hangs_on_a_call_comes_back_with_the_call() -> None:
    extra = {"google": {"thought_signature": "sig"}}
    piece = call(0, "a", "list_dir", "{}")
    piece["choices"][0]["delta"]["tool_calls"][0]["extra_content"] = extra
    reply = await heard(piece, chunk("tool_calls"))
    message = await echoed(reply.message.parts, reasoning_echo="extra_content")
    assert message["tool_calls"][0]["extra_content"] == extra
    assert "extra_content" not in (await echoed(reply.message.parts))["tool_calls"][0]


async def test_usage_in_every_place_it_is_reported() -> None:
    report = {
        "prompt_tokens": 1000,
        "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 900},
        "completion_tokens_details": {"reasoning_tokens": 4},
    }
    spent = Usage(1000, 10, 900, 0, 4, (100 + 900 * 0.1 + 100) / 1e6, 1)
    done = chunk("stop", content="ok")
    assert (await heard(done, {"choices": [], "usage": report})).message.usage == spent
    assert (await heard({**done, "usage": report})).message.usage == spent
    assert (await heard({**done, "x_groq": {"usage": report}})).message.usage == spent
    deepseek = {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_cache_hit_tokens": 900}
    assert (await heard({**done, "usage": deepseek})).message.usage.cached == 900
    told = (await heard({**done, "usage": {**report, "cost": 0.25}})).message.usage
    assert told.cost == 0.25


async def test_absurd_usage_is_no_usage() -> None:
    report = {"prompt_tokens": 10**30, "completion_tokens": -5, "prompt_tokens_details": None, "cost": 1e308}
    reply = await heard({**chunk("stop", content="ok"), "usage": report})
    assert reply.message.usage == Usage(calls=1)


async def test_refusals() -> None:
    reply = await heard(chunk(refusal="I cannot help."), chunk("stop"))
    assert (reply.message.text, reply.finish) == ("I cannot help.", Finish.REFUSED)
    reply = await heard(chunk(content="half"), chunk("content_filter"))
    assert (reply.message.text, reply.finish) == ("half", Finish.REFUSED)
    with pytest.raises(Rejected) as caught:
        await heard(chunk("content_filter"))
    assert caught.value.kind == "policy"


BROKEN = {
    "cut": sse(chunk(content="Hel")),
    "cut ": sse(chunk(content="Hel")) + b'data: {"choices":[{"delta":{"con',
    "empty": sse(chunk(content=""), chunk("stop"), done=True),
    "empty ": sse(chunk(content=" \n"), chunk("stop")),
    "empty  ": sse(chunk(reasoning_content="hmm"), chunk("stop")),
    "cut  ": b"",
    "malformed": b"data: {nonsense\n\n",
    "malformed ": b"data: <html>gateway</html>\n\n",
    "malformed  ": sse({"choices": "none"}),
    "overloaded": sse(chunk(content="Hel"), {"error": {"code": 503, "message": "overloaded"}}),
    "rate": sse({"error": {"message": "slow down", "code": "rate_limit_exceeded"}}),
    "server": sse(chunk(content="x"), chunk("error")),
}


@pytest.mark.parametrize("kind", BROKEN)
async def test_a_stream_that_is_no_answer(kind: str) -> None:
    with pytest.raises(Unavailable) as caught:
        await ask(PaperHttp(BROKEN[kind]))
    assert caught.value.kind == kind.strip()
    assert "acme (http://host)" in str(caught.value)


PLAIN = {
    "empty": b"",
    "empty ": b'{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}',
    "malformed": b"<!DOCTYPE html><title>Login</title>",
    "malformed ": b"[]",
    "malformed  ": b'{"choices":',
    "server": b'{"error":"boom"}',
    "server ": b'{"detail":[{"msg":"boom"}]}',
    "overloaded": b'{"error":{"message":"The model is overloaded","code":503}}',
}


@pytest.mark.parametrize("kind", PLAIN)
async def test_a_body_that_is_no_answer(kind: str) -> None:
    with pytest.raises(Unavailable) as caught:
        await ask(PaperHttp(PLAIN[kind], kind="application/json"), stream=False)
    assert caught.value.kind == kind.strip()


async def test_done_without_a_reason_and_a_reason_without_done_are_both_an_end() -> None:
    assert (await ask(PaperHttp(sse(chunk(content="ok"), done=True))))[-1].message.text == "ok"  # type: ignore[union-attr]
    assert (await heard(chunk("stop", content="ok"))).finish is Finish.STOP


async def test_a_reason_in_every_piece_ends_nothing_before_its_time() -> None:
    reply = await heard(*(chunk("stop", content=word) for word in ("one ", "two ", "three")))
    assert reply.message.text == "one two three"


async def test_whole_answers_are_understood_whether_asked_for_or_not() -> None:
    body = {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "content": "ok",
                    "reasoning_content": "hmm",
                    "tool_calls": [{"id": "a", "function": {"name": "list_dir", "arguments": "{}"}}],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    for stream in (True, False):
        paper = PaperHttp(json.dumps(body).encode(), kind="application/json")
        deltas = await ask(paper, stream=stream)
        assert sent(paper)["stream"] is stream
        assert deltas[:2] == [ThoughtDelta("hmm"), TextDelta("ok")]
        assert isinstance(deltas[-1], Reply)
        assert deltas[-1].message.calls == (ToolCall(CallId("a"), "list_dir", {}),)
        assert deltas[-1].message.usage.input == 3


async def test_refused_requests_are_errors_of_their_kind() -> None:
    body = b'{"error":{"message":"maximum context length is 8192 tokens","code":"context_length_exceeded"}}'
    with pytest.raises(ContextTooLong) as long:
        await ask(PaperHttp(body, 400, "application/json"))
    assert long.value.limit == 8192
    with pytest.raises(Unavailable) as busy:
        await ask(PaperHttp(b"{}", 429, "application/json", more={"retry-after": "7"}))
    assert (busy.value.kind, busy.value.retry_after) == ("rate", 7.0)
    with pytest.raises(Rejected) as wrong:
        await ask(
            PaperHttp(b'{"error":{"message":"bad key key-123456"}}', 401, "application/json"),
            key_env="ACME_KEY",
        )
    assert wrong.value.kind == "auth"
    assert "key-123456" not in str(wrong.value)
    assert "ACME_KEY" in str(wrong.value)


async def test_a_key_that_no_header_can_carry_is_said_to_be_wrong() -> None:
    model = WIRE.open(Endpoint("acme", "http://host", "“sk-1”"), INFO, PaperHttp())
    with pytest.raises(ModelError) as caught:
        _ = [delta async for delta in model.stream(Request((), (user("hi"),)))]
    assert caught.value.kind == "auth"
    assert "sk-1" not in str(caught.value)


async def test_options_shape_the_request() -> None:
    paper = PaperHttp(sse(chunk("stop", content="ok")))
    schema = {"type": "object", "additionalProperties": False}
    request = Request(("a", "b"), (user("hi"),), TOOLS, max_tokens=9, temperature=0.5, schema=schema)
    await ask(paper, request)
    body = sent(paper)
    assert paper.requests[-1].url == "http://host/v1/chat/completions"
    assert paper.requests[-1].headers["Authorization"] == "Bearer key-123456"
    assert body["messages"][0] == {"role": "system", "content": "a\n\nb"}
    assert (body["max_tokens"], body["temperature"]) == (9, 0.5)
    assert body["stream_options"] == {"include_usage": True}
    held = {"name": "answer", "schema": schema, "strict": True}
    assert body["response_format"] == {"type": "json_schema", "json_schema": held}
    await ask(
        paper,
        request,
        stream_usage=False,
        max_tokens="max_completion_tokens",
        temperature=False,
        schema="json_object",
        system_role="developer",
        parallel_calls=False,
        auth="api-key",
        query="api-version=1",
        path="/chat",
        extra={"provider": {"sort": "price"}},
    )
    body = sent(paper)
    assert paper.requests[-1].url == "http://host/v1/chat?api-version=1"
    assert paper.requests[-1].headers["api-key"] == "key-123456"
    assert "Authorization" not in paper.requests[-1].headers
    assert body["messages"][0]["role"] == "developer"
    assert body["max_completion_tokens"] == 9
    assert body["response_format"] == {"type": "json_object"}
    assert body["provider"] == {"sort": "price"}
    assert body["parallel_tool_calls"] is False
    assert not {"temperature", "stream_options", "max_tokens"} & set(body)


async def test_ids_for_a_vendor_that_wants_nine_characters() -> None:
    paper = PaperHttp(sse(chunk("stop", content="ok")))
    said = Message(Role.ASSISTANT, (ToolCall(CallId("call_long_one"), "list_dir"),))
    got = Message(Role.TOOL, (ToolResult(CallId("call_long_one"), Outcome.OK, "x"),))
    await ask(paper, Request((), (user("hi"), said, got)), call_ids="nine")
    messages = sent(paper)["messages"]
    assert len(messages[1]["tool_calls"][0]["id"]) == 9
    assert messages[2]["tool_call_id"] == messages[1]["tool_calls"][0]["id"]


async def test_pictures_are_shown_to_models_that_see(tmp_path: Any) -> None:
    picture = tmp_path / "a.jpg"
    picture.write_bytes(b"\xff\xd8\xff")
    paper = PaperHttp(sse(chunk("stop", content="ok")))
    shown = Message(Role.USER, (Text("look"), Media("image", str(picture)), Media("image", "/no/such.png")))
    await ask(paper, Request((), (shown,)))
    words, image, missing = sent(paper)["messages"][0]["content"]
    assert words == {"type": "text", "text": "look"}
    assert image["image_url"]["url"] == "data:image/jpeg;base64,/9j/"
    assert missing == {
        "type": "text",
        "text": "[The image such.png cannot be read: No such file or directory.]",
    }
    blind = WIRE.open(Endpoint("acme", "http://host"), ModelInfo("m", "acme"), paper)
    _ = [delta async for delta in blind.stream(Request((), (shown,)))]
    assert "this model cannot see it" in sent(paper)["messages"][0]["content"]
