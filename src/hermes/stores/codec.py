"""Codec: a message's body as JSON text and back.

Role and time are columns of their own. Fields and parts a future version adds are passed over.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from hermes.core.ids import CallId
from hermes.core.messages import (
    NOTHING_SPENT,
    Media,
    Message,
    Note,
    Outcome,
    Part,
    Role,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Usage,
)
from hermes.lib.text import clean


def _plain(value: object) -> object:
    """Stands in for what is not JSON, so that nothing a tool returns can break the log."""
    return dict(value) if isinstance(value, Mapping) else str(value)


_encoder = msgspec.json.Encoder(enc_hook=_plain)
_decoder = msgspec.json.Decoder()
_USAGE = ("input", "output", "cached", "written", "reasoning", "cost", "calls")


def to_text(value: object) -> str:
    """JSON text of plain data. Lone surrogates become U+FFFD, numbers that are none become null."""
    try:
        return _encoder.encode(value).decode()
    except UnicodeEncodeError:
        return to_text(_cleaned(value))


def from_text(text: str) -> Any:
    """The data of JSON text."""
    return _decoder.decode(text)


def encode(message: Message) -> str:
    """The body of a message."""
    body: dict[str, object] = {"parts": [_part_out(part) for part in message.parts]}
    if message.usage is not NOTHING_SPENT:
        spent = message.usage
        body["usage"] = {name: getattr(spent, name) for name in _USAGE if getattr(spent, name)}
    if message.model:
        body["model"] = message.model
    if message.interrupted:
        body["interrupted"] = True
    return to_text(body)


def decode(role: str, at: int, text: str) -> Message:
    """The message of a row."""
    body = from_text(text)
    spent = body.get("usage")
    usage = Usage(**{name: spent.get(name, 0) for name in _USAGE}) if spent else NOTHING_SPENT
    parts = tuple(_part_in(part) for part in body["parts"])
    return Message(Role(role), parts, usage, at, body.get("model", ""), body.get("interrupted", False))


def searchable(text: str) -> str:
    """The words of a body a person may search for: texts, notes and tool results."""
    found = [part.get("text", "") for part in from_text(text)["parts"] if part["type"] in _SEARCHED]
    return "\n".join(found)


_SEARCHED = frozenset({"text", "note", "result"})


def _part_out(part: Part) -> dict[str, object]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Note(text, kind):
            return {"type": "note", "text": text, "kind": kind}
        case Thought(text, signature, provider, redacted):
            fields = {"signature": signature, "provider": provider, "redacted": redacted}
            return {"type": "thought", "text": text} | _given(fields)
        case Media():
            return {"type": "media"} | _media_out(part)
        case ToolCall(id, name, arguments, fault):
            fields = {"arguments": arguments, "fault": fault}
            return {"type": "call", "id": id, "name": name} | _given(fields)
        case ToolResult(call, outcome, text, data, media, meta):
            fields = {"data": data, "media": [_media_out(one) for one in media], "meta": meta}
            return {"type": "result", "call": call, "outcome": outcome.value, "text": text} | _given(fields)


def _part_in(part: dict[str, Any]) -> Part:
    get = part.get
    match part["type"]:
        case "text":
            return Text(part["text"])
        case "note":
            return Note(part["text"], get("kind", "context"))
        case "thought":
            return Thought(part["text"], get("signature", ""), get("provider", ""), get("redacted", False))
        case "media":
            return _media_in(part)
        case "call":
            return ToolCall(CallId(part["id"]), part["name"], get("arguments", {}), get("fault", ""))
        case "result":
            media = tuple(_media_in(one) for one in get("media", ()))
            outcome = Outcome(part["outcome"])
            return ToolResult(
                CallId(part["call"]), outcome, part["text"], get("data", {}), media, get("meta", {})
            )
        case unknown:
            return Note(f"[a part of a kind this version does not know: {unknown}]", "unknown")


def _given(fields: dict[str, object]) -> dict[str, object]:
    """Only what says something: empty values are left out of the text."""
    return {name: value for name, value in fields.items() if value}


def _media_out(media: Media) -> dict[str, object]:
    return {"kind": media.kind, "ref": media.ref, "mime": media.mime}


def _media_in(part: dict[str, Any]) -> Media:
    return Media(part["kind"], part["ref"], part.get("mime", ""))


def _cleaned(value: object) -> object:
    match value:
        case str():
            return clean(value)
        case Mapping():
            return {_cleaned(key): _cleaned(item) for key, item in value.items()}
        case list() | tuple():
            return [_cleaned(item) for item in value]
        case None | bool() | int() | float():
            return value
        case _:
            return clean(str(value))
