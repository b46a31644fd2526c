"""The messages protocol of Anthropic, also spoken by MiniMax, Z.AI, Kimi and others.

Reference: https://docs.anthropic.com/en/api/messages

Options of the endpoint:

    stream            false: ask for the whole answer at once (default true)
    cache             false: set no cache breakpoints (default true); "1h": let them live an hour
    schema            false: an answer is not held to a schema (default true, as output_config.format)
    temperature       false: never send one (default true)
    max_tokens        tokens of an answer when neither request nor model say (default 8192)
    auth              "x-api-key" (default), "bearer", or the name of another header
    path              what follows the base URL (default "/v1/messages", "/messages" after a ".../v1")
    version           the anthropic-version header (default "2023-06-01")
    key_env           the name of the variable that holds the key, for messages to people
    extra             a table of further fields for the body, such as {thinking = {type = "adaptive"}}

A conversation has at most four breakpoints: the first and the last tier of the system prompt (or
the tools, where there is one tier), and the last two messages of the user. So a request finds what
the one before it has written, and a new conversation finds the stable tier.
"""

import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from hermes.core.endpoints import Endpoint, WireSpec
from hermes.core.events import TextDelta, ThoughtDelta
from hermes.core.http import Http
from hermes.core.messages import (
    JSON,
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
from hermes.core.models import Delta, Finish, ModelInfo, Reply, Request
from hermes.core.tools import ToolSpec
from hermes.lib.loose_json import arguments
from hermes.lib.text import clean
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

_ID = re.compile(r"[A-Za-z0-9_-]{1,60}")  # of the 64 allowed: a repeated one grows
_NAME = re.compile(r"[^A-Za-z0-9_-]")
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class Anthropic(HttpWire):
    """One model behind one endpoint. See the top of the file for the options it understands."""

    __slots__ = ("_key",)

    def __init__(self, endpoint: Endpoint, info: ModelInfo, http: Http) -> None:
        version = {"anthropic-version": str(endpoint.options.get("version", "2023-06-01"))}
        super().__init__(endpoint, info, http, auth="x-api-key", fixed=version)
        self._key = repr(("anthropic", endpoint.base_url, info, endpoint.options))

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """See `Model.stream`."""
        memo = self._memo(request)
        base = self._endpoint.base_url.rstrip("/")
        path = self._options.get("path", "/messages" if base.endswith("/v1") else "/v1/messages")
        message = self._post(base + path, self._body(request, memo))
        answer = _Answer(self._where)
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
                for delta in answer.whole(await listening.body()):
                    yield delta
        tools = frozenset(tool.name for tool in request.tools)
        yield answer.reply(self._info, tools, known=memo.rendering.known, turn=len(request.messages))

    def _body(self, request: Request, memo: "_Memo") -> bytes:
        """The request as JSON: what stays the same comes first, what may vary last."""
        head = {"model": self._info.name, "stream": bool(self._options.get("stream", True))}
        tools = request.tools if self._info.tools else ()
        pieces = memo.rendering.pieces(request.messages)
        return b"".join(
            (
                encode(head)[:-1],
                memo.tools(tools, alone=len(request.system) < 2),
                memo.system(request.system),
                b',"messages":[',
                *memo.marked(pieces),
                b"],",
                encode(self._varying(request))[1:],
            )
        )

    def _varying(self, request: Request) -> dict[str, Any]:
        options = self._options
        usual = self._info.max_output or options.get("max_tokens", 8192)
        fields: dict[str, Any] = {"max_tokens": request.max_tokens or usual, **options.get("extra", {})}
        if request.temperature is not None and options.get("temperature", True) and "thinking" not in fields:
            fields["temperature"] = request.temperature
        if request.schema is not None and options.get("schema", True):
            held = {"format": {"type": "json_schema", "schema": request.schema}}
            fields["output_config"] = {**fields.get("output_config", {}), **held}
        return fields

    def _memo(self, request: Request) -> "_Memo":
        memo = request.memo.get(self._key)
        if memo is None:
            cache = self._options.get("cache", True)
            mark: dict[str, JSON] = {
                "type": "ephemeral",
                **({"ttl": cache} if isinstance(cache, str) else {}),
            }
            rendering = Rendering(self._render, _fit)
            memo = request.memo[self._key] = _Memo(rendering, mark if cache else {})
        return cast("_Memo", memo)

    def _render(self, exchange: Exchange) -> bytes:
        said = [block for part in exchange.said if (block := self._said(part))]
        heard = [self._result(result) for result in exchange.results]
        heard.extend(self._heard(part) for part in exchange.heard)
        messages = [{"role": "assistant", "content": said}] if said else []
        return encode([*messages, {"role": "user", "content": heard}])[1:-1]

    def _said(self, part: Part) -> dict[str, Any] | None:
        match part:
            case Text(text) | Note(text):
                return {"type": "text", "text": text}
            case ToolCall():
                name = _NAME.sub("_", part.name)[:64] or "unknown"
                return {"type": "tool_use", "id": part.id, "name": name, "input": part.arguments}
            case Thought(text, signature, provider, redacted) if provider == self.name:
                if redacted:
                    return {"type": "redacted_thinking", "data": text}
                return {"type": "thinking", "thinking": text, "signature": signature} if signature else None
            case _:
                return None  # a thought of another model: only its vendor can read the signature

    def _result(self, result: ToolResult) -> dict[str, Any]:
        text = result.text if result.text.strip() else "(no output)"
        content: Any = text
        if result.media:
            content = [{"type": "text", "text": text}, *(self._heard(media) for media in result.media)]
        block = {"type": "tool_result", "tool_use_id": result.call, "content": content}
        return block if result.outcome is Outcome.OK else {**block, "is_error": True}

    def _heard(self, part: Text | Note | Media) -> dict[str, Any]:
        if not isinstance(part, Media):
            return {"type": "text", "text": part.text}
        attachment = (
            attach(part) if self._info.vision else f"[{part.kind}: {part.ref}; this model cannot see it]"
        )
        if isinstance(attachment, str):
            return {"type": "text", "text": attachment}
        fits = attachment.mime in _IMAGES if part.kind == "image" else attachment.mime == "application/pdf"
        if not fits:
            return {"type": "text", "text": f"[{part.kind}: {part.ref}; it cannot be sent to this model]"}
        source = (
            {"type": "url", "url": attachment.url}
            if attachment.url
            else {"type": "base64", "media_type": attachment.mime, "data": attachment.data}
        )
        return {"type": "image" if part.kind == "image" else "document", "source": source}


@dataclass(slots=True)
class _Memo:
    """What was rendered of a conversation: the system prompt and the tools once, each message once.

    `mark` is a cache breakpoint, empty where none are wanted.
    """

    rendering: Rendering
    mark: dict[str, JSON]
    _system: tuple[tuple[str, ...], bytes] = ((), b"")
    _tools: tuple[tuple[ToolSpec, ...], bytes] = ((), b"")

    def system(self, tiers: tuple[str, ...]) -> bytes:
        """`,"system":[...]`, the first and the last tier marked."""
        if self._system[0] != tiers:
            blocks: list[dict[str, Any]] = [{"type": "text", "text": tier} for tier in tiers if tier.strip()]
            for number in {0, len(blocks) - 1} if blocks and self.mark else ():
                blocks[number]["cache_control"] = self.mark
            self._system = tiers, b',"system":' + encode(blocks) if blocks else b""
        return self._system[1]

    def tools(self, tools: tuple[ToolSpec, ...], *, alone: bool) -> bytes:
        """`,"tools":[...]`; the last is marked when the system prompt leaves a breakpoint for it."""
        if self._tools[0] is not tools and self._tools[0] != tools:
            listed: list[dict[str, Any]] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in tools
            ]
            if listed and self.mark and alone:
                listed[-1]["cache_control"] = self.mark
            self._tools = tools, b',"tools":' + encode(listed) if listed else b""
        return self._tools[1]

    def marked(self, pieces: list[bytes]) -> list[bytes]:
        """The exchanges, a breakpoint in each of the last two.

        An exchange ends with a message of the user, and that with `}]}`; commas are between them.
        """
        if not self.mark:
            return pieces
        end = b',"cache_control":' + encode(self.mark) + b"}]}"
        marked = pieces[:]
        for number in (-1, -3):
            if len(marked) >= -number:
                marked[number] = marked[number][:-3] + end
        return marked


def _fit(name: str) -> str:
    return fit_id(name, _ID, 32)


class _Block(msgspec.Struct):
    """A content block, or what is added to one."""

    type: Any = None
    text: Any = None
    thinking: Any = None
    signature: Any = None
    data: Any = None
    id: Any = None
    name: Any = None
    input: Any = None
    partial_json: Any = None
    stop_reason: Any = None


class _Whole(msgspec.Struct):
    type: Any = None
    content: list[_Block] | None = None
    stop_reason: Any = None
    usage: dict[str, Any] | None = None
    error: Any = None


class _Event(msgspec.Struct):
    type: Any = None
    index: Any = None
    message: Any = None
    content_block: _Block | None = None
    delta: _Block | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


_whole = msgspec.json.Decoder(_Whole)
_event = msgspec.json.Decoder(_Event)

_FINISHES = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "tool_use": Finish.CALLS,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.REFUSED,
}


@dataclass(slots=True)
class _Draft:
    """A content block in the making."""

    kind: str
    id: str = ""
    name: str = ""
    text: list[str] = field(default_factory=list[str])
    signature: str = ""
    given: Any = None


@dataclass(slots=True)
class _Answer:
    """An answer in the making. `grown` counts what events brought."""

    where: Where
    drafts: dict[str, _Draft] = field(default_factory=dict[str, _Draft])
    usage: dict[str, Any] = field(default_factory=dict[str, Any])
    finish: str = ""
    grown: int = 0
    done: bool = False

    def take(self, data: str) -> Iterator[TextDelta | ThoughtDelta]:
        """Add an event of a stream."""
        if not data.strip() or self.done or data == "[DONE]":
            return
        event = decode(data, _event, self.where)
        if event.error or event.type == "error":
            raise classify(0, data, {}, self.where)
        match event.type:
            case "message_start" if isinstance(event.message, dict):
                self._spent(cast("dict[str, Any]", event.message).get("usage"))
            case "content_block_start" if event.content_block:
                yield from self._begin(str(event.index), event.content_block)
            case "content_block_delta" if event.delta:
                yield from self._grow(str(event.index), event.delta)
            case "message_delta":
                self._spent(event.usage)
                if event.delta and event.delta.stop_reason:
                    self.finish = str(event.delta.stop_reason)
            case "message_stop":
                self.done = True
            case _:
                pass  # ping, content_block_stop, and what is yet to be invented

    def whole(self, body: bytes) -> Iterator[TextDelta | ThoughtDelta]:
        """Take an answer in one piece."""
        if not body.strip():
            raise empty(self.where)
        message = decode(body, _whole, self.where)
        if message.error or message.content is None:
            text = body.decode("utf-8", "replace")
            told = '"error"' in text or '"message"' in text or '"detail"' in text
            raise classify(0, body, {}, self.where) if told else malformed(self.where, body)
        for number, block in enumerate(message.content):
            yield from self._begin(str(number), block)
        self._spent(message.usage)
        self.finish, self.done = str(message.stop_reason or "end_turn"), True

    def _spent(self, report: Any) -> None:
        if isinstance(report, dict):
            known = cast("dict[str, Any]", report)
            self.usage.update({name: value for name, value in known.items() if value is not None})

    def _begin(self, index: str, block: _Block) -> Iterator[TextDelta | ThoughtDelta]:
        draft = self.drafts[index] = _Draft(str(block.type), str(block.id or ""), str(block.name or ""))
        draft.given = block.input
        if isinstance(block.data, str):
            draft.text.append(block.data)
        self.grown += draft.kind in ("tool_use", "redacted_thinking")
        yield from self._grow(index, block)

    def _grow(self, index: str, delta: _Block) -> Iterator[TextDelta | ThoughtDelta]:
        kind = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "tool_use"}.get(
            delta.type
        )
        draft = self.drafts.setdefault(index, _Draft(kind or str(delta.type)))
        if isinstance(delta.signature, str) and delta.signature:
            draft.signature += delta.signature
            self.grown += 1
        if isinstance(delta.partial_json, str) and delta.partial_json:
            draft.text.append(delta.partial_json)
            self.grown += 1
        for words, made in ((delta.text, TextDelta), (delta.thinking, ThoughtDelta)):
            if isinstance(words, str) and words:
                text = clean(words)
                draft.text.append(text)
                self.grown += 1
                yield made(text)

    def reply(self, info: ModelInfo, tools: frozenset[str], *, known: set[str], turn: int) -> Reply:
        """The whole message. Raise Unavailable when it never ended or has nothing in it."""
        if not self.finish and not self.done:
            raise cut(self.where)
        finish = _FINISHES.get(self.finish, Finish.STOP)
        model = f"{info.vendor}/{info.name}"
        taken = set(known)
        parts: list[Part] = []
        for number, draft in enumerate(self.drafts.values()):
            part = _part(draft, model)
            if draft.kind == "tool_use":
                part = _call(draft, tools, taken, turn, number, cut_off=finish is Finish.LENGTH)
                taken.add(part.id)
            if part is not None:
                parts.append(part)
        message = Message(Role.ASSISTANT, tuple(parts), _usage(self.usage, info), model=model)
        if not message.calls and not message.text.strip() and finish is not Finish.LENGTH:
            raise declined(self.where) if finish is Finish.REFUSED else empty(self.where)
        if finish in (Finish.STOP, Finish.CALLS):
            finish = Finish.CALLS if message.calls else Finish.STOP
        return Reply(message, finish)


def _part(draft: _Draft, model: str) -> Part | None:
    text = "".join(draft.text)
    match draft.kind:
        case "text":
            return Text(text) if text else None
        case "thinking":
            return Thought(text, draft.signature, model)
        case "redacted_thinking":
            return Thought(text, provider=model, redacted=True)
        case _:
            return None


def _call(
    draft: _Draft, tools: frozenset[str], taken: set[str], turn: int, number: int, *, cut_off: bool
) -> ToolCall:
    written = "".join(draft.text) or (encode(draft.given).decode() if draft.given else "")
    name = known_name(draft.name, tools)
    values, fault = arguments(written, cut=cut_off)
    if not name:
        values, fault = {}, "The call names no tool."
    return ToolCall(fresh_id(draft.id, taken, turn, number, name, written), name, values, fault)


def _usage(report: dict[str, Any], info: ModelInfo) -> Usage:
    fresh, output = count(report.get("input_tokens")), count(report.get("output_tokens"))
    cached = count(report.get("cache_read_input_tokens"))
    written = count(report.get("cache_creation_input_tokens"))
    spent = cost(info.price, fresh=fresh, cached=cached, written=written, output=output)
    return Usage(fresh + cached + written, output, cached, written, 0, spent, 1)


WIRE = WireSpec("anthropic", Anthropic)
