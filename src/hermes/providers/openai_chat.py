"""The chat-completions protocol of OpenAI, which most vendors speak with an accent.

Reference: https://platform.openai.com/docs/api-reference/chat

Accents are options of the endpoint:

    stream            false: ask for the whole answer at once (default true)
    stream_usage      false: do not send stream_options.include_usage (default true)
    max_tokens        the field for the limit: "max_tokens" (default), "max_completion_tokens", "" = none
    temperature       false: never send one (default true)
    schema            how an answer is held to a schema: "json_schema" (default), "json_object", "" = not
    reasoning_echo    the field in which earlier reasoning is sent back: "reasoning_content", "reasoning",
                      "reasoning_details", "extra_content"; "" = it is not (default)
    system_role       "system" (default) or "developer"
    empty_content     what stands for the text of a message that only calls tools: null (default) or ""
    call_ids          "nine": ids of calls are nine letters and digits (Mistral)
    parallel_calls    true or false: sent as parallel_tool_calls; absent: not sent
    auth              "bearer" (default) or the name of the header that takes the key
    path              what follows the base URL (default "/chat/completions")
    query             what follows the path, such as "api-version=2024-10-21"
    key_env           the name of the variable that holds the key, for messages to people
    extra             a table of further fields for the body
"""

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from hermes.core.endpoints import Endpoint, WireSpec
from hermes.core.errors import ModelError
from hermes.core.events import TextDelta, ThoughtDelta
from hermes.core.http import Http
from hermes.core.messages import (
    JSON,
    Media,
    Message,
    Note,
    Part,
    Role,
    Text,
    Thought,
    ToolCall,
    Usage,
)
from hermes.core.models import Delta, Finish, ModelInfo, Reply, Request
from hermes.core.tools import ToolSpec
from hermes.lib.loose_json import arguments
from hermes.lib.text import clean
from hermes.lib.think_tags import ThinkTags
from hermes.sdk.exchange import Exchange, Rendering
from hermes.sdk.failures import Where, classify, cut, declined, empty, malformed
from hermes.sdk.wire import (
    HttpWire,
    ask,
    attach,
    cost,
    count,
    decode,
    encode,
    fit_id,
    fresh_id,
    known_name,
    melted,
)

_NINE = re.compile(r"[A-Za-z0-9]{9}")
_FORTY = re.compile(r".{1,36}", re.DOTALL)  # of the 40 allowed: a repeated one grows
_NAME = re.compile(r"[^A-Za-z0-9_-]")


class OpenAIChat(HttpWire):
    """One model behind one endpoint. See the top of the file for the options it understands."""

    __slots__ = ("_key",)

    def __init__(self, endpoint: Endpoint, info: ModelInfo, http: Http) -> None:
        super().__init__(endpoint, info, http, auth="bearer", fixed={})
        self._key = repr(("openai_chat", endpoint.base_url, info, endpoint.options))

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """See `Model.stream`."""
        memo = self._memo(request)
        query = f"?{self._options['query']}" if self._options.get("query") else ""
        path = self._options.get("path", "/chat/completions")
        message = self._post(self._endpoint.base_url.rstrip("/") + path + query, self._body(request, memo))
        answer = _Answer(self._where, frozenset(tool.name for tool in request.tools))
        async with ask(self._http, message, self._where) as listening:
            if listening.streams(bool(self._options.get("stream", True))):
                async with aclosing(listening.events()) as batches:
                    async for batch in batches:
                        before = answer.grown
                        for delta in melted(d for _, data in batch for d in answer.take(data)):
                            yield delta
                        if answer.done:
                            listening.complete(0.2)
                        elif answer.grown != before:
                            listening.progress(whole=bool(answer.finish))
                        elif answer.finish:
                            listening.complete(2.0)  # usage may follow, and the end
            else:
                for delta in answer.take(await listening.body()):
                    yield delta
                answer.done = True
        yield answer.reply(self._info, known=memo.rendering.known, turn=len(request.messages))

    def _body(self, request: Request, memo: "_Memo") -> bytes:
        """The request as JSON: what stays the same comes first, what may vary last."""
        options = self._options
        stream = bool(options.get("stream", True))
        head: dict[str, JSON] = {"model": self._info.name, "stream": stream}
        if stream and options.get("stream_usage", True):
            head["stream_options"] = {"include_usage": True}
        tools = memo.tools(request.tools if self._info.tools else ())
        tail = encode(self._varying(request))[1:-1]
        return b"".join(
            (
                encode(head)[:-1],
                tools,
                b',"messages":[',
                memo.system(request.system),
                *memo.rendering.pieces(request.messages),
                b"]," if tail else b"]",
                tail,
                b"}",
            )
        )

    def _varying(self, request: Request) -> dict[str, Any]:
        options = self._options
        fields: dict[str, Any] = dict(options.get("extra", {}))
        if request.tools and self._info.tools and "parallel_calls" in options:
            fields["parallel_tool_calls"] = options["parallel_calls"]
        if request.max_tokens and (limit := options.get("max_tokens", "max_tokens")):
            fields[limit] = request.max_tokens
        if request.temperature is not None and options.get("temperature", True):
            fields["temperature"] = request.temperature
        if request.schema is not None and (kind := options.get("schema", "json_schema")):
            fields["response_format"] = {"type": kind}
            if kind == "json_schema":
                strict = request.schema.get("additionalProperties") is False
                fields["response_format"][kind] = {
                    "name": "answer",
                    "schema": request.schema,
                    "strict": strict,
                }
        return fields

    def _memo(self, request: Request) -> "_Memo":
        memo = request.memo.get(self._key)
        if memo is None:
            nine = self._options.get("call_ids") == "nine"
            rendering = Rendering(self._render, _nine if nine else _forty)
            memo = request.memo[self._key] = _Memo(rendering, str(self._options.get("system_role", "system")))
        return cast("_Memo", memo)

    def _render(self, exchange: Exchange) -> bytes:
        messages: list[dict[str, Any]] = [self._assistant(exchange)] if exchange.said else []
        seen: list[Part] = []
        for result in exchange.results:
            text = result.text if result.text.strip() else "(no output)"
            messages.append({"role": "tool", "tool_call_id": result.call, "content": text})
            seen.extend(result.media)
        if heard := self._content([*seen, *exchange.heard]):
            messages.append({"role": "user", "content": heard})
        return encode(messages)[1:-1]

    def _assistant(self, exchange: Exchange) -> dict[str, Any]:
        texts = [part.text for part in exchange.said if isinstance(part, Text | Note)]
        calls = [part for part in exchange.said if isinstance(part, ToolCall)]
        own = [part for part in exchange.said if isinstance(part, Thought) and part.provider == self.name]
        message: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(texts)}
        if calls:
            message["content"] = message["content"] or self._options.get("empty_content")
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": _NAME.sub("_", call.name)[:64] or "unknown",
                        "arguments": encode(call.arguments).decode(),
                    },
                }
                for call in calls
            ]
        _echo(str(self._options.get("reasoning_echo", "")), own, message)
        return message

    def _content(self, parts: list[Part]) -> Any:
        """A string where words are all there is, else a list of parts."""
        blocks: list[dict[str, Any]] = []
        for part in parts:
            match part:
                case Text(text) | Note(text):
                    blocks.append({"type": "text", "text": text})
                case Media():
                    blocks.append(self._shown(part))
                case _:
                    pass
        if all(block["type"] == "text" for block in blocks):
            return "\n\n".join(block["text"] for block in blocks)
        return blocks

    def _shown(self, media: Media) -> dict[str, Any]:
        attachment = (
            attach(media) if self._info.vision else f"[{media.kind}: {media.ref}; this model cannot see it]"
        )
        if isinstance(attachment, str):
            return {"type": "text", "text": attachment}
        if media.kind == "image":
            return {"type": "image_url", "image_url": {"url": attachment.data_url}}
        if media.kind == "audio" and attachment.data:
            kind = "mp3" if "mpeg" in attachment.mime else "wav"
            return {"type": "input_audio", "input_audio": {"data": attachment.data, "format": kind}}
        if media.kind == "document" and attachment.data:
            return {"type": "file", "file": {"filename": attachment.name, "file_data": attachment.data_url}}
        return {"type": "text", "text": f"[{media.kind}: {media.ref}; it cannot be sent to this model]"}


@dataclass(slots=True)
class _Memo:
    """What was rendered of a conversation: the system prompt and the tools once, each message once."""

    rendering: Rendering
    role: str
    _system: tuple[tuple[str, ...], bytes] = ((), b"")
    _tools: tuple[tuple[ToolSpec, ...], bytes] = ((), b"")

    def system(self, tiers: tuple[str, ...]) -> bytes:
        """The first message, with a comma."""
        if self._system[0] != tiers:
            text = "\n\n".join(tier for tier in tiers if tier.strip())
            self._system = tiers, encode({"role": self.role, "content": text}) + b"," if text else b""
        return self._system[1]

    def tools(self, tools: tuple[ToolSpec, ...]) -> bytes:
        if self._tools[0] is not tools and self._tools[0] != tools:
            listed = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters,
                    },
                }
                for tool in tools
            ]
            self._tools = tools, b',"tools":' + encode(listed) if tools else b""
        return self._tools[1]


def _nine(name: str) -> str:
    return fit_id(name, _NINE, 9)


def _forty(name: str) -> str:
    return fit_id(name, _FORTY, 32)


def _echo(name: str, own: list[Thought], message: dict[str, Any]) -> None:
    """Send reasoning back in the field the vendor reads it from."""
    calls = cast("list[dict[str, Any]]", message.get("tool_calls", []))
    if name in ("reasoning_content", "reasoning"):
        text = "".join(thought.text for thought in own)
        if text or calls:  # a message with calls and without this field is refused by some
            message[name] = text
    elif name == "reasoning_details":
        details = [{**kept, _words(kept): thought.text} for thought in own if (kept := _kept(thought))]
        if details:
            message[name] = details
    elif name == "extra_content":
        for thought in own:
            kept = _kept(thought)
            for call in calls:
                if call["id"] == kept.get("call") and name in kept:
                    call[name] = kept[name]


def _kept(thought: Thought) -> dict[str, Any]:
    """What this wire keeps in a signature; nothing when another wire signed it."""
    try:
        return _table(json.loads(thought.signature)) if thought.signature else {}
    except ValueError:
        return {}


def _words(detail: Mapping[str, Any]) -> str:
    """The field of a reasoning detail that grows while it is streamed."""
    return {"reasoning.summary": "summary", "reasoning.encrypted": "data"}.get(
        str(detail.get("type")), "text"
    )


class _Function(msgspec.Struct):
    name: Any = None
    arguments: Any = None


class _Call(msgspec.Struct):
    index: Any = None
    id: Any = None
    function: _Function | None = None
    extra_content: Any = None


class _Said(msgspec.Struct):
    content: Any = None
    refusal: Any = None
    reasoning: Any = None
    reasoning_content: Any = None
    reasoning_details: Any = None
    tool_calls: list[_Call | None] | None = None


class _Choice(msgspec.Struct):
    delta: _Said | None = None
    message: _Said | None = None
    finish_reason: Any = None
    usage: Any = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: Any = None
    error: Any = None
    x_groq: Any = None


_decoder = msgspec.json.Decoder(_Chunk)

_FINISHES = {
    "stop": Finish.STOP,
    "tool_calls": Finish.CALLS,
    "function_call": Finish.CALLS,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "content_filter": Finish.REFUSED,
    "refusal": Finish.REFUSED,
    "sensitive": Finish.REFUSED,
}


@dataclass(slots=True)
class _Slot:
    """A call in the making."""

    id: str = ""
    name: str = ""
    written: list[str] = field(default_factory=list[str])
    extra: Any = None


@dataclass(slots=True)
class _Answer:
    """An answer in the making."""

    where: Where
    tools: frozenset[str]
    tags: ThinkTags = field(default_factory=ThinkTags)
    text: list[str] = field(default_factory=list[str])
    thoughts: list[str] = field(default_factory=list[str])
    details: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    slots: list[_Slot] = field(default_factory=list[_Slot])
    by_index: dict[Any, _Slot] = field(default_factory=dict[Any, _Slot])
    finish: str = ""
    refused: bool = False
    usage: dict[str, Any] = field(default_factory=dict[str, Any])
    grown: int = 0
    done: bool = False

    def take(self, data: bytes | str) -> Iterator[TextDelta | ThoughtDelta]:
        """Add a chunk. `grown` counts what it brought."""
        if data == "[DONE]":
            self.done = True
        if not data.strip() or self.done:
            return
        chunk = decode(data, _decoder, self.where)
        if chunk.error:
            raise self._failed(data)
        if chunk.choices is None and not chunk.usage and isinstance(data, bytes):
            raise self._failed(data)
        groq = cast("Any", chunk.x_groq) or {}
        self._spent(chunk.usage, groq.get("usage") if isinstance(groq, dict) else None)
        for choice in (chunk.choices or ())[:1]:
            self._spent(choice.usage)
            yield from self._said(choice.delta or choice.message or _Said())
            if choice.finish_reason:
                if choice.finish_reason == "error":
                    raise self._failed(data)
                self.finish = str(choice.finish_reason)

    def _failed(self, data: bytes | str) -> ModelError:
        text = data if isinstance(data, str) else data.decode("utf-8", "replace")
        if '"error"' in text or '"message"' in text or '"detail"' in text:
            return classify(0, data, {}, self.where)
        return malformed(self.where, data)

    def _spent(self, *reports: Any) -> None:
        for report in reports:
            if isinstance(report, dict) and report:
                self.usage = cast("dict[str, Any]", report)

    def _said(self, said: _Said) -> Iterator[TextDelta | ThoughtDelta]:
        for text in _strings(said.reasoning_content) or _strings(said.reasoning) or _thinking(said.content):
            self.thoughts.append(text)
            self.grown += 1
            yield ThoughtDelta(text)
        for detail in said.reasoning_details if isinstance(said.reasoning_details, list) else ():
            if isinstance(detail, dict):
                yield from self._detailed(cast("dict[str, Any]", detail), quiet=bool(said.reasoning))
        for text in _strings(said.content):
            self.grown += 1
            for thought, words in self.tags.split(text):
                (self.thoughts if thought else self.text).append(words)
                yield ThoughtDelta(words) if thought else TextDelta(words)
        for text in _strings(said.refusal):
            self.refused = True
            self.text.append(text)
            self.grown += 1
            yield TextDelta(text)
        for call in said.tool_calls or ():
            if call is not None:
                self._called(call)
                self.grown += 1

    def _detailed(self, detail: dict[str, Any], *, quiet: bool) -> Iterator[ThoughtDelta]:
        words = _words(detail)
        text = clean(str(detail.pop(words, None) or ""))
        key = f"{detail.get('type')} {detail.get('index', len(self.details))}"
        kept = self.details.setdefault(key, {words: ""})
        kept.update({name: value for name, value in detail.items() if value is not None})
        kept[words] += text
        self.grown += 1
        if text and words != "data" and not quiet:
            self.thoughts.append(text)
            yield ThoughtDelta(text)

    def _called(self, call: _Call) -> None:
        function = call.function or _Function()
        name = function.name if isinstance(function.name, str) else ""
        identity = call.id if isinstance(call.id, str) else ""
        slot = self._slot(call.index, identity, name)
        slot.id = slot.id or identity
        if name and name != slot.name:
            joined = slot.name + name
            slot.name = joined if not slot.name or joined in self.tools else slot.name
        if call.extra_content:
            slot.extra = call.extra_content
        if isinstance(function.arguments, str):
            slot.written.append(function.arguments)
        elif function.arguments is not None:
            slot.written.append(encode(function.arguments).decode())

    def _slot(self, index: Any, identity: str, name: str) -> _Slot:
        """The call a fragment belongs to: by index; a new id under an old index is a new call."""
        slot = self.by_index.get(str(index)) if index is not None else None
        if index is None and self.slots:
            slot = next((s for s in self.slots if identity and s.id == identity), None)
            slot = slot or (None if name else self.slots[-1])
        if slot is None or (identity and slot.id and identity != slot.id and name):
            slot = _Slot()
            self.slots.append(slot)
            if index is not None:
                self.by_index[str(index)] = slot
        return slot

    def reply(self, info: ModelInfo, *, known: set[str], turn: int) -> Reply:
        """The whole message. Raise Unavailable when it never ended or has nothing in it."""
        finish = _FINISHES.get(self.finish, Finish.STOP)
        if not self.finish and not self.done:
            raise cut(self.where)
        model = f"{info.vendor}/{info.name}"
        calls = self._calls(known, turn, cut_off=finish is Finish.LENGTH)
        text = "".join(self.text) or ("" if self.thoughts else self.tags.rest())
        if not calls and not text.strip() and finish is not Finish.LENGTH:
            raise declined(self.where) if finish is Finish.REFUSED else empty(self.where)
        if finish in (Finish.STOP, Finish.CALLS):
            finish = Finish.CALLS if calls else Finish.STOP
        parts: list[Part] = [*self._reasoning(model, calls)]
        if text:
            parts.append(Text(text))
        message = Message(Role.ASSISTANT, (*parts, *calls), _usage(self.usage, info), model=model)
        return Reply(message, Finish.REFUSED if self.refused else finish)

    def _calls(self, known: set[str], turn: int, *, cut_off: bool) -> list[ToolCall]:
        calls: list[ToolCall] = []
        taken = set(known)
        for number, slot in enumerate(self.slots):
            written = "".join(slot.written)
            if not slot.name and not written:
                continue
            name = known_name(slot.name, self.tools)
            identity = fresh_id(slot.id, taken, turn, number, name, written)
            taken.add(identity)
            values, fault = arguments(written, cut=cut_off)
            if not name:
                values, fault = {}, "The call names no tool."
            calls.append(ToolCall(identity, name, values, fault))
        return calls

    def _reasoning(self, model: str, calls: list[ToolCall]) -> Iterator[Thought]:
        if self.details:
            for detail in self.details.values():
                words = _words(detail)
                rest = {name: value for name, value in detail.items() if name != words}
                yield Thought(detail[words], encode(rest).decode(), model, redacted=words == "data")
        elif self.thoughts:
            yield Thought("".join(self.thoughts), provider=model)
        slots = [slot for slot in self.slots if slot.name or slot.written]
        for call, slot in zip(calls, slots, strict=False):
            if slot.extra:
                kept = {"call": call.id, "extra_content": slot.extra}
                yield Thought("", encode(kept).decode(), model, redacted=True)


def _strings(value: Any) -> list[str]:
    """The words in a field that is a string, or a list of parts with text."""
    if isinstance(value, str):
        return [clean(value)] if value else []
    parts: list[Any] = value if isinstance(value, list) else []
    texts = [
        part.get("text") for part in parts if isinstance(part, dict) and part.get("type") in (None, "text")
    ]
    return [clean(text) for text in texts if isinstance(text, str) and text]


def _thinking(value: Any) -> list[str]:
    """The reasoning in a list of parts (Mistral)."""
    parts: list[Any] = value if isinstance(value, list) else []
    return [
        text
        for part in parts
        if isinstance(part, dict) and part.get("type") == "thinking"
        for text in _strings(part.get("thinking"))
    ]


def _usage(report: dict[str, Any], info: ModelInfo) -> Usage:
    sent, got = _table(report.get("prompt_tokens_details")), _table(report.get("completion_tokens_details"))
    read = count(report.get("prompt_tokens"))
    cached = count(
        sent.get("cached_tokens") or report.get("cached_tokens") or report.get("prompt_cache_hit_tokens")
    )
    written = count(sent.get("cache_write_tokens"))
    cached, written = min(cached, read), min(written, max(0, read - cached))
    output = count(report.get("completion_tokens"))
    told = report.get("cost")
    spent = cost(info.price, fresh=read - cached - written, cached=cached, written=written, output=output)
    if isinstance(told, int | float) and 0 < told < 1e6:
        spent = float(told)
    return Usage(read, output, cached, written, count(got.get("reasoning_tokens")), spent, 1)


def _table(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


WIRE = WireSpec("openai_chat", OpenAIChat)
