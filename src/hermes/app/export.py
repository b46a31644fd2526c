"""A conversation as a document: Markdown to read, JSON for programs."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hermes.app.transcript import to_dicts
from hermes.core.ids import CallId
from hermes.core.messages import Message, Role, ToolCall, ToolResult
from hermes.core.store import Session
from hermes.lib.amounts import dollars, stamp, tokens
from hermes.lib.text import clean, one_line


def facts(session: Session) -> dict[str, Any]:
    """A session's row for programs. Times are ISO 8601 with the local offset."""
    return {
        "id": session.id,
        "title": session.title,
        "source": session.source,
        "cwd": session.cwd,
        "model": session.model,
        "created": stamp(session.created),
        "updated": stamp(session.updated),
        "messages": session.count,
        "usage": {
            "input": session.usage.input,
            "output": session.usage.output,
            "cached": session.usage.cached,
            "calls": session.usage.calls,
            "cost": session.usage.cost,
        },
    }


def as_json(session: Session, messages: Sequence[Message]) -> str:
    """The session and its messages in the shape of OpenAI's chat messages."""
    return json.dumps({**facts(session), "messages": to_dicts(messages)}, ensure_ascii=False, indent=2)


def as_markdown(session: Session, messages: Sequence[Message]) -> str:
    """The conversation to read: what was said, and each tool call with its result folded in code."""
    used = session.usage
    cost = f", {dollars(used.cost)}" if used.cost else ""
    where = f"begun {stamp(session.created)} in `{session.cwd or '/'}` with {session.model or 'no model yet'}"
    spent = f"{tokens(used.input)} tokens in, {tokens(used.output)} out{cost}"
    about = f"Session {session.id}, {where}; {session.count} messages, {spent}."
    head = f"# {one_line(session.title, 200) or session.id}\n\n{about}"
    calls = {call.id: call for message in messages for call in message.calls}
    return clean("\n\n".join([head, *(_part(message, calls) for message in messages)])) + "\n"


def _part(message: Message, calls: Mapping[CallId, ToolCall]) -> str:
    match message.role:
        case Role.USER:
            return f"## You\n\n{message.text}"
        case Role.ASSISTANT:
            mark = "\n\n*(interrupted here)*" if message.interrupted else ""
            return f"## {message.model or 'Hermes'}\n\n{message.text or '(calls tools)'}{mark}"
        case _:
            return "\n\n".join(_call(calls.get(result.call), result) for result in message.results)


def _call(call: ToolCall | None, result: ToolResult) -> str:
    name = call.name if call else "tool"
    given = json.dumps(dict(call.arguments), ensure_ascii=False) if call else ""
    return f"### {name}: {result.outcome}\n\n{_fenced(given)}\n\n{_fenced(result.text)}"


def _fenced(text: str) -> str:
    """In a code block whose fence is longer than any run of backticks inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
