"""Whatever a log looks like, what the wires make of it is what the vendors accept."""

import asyncio
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire_logs import TOOLS, WIRES, logs, opened, rendered

from hermes.core.ids import CallId
from hermes.core.messages import Message, Outcome, Role, Text, ToolCall, ToolResult
from hermes.core.models import Request
from hermes.testing.wire_rules import complaints


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=150, deadline=None)
@given(log=logs, echo=st.sampled_from(["", "reasoning_content", "reasoning_details", "extra_content"]))
def test_every_log_becomes_a_request_the_vendor_accepts(
    wire: str, log: tuple[Message, ...], echo: str
) -> None:
    log = log or (Message(Role.USER, (Text("hi"),)),)
    [body] = asyncio.run(rendered(wire, log, reasoning_echo=echo))
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


@pytest.mark.parametrize("wire", WIRES)
def test_a_request_begins_with_the_bytes_of_the_one_before(wire: str) -> None:
    """What a vendor has read once it need not read again (breakpoints move, so none are set here)."""
    log = [Message(Role.USER, (Text("hi"),))]
    logs = [tuple(log)]
    for number in range(5):
        call = ToolCall(CallId(f"c{number}"), "read_file", {"path": "a"})
        log += [
            Message(Role.ASSISTANT, (Text("reading"), call)),
            Message(Role.TOOL, (ToolResult(call.id, Outcome.OK, "text"),)),
        ]
        logs.append(tuple(log))
    bodies = asyncio.run(rendered(wire, *logs, cache=False))
    for before, after in pairwise(bodies):
        shared = before[: before.rindex(b"]")]
        assert after.startswith(shared)
        assert len(after) > len(before)


def test_breakpoints_stand_after_the_system_tiers_and_the_last_two_messages_of_the_user() -> None:
    log = tuple(
        Message(role, (Text(text),))
        for role, text in ((Role.USER, "1"), (Role.ASSISTANT, "2"), (Role.USER, "3"), (Role.ASSISTANT, "4"))
    )
    *_, body = asyncio.run(rendered("anthropic", log[:1], log[:3], (*log, Message(Role.USER, (Text("5"),)))))
    request = json.loads(body)
    mark = {"type": "ephemeral"}
    assert [block.get("cache_control") for block in request["system"]] == [mark, mark]
    assert "cache_control" not in request["tools"][-1]
    marked = [m["content"][-1]["text"] for m in request["messages"] if "cache_control" in m["content"][-1]]
    assert marked == ["3", "5"]


def test_a_single_system_tier_leaves_a_breakpoint_for_the_tools() -> None:
    model, paper = opened("anthropic", cache="1h")

    async def once() -> None:
        log = (Message(Role.USER, (Text("hi"),)),)
        async for _ in model.stream(Request(("You are brief.",), log, TOOLS)):
            pass

    asyncio.run(once())
    request = json.loads(paper.requests[0].body)
    mark = {"type": "ephemeral", "ttl": "1h"}
    assert [request["tools"][-1]["cache_control"], request["system"][0]["cache_control"]] == [mark, mark]
    assert complaints("anthropic", paper.requests[0].body) == []


BAD = {
    "an unanswered call": lambda m: m.insert(2, {"role": "user", "content": "x"}),
    "an orphan": lambda m: m.append({"role": "tool", "tool_call_id": "zz", "content": "x"}),
    "twice": lambda m: m.append({"role": "user", "content": "x"}),
    "empty": lambda m: m[0].update(content=" "),
    "no JSON": lambda m: m[1]["tool_calls"][0]["function"].update(arguments="{"),
    "a name": lambda m: m[1]["tool_calls"][0]["function"].update(name="a b"),
    "the last word": lambda m: m.append({"role": "assistant", "content": "x"}),
    "a stranger's field": lambda m: m[0].update(api_content="x"),
}


@pytest.mark.parametrize("fault", BAD)
def test_the_rules_notice(fault: str) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages: list[Any] = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "x"},
        {"role": "user", "content": "more"},
    ]
    assert complaints("openai_chat", json.dumps({"messages": messages}).encode()) == []
    BAD[fault](messages)
    assert complaints("openai_chat", json.dumps({"messages": messages}).encode()) != []


WORSE = {
    "an unanswered call": lambda b: b["messages"].pop(2),
    "empty": lambda b: b["messages"][0]["content"][0].update(text=""),
    "unsigned": lambda b: b["messages"][1]["content"].insert(
        0, {"type": "thinking", "thinking": "", "signature": ""}
    ),
    "no limit": lambda b: b.pop("max_tokens"),
    "an id": lambda b: b["messages"][1]["content"][0].update(id="a.b"),
    "words before results": lambda b: b["messages"][2]["content"].reverse(),
    "five marks": lambda b: b.update(system=[{"type": "text", "text": "x", "cache_control": {}}] * 5),
}


@pytest.mark.parametrize("fault", WORSE)
def test_the_stricter_rules_notice(fault: str) -> None:
    body: dict[str, Any] = {
        "max_tokens": 1,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "1", "content": "x"},
                    {"type": "text", "text": "go"},
                ],
            },
        ],
    }
    assert complaints("anthropic", json.dumps(body).encode()) == []
    WORSE[fault](body)
    assert complaints("anthropic", json.dumps(body).encode()) != []
