"""What each protocol demands of a request, as documented by its vendor: a list of complaints.

The fakes of a protocol are kinder than the vendors: they answer whatever they are sent. Run every
body through these rules, so that a test notices what a vendor would have refused.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def complaints(wire: str, body: bytes) -> list[str]:
    """What the vendor of `wire` ("openai_chat" or "anthropic") would refuse in this body."""
    try:
        value = json.loads(body.decode())
    except ValueError as error:
        return [f"not JSON in UTF-8: {error}"]
    rules = _anthropic if wire == "anthropic" else _openai
    return list(rules(value))


def _openai(body: dict[str, Any]) -> Iterator[str]:
    """https://platform.openai.com/docs/api-reference/chat/create, and stricter kin."""
    messages: list[dict[str, Any]] = body.get("messages", [])
    yield from _openai_head(body)
    yield from _openai_order(messages)
    seen = set[str]()
    for number, message in enumerate(messages):
        at = f"messages[{number}]"
        yield from _openai_message(at, message)
        for call in message.get("tool_calls", ()):
            yield from _openai_call(at, call, seen)


def _openai_order(messages: list[dict[str, Any]]) -> Iterator[str]:
    waiting: list[str] = []
    before = ""
    for number, message in enumerate(messages):
        at, role, answers = f"messages[{number}]", str(message.get("role")), message.get("tool_call_id")
        if role == "tool" and answers in waiting:
            waiting.remove(answers)
        elif role == "tool" or waiting:
            yield f"{at}: {waiting} are to be answered, not {answers!r}"
            waiting = []
        if role in ("system", "developer") and number:
            yield f"{at}: a system message in the middle"
        if role in ("user", "assistant") and role == before:
            yield f"{at}: {role} speaks twice in a row"
        waiting += [call["id"] for call in message.get("tool_calls", ())]
        before = role
    if waiting:
        yield f"the calls {waiting} are not answered"
    if before not in ("user", "tool"):
        yield "the last message is not for the model to answer"


def _openai_head(body: dict[str, Any]) -> Iterator[str]:
    if "tools" in body and not body["tools"]:
        yield "tools: empty list"
    for tool in body.get("tools", ()):
        function = tool.get("function", {})
        if tool.get("type") != "function" or not _NAME.fullmatch(function.get("name", "")):
            yield f"tools: {function.get('name')!r}"
        if function.get("parameters", {}).get("type") != "object":
            yield f"tools: the parameters of {function.get('name')!r} are no object"
    if body.get("stream_options") and not body.get("stream"):
        yield "stream_options without stream"


def _openai_message(at: str, message: dict[str, Any]) -> Iterator[str]:
    role, content = message.get("role"), message.get("content")
    allowed = {
        "system": {"role", "content"},
        "developer": {"role", "content"},
        "user": {"role", "content"},
        "tool": {"role", "content", "tool_call_id"},
        "assistant": {"role", "content", "tool_calls", "reasoning", "reasoning_content", "reasoning_details"},
    }
    if extra := set(message) - allowed.get(str(role), set()):
        yield f"{at}: fields {sorted(extra)} do not belong to {role}"
    if role == "assistant" and message.get("tool_calls"):
        if content not in (None, "") and not isinstance(content, str):
            yield f"{at}: content"
    elif isinstance(content, str):
        if not content.strip():
            yield f"{at}: empty content"
    elif role == "user" and isinstance(content, list) and content:
        for part in content:
            yield from _openai_part(at, part)
    else:
        yield f"{at}: content is {content!r}"
    if "tool_calls" in message and not message["tool_calls"]:
        yield f"{at}: tool_calls: empty list"


def _openai_part(at: str, part: dict[str, Any]) -> Iterator[str]:
    kind = part.get("type")
    if kind not in ("text", "image_url", "input_audio", "file") or kind not in part:
        yield f"{at}: part {kind!r}"
    elif kind == "text" and not part["text"].strip():
        yield f"{at}: empty text part"
    elif kind == "image_url" and not re.match(r"https?://|data:image/[a-z]+;base64,.", part[kind]["url"]):
        yield f"{at}: image {part[kind]['url'][:40]!r}"


def _openai_call(at: str, call: dict[str, Any], seen: set[str]) -> Iterator[str]:
    identity, function = call.get("id"), call.get("function", {})
    if not identity or len(identity) > 40:
        yield f"{at}: id {identity!r}"
    if identity in seen:
        yield f"{at}: id {identity!r} is used twice"
    seen.add(str(identity))
    if call.get("type") != "function" or not _NAME.fullmatch(function.get("name", "")):
        yield f"{at}: name {function.get('name')!r}"
    try:
        if not isinstance(json.loads(function["arguments"]), dict):
            yield f"{at}: arguments are no object"
    except (ValueError, KeyError, TypeError):
        yield f"{at}: arguments are no JSON"


def _anthropic(body: dict[str, Any]) -> Iterator[str]:
    """https://docs.anthropic.com/en/api/messages"""
    messages: list[dict[str, Any]] = body.get("messages", [])
    if not messages or messages[0].get("role") != "user":
        yield "the first message is not the user's"
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        yield "max_tokens is missing"
    if messages and messages[-1].get("role") != "user":
        yield "the last message is not the user's"
    yield from _anthropic_head(body)
    seen = set[str]()
    waiting: list[str] = []
    before = ""
    for number, message in enumerate(messages):
        at, role, content = f"messages[{number}]", message.get("role"), message.get("content")
        if role not in ("user", "assistant") or role == before:
            yield f"{at}: {role} after {before}"
        before = str(role)
        blocks: list[dict[str, Any]] = (
            [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        )
        if not blocks:
            yield f"{at}: no content"
        yield from _anthropic_results(at, blocks, waiting)
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        for block in blocks:
            yield from _anthropic_block(at, str(role), block, seen)
    if waiting:
        yield f"the calls {waiting} are not answered"


def _anthropic_head(body: dict[str, Any]) -> Iterator[str]:
    if json.dumps(body).count('"cache_control"') > 4:
        yield "more than four cache breakpoints"
    for block in body.get("system", ()):
        if block.get("type") != "text" or not block["text"].strip():
            yield "system: an empty block"
    if "tools" in body and not body["tools"]:
        yield "tools: empty list"
    for tool in body.get("tools", ()):
        if not _NAME.fullmatch(tool.get("name", "")) or tool.get("input_schema", {}).get("type") != "object":
            yield f"tools: {tool.get('name')!r}"


def _anthropic_results(at: str, blocks: list[dict[str, Any]], waiting: list[str]) -> Iterator[str]:
    results = [block.get("tool_use_id") for block in blocks if block["type"] == "tool_result"]
    if sorted(map(str, results)) != sorted(waiting):
        yield f"{at}: the calls {waiting} are answered by {results}"
    kinds = [block["type"] == "tool_result" for block in blocks]
    if kinds != sorted(kinds, reverse=True):
        yield f"{at}: results do not come first"


def _anthropic_block(at: str, role: str, block: dict[str, Any], seen: set[str]) -> Iterator[str]:
    kind = block["type"]
    fields = {
        "text": {"text"},
        "image": {"source"},
        "document": {"source"},
        "tool_result": {"tool_use_id", "content", "is_error"},
        "tool_use": {"id", "name", "input"},
        "thinking": {"thinking", "signature"},
        "redacted_thinking": {"data"},
    }
    speaker = "user" if kind in ("image", "document", "tool_result") else "assistant"
    if kind not in fields or (kind != "text" and role != speaker):
        yield f"{at}: a {kind} block of {role}"
        return
    if extra := set(block) - fields[kind] - {"type", "cache_control"}:
        yield f"{at}: fields {sorted(extra)} in a {kind} block"
    if kind in ("thinking", "redacted_thinking") and "cache_control" in block:
        yield f"{at}: a breakpoint on a thought"
    match kind:
        case "text" if not block["text"].strip():
            yield f"{at}: empty text block"
        case "thinking" if not block["signature"]:
            yield f"{at}: a thought without a signature"
        case "image" if block["source"]["type"] == "base64" and not block["source"]["data"]:
            yield f"{at}: an empty image"
        case "tool_use":
            yield from _anthropic_call(at, block, seen)
        case "tool_result":
            content = block.get("content", "")
            inner: list[Any] = content if isinstance(content, list) else [{"type": "text", "text": content}]
            if any(part["type"] == "text" and not part["text"].strip() for part in inner):
                yield f"{at}: empty text in a result"
        case _:
            pass


def _anthropic_call(at: str, block: dict[str, Any], seen: set[str]) -> Iterator[str]:
    if not _ID.fullmatch(block["id"]) or not _NAME.fullmatch(block["name"]):
        yield f"{at}: call {block['id']!r} of {block['name']!r}"
    if block["id"] in seen:
        yield f"{at}: id {block['id']!r} is used twice"
    seen.add(block["id"])
    if not isinstance(block["input"], dict):
        yield f"{at}: input is no object"
