"""Conversations as lists of dictionaries, in the shape of OpenAI's chat messages."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hermes.core.errors import UsageError
from hermes.core.ids import CallId
from hermes.core.messages import Message, Note, Outcome, Part, Role, Text, Thought, ToolCall, ToolResult


def to_dicts(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """One dictionary per message, one per tool result."""
    return [entry for message in messages for entry in _entries(message)]


def _entries(message: Message) -> list[dict[str, Any]]:
    if message.role is Role.TOOL:
        return [
            {"role": "tool", "tool_call_id": r.call, "content": r.text, "outcome": str(r.outcome)}
            for r in message.results
        ]
    entry: dict[str, Any] = {"role": str(message.role), "content": message.text}
    if thoughts := "".join(p.text for p in message.parts if isinstance(p, Thought) and not p.redacted):
        entry["reasoning"] = thoughts
    if message.calls:
        entry["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
            }
            for call in message.calls
        ]
    return [entry]


def from_dicts(history: Sequence[Mapping[str, Any]]) -> list[Message]:
    """The messages of a list of dictionaries. System messages are left out: they are the prompt's.

    Raise UsageError for an entry that is not such a message, naming its place.
    """
    messages: list[Message] = []
    for place, entry in enumerate(history):
        try:
            role = entry["role"]
            if role in {"system", "developer"}:
                continue
            messages.append(Message(Role(role), _parts(role, entry)))
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"conversation_history[{place}] is not a chat message: {error!r}") from error
    return messages


def _parts(role: str, entry: Mapping[str, Any]) -> tuple[Part, ...]:
    if role == "tool":
        outcome = Outcome(entry.get("outcome", "ok"))
        return (ToolResult(CallId(entry["tool_call_id"]), outcome, _words(entry.get("content"))),)
    text = _words(entry.get("content"))
    parts: list[Part] = [Text(text)] if text else []
    for call in entry.get("tool_calls") or ():
        function = call["function"]
        arguments = json.loads(function["arguments"] or "{}")
        if not isinstance(arguments, dict):
            raise TypeError(f"the arguments of {function['name']} are no object")
        parts.append(ToolCall(CallId(call["id"]), function["name"], arguments))
    return tuple(parts) or (Note("(empty)"),)


def _words(content: Any) -> str:
    """The text of a message's content: a string, or a list of parts of which the text is taken."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.get("text", "") for part in content if part.get("type") == "text")
