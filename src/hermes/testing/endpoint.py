"""ModelServer: a real HTTP endpoint on loopback that speaks both wires, and fails as told.

    async with ModelServer([Says("", calls=(("read_file", {"path": "a"}),)), Says("done")]) as server:
        model = OpenAIChat(Endpoint("test", server.url), ModelInfo("m", "test"), HttpxClient())

The path of a request decides its wire, its body whether the answer is streamed.
"""

import asyncio
import json
import socket
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

Position: TypeAlias = Literal["start", "text", "call"]
Fault: TypeAlias = Literal[
    "rate", "server", "overloaded", "auth", "missing", "context", "bad", "page",
    "reset", "closed", "silent", "comments", "garbage", "empty",
]  # fmt: skip
FAULTS: tuple[Fault, ...] = Fault.__args__  # type: ignore[attr-defined]
POSITIONS: tuple[Position, ...] = Position.__args__  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Says:
    """An answer. `calls` are (name, arguments), where arguments that are text are sent as they are.

    `finish` is in the words of the wire; empty: what fits. `usage` are input, output and cached
    tokens. `signature` belongs to the thought, and only the messages wire sends it.
    """

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any] | str], ...] = ()
    thought: str = ""
    signature: str = ""
    finish: str = ""
    usage: tuple[int, int, int] = (10, 5, 0)
    ids: tuple[str, ...] = ()


HEALTHY = Says("Let me look at the mark.", calls=(("mark", {"note": "once and only once"}),))


@dataclass(frozen=True, slots=True)
class Fails:
    """An answer that goes wrong: before its first byte, in its text, or in its call."""

    fault: Fault
    at: Position = "start"
    answer: Says = HEALTHY


@dataclass(frozen=True, slots=True)
class Raw:
    """Exactly these bytes, each piece in a write of its own; then a close, or (`hold`) nothing more."""

    pieces: tuple[bytes, ...]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    hold: bool = False


Answer: TypeAlias = Says | Fails | Raw


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that came in. `connection` numbers the TCP connections."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.body)
        return value

    @property
    def wire(self) -> str:
        return "anthropic" if self.path.partition("?")[0].endswith("/messages") else "openai_chat"


Script: TypeAlias = Iterable[Answer] | Callable[[Asked], Answer]


class ModelServer:
    """Answers from a script, in order, or as a function decides. `asked` keeps what came in.

    A script that has run out is answered 500: a test that asks too often should notice.
    `models` is what GET .../models lists.
    """

    def __init__(self, script: Script, models: tuple[str, ...] = ("m",)) -> None:
        self.asked: list[Asked] = []
        self._decide = script if callable(script) else _in_order(script)
        self._models = models
        self._open: set[asyncio.StreamWriter] = set()
        self._count = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._talk, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for writer in self._open:
            writer.transport.abort()
        await self._idle.wait()

    @property
    def url(self) -> str:
        """The base URL, without a version."""
        return f"http://127.0.0.1:{self.port}"

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        self._idle.clear()
        self._count += 1
        try:
            line = _Line(reader, writer, self._count)
            while (asked := await line.receive()) and await self._answer(asked, line):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client is gone
        finally:
            writer.close()
            self._open.discard(writer)
            if not self._open:
                self._idle.set()

    async def _answer(self, asked: Asked, line: "_Line") -> bool:
        """Answer; whether the connection goes on."""
        if asked.path.endswith("/models"):
            listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]}
            return await line.whole(200, encode(listed))
        self.asked.append(asked)
        match self._decide(asked):
            case Raw() as raw:
                return await line.raw(raw)
            case Fails() as fails:
                return await _fail(fails, asked, line)
            case answer:
                if not asked.json.get("stream"):
                    return await line.whole(200, whole(answer, asked))
                return await line.stream(data for _, data in frames(answer, asked))


def _in_order(script: Iterable[Answer]) -> Callable[[Asked], Answer]:
    answers = iter(script)
    exhausted = Raw((b'{"error":{"message":"the script of this test has run out"}}',), 500)
    return lambda _: next(answers, exhausted)


class _Line:
    """A connection, from the server's side."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        self._reader = reader
        self._writer = writer
        self._number = number

    async def receive(self) -> Asked | None:
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        first, *rest = head.decode("latin-1").strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
        body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return Asked(first.split(" ")[1], headers, body, self._number)

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def head(self, status: int, **headers: str) -> None:
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        await self.send(f"HTTP/1.1 {status} Scripted\r\n{lines}\r\n".encode())

    async def whole(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> bool:
        await self.head(status, content_type=kind, content_length=str(len(body)), **headers)
        await self.send(body)
        return True

    async def raw(self, raw: Raw) -> bool:
        await self.head(raw.status, **{"content_type": "text/event-stream", **raw.headers})
        for piece in raw.pieces:
            await self.send(piece)
            await asyncio.sleep(0)
        return await self.until_gone(60, _nothing) if raw.hold else False

    async def begin_stream(self) -> None:
        await self.head(200, content_type="text/event-stream", transfer_encoding="chunked")

    async def chunk(self, data: bytes) -> None:
        await self.send(b"%x\r\n%s\r\n" % (len(data), data))

    async def stream(self, pieces: Iterable[bytes]) -> bool:
        await self.begin_stream()
        for piece in pieces:
            await self.chunk(piece)
        await self.send(b"0\r\n\r\n")
        return True

    async def until_gone(self, every: float, noise: Callable[[], Any]) -> bool:
        """Wait until the client hangs up, making a noise now and then."""
        while True:
            try:
                if not await asyncio.wait_for(self._reader.read(1), every):
                    return False
            except TimeoutError:
                await noise()

    def reset(self) -> bool:
        """Hang up without a word: the client sees a reset, not an end."""
        linger = struct.pack("ii", 1, 0)
        self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._writer.transport.abort()
        return False


def encode(value: Any) -> bytes:
    """Compact JSON."""
    return json.dumps(value, separators=(",", ":")).encode()


def _event(value: Any, name: str = "") -> bytes:
    return (f"event: {name}\n" if name else "").encode() + b"data: " + encode(value) + b"\n\n"


def frames(says: Says, asked: Asked) -> list[tuple[str, bytes]]:
    """The events of a streamed answer, each with what it carries: "text", "call" or ""."""
    return list((_anthropic_frames if asked.wire == "anthropic" else _openai_frames)(says, asked))


def whole(says: Says, asked: Asked) -> bytes:
    """The answer in one piece."""
    return encode((_anthropic_whole if asked.wire == "anthropic" else _openai_whole)(says, asked))


def _halves(text: str) -> tuple[str, ...]:
    middle = len(text) // 2
    return tuple(part for part in (text[:middle], text[middle:]) if part)


def _written(arguments: Mapping[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(dict(arguments))


def _calls(says: Says, asked: Asked) -> Iterator[tuple[int, str, str, str]]:
    """(number, id, name, arguments as written); ids differ from reply to reply."""
    turn = len(asked.json.get("messages", ()))
    for number, (name, arguments) in enumerate(says.calls):
        identity = says.ids[number] if number < len(says.ids) else f"call_{turn}_{number}"
        yield number, identity, name, _written(arguments)


def _openai_usage(says: Says) -> dict[str, Any]:
    read, output, cached = says.usage
    details = {"cached_tokens": cached}
    return {
        "prompt_tokens": read,
        "completion_tokens": output,
        "total_tokens": read + output,
        "prompt_tokens_details": details,
    }


def _openai_whole(says: Says, asked: Asked) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": says.text or None}
    if says.thought:
        message["reasoning_content"] = says.thought
    if says.calls:
        message["tool_calls"] = [
            {"id": identity, "type": "function", "function": {"name": name, "arguments": written}}
            for _, identity, name, written in _calls(says, asked)
        ]
    finish = says.finish or ("tool_calls" if says.calls else "stop")
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": asked.json.get("model", "m"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _openai_usage(says),
    }


def _openai_frames(says: Says, asked: Asked) -> Iterator[tuple[str, bytes]]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({**shell, "choices": [choice]})

    shell = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": asked.json.get("model", "m"),
    }
    yield "", chunk({"role": "assistant", "content": ""})
    for part in _halves(says.thought):
        yield "", chunk({"reasoning_content": part})
    for part in _halves(says.text):
        yield "text", chunk({"content": part})
    for number, identity, name, written in _calls(says, asked):
        call = {"index": number, "id": identity, "type": "function"}
        yield "", chunk({"tool_calls": [{**call, "function": {"name": name, "arguments": ""}}]})
        for part in _halves(written):
            yield "call", chunk({"tool_calls": [{"index": number, "function": {"arguments": part}}]})
    yield "", chunk({}, says.finish or ("tool_calls" if says.calls else "stop"))
    yield "", _event({**shell, "choices": [], "usage": _openai_usage(says)})
    yield "", b"data: [DONE]\n\n"


def _anthropic_usage(says: Says) -> dict[str, Any]:
    read, output, cached = says.usage
    return {
        "input_tokens": read - cached,
        "output_tokens": output,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
    }


def _anthropic_whole(says: Says, asked: Asked) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if says.thought:
        content.append({"type": "thinking", "thinking": says.thought, "signature": says.signature})
    if says.text:
        content.append({"type": "text", "text": says.text})
    content.extend(
        {"type": "tool_use", "id": identity, "name": name, "input": json.loads(written)}
        for _, identity, name, written in _calls(says, asked)
    )
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": asked.json.get("model", "m"),
        "content": content,
        "stop_reason": says.finish or ("tool_use" if says.calls else "end_turn"),
        "stop_sequence": None,
        "usage": _anthropic_usage(says),
    }


def _anthropic_frames(says: Says, asked: Asked) -> Iterator[tuple[str, bytes]]:
    def event(kind: str, **fields: Any) -> bytes:
        return _event({"type": kind, **fields}, kind)

    blocks: list[tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]] = []
    if says.thought:
        thinking = [("", {"type": "thinking_delta", "thinking": part}) for part in _halves(says.thought)]
        signed = ("", {"type": "signature_delta", "signature": says.signature})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, [*thinking, signed]))
    if says.text:
        words = [("text", {"type": "text_delta", "text": part}) for part in _halves(says.text)]
        blocks.append(({"type": "text", "text": ""}, words))
    for _, identity, name, written in _calls(says, asked):
        pieces = [("call", {"type": "input_json_delta", "partial_json": part}) for part in _halves(written)]
        blocks.append(({"type": "tool_use", "id": identity, "name": name, "input": {}}, pieces))
    usage = _anthropic_usage(says)
    opening = {**_anthropic_whole(Says(), asked), "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield "", event("message_start", message=opening)
    yield "", event("ping")
    for index, (block, deltas) in enumerate(blocks):
        yield "", event("content_block_start", index=index, content_block=block)
        for label, delta in deltas:
            yield label, event("content_block_delta", index=index, delta=delta)
        yield "", event("content_block_stop", index=index)
    finish = says.finish or ("tool_use" if says.calls else "end_turn")
    ending = {"stop_reason": finish, "stop_sequence": None}
    yield "", event("message_delta", delta=ending, usage={"output_tokens": usage["output_tokens"]})
    yield "", event("message_stop")


# What each vendor says with which status: (status, words of chat completions, type and words of messages).
_REFUSALS: dict[str, tuple[int, str, str, str]] = {
    "rate": (429, "Rate limit reached for requests", "rate_limit_error", "This would exceed your rate limit"),
    "server": (
        500,
        "The server had an error while processing your request",
        "api_error",
        "Internal server error",
    ),
    "overloaded": (503, "The engine is currently overloaded", "overloaded_error", "Overloaded"),
    "auth": (401, "Incorrect API key provided", "authentication_error", "invalid x-api-key"),
    "missing": (404, "The model `m` does not exist", "not_found_error", "model: m"),
    "context": (
        400,
        "This model's maximum context length is 8192 tokens, however you requested 9000 tokens",
        "invalid_request_error",
        "prompt is too long: 9000 tokens > 8192 maximum",
    ),
    "bad": (400, "Invalid value for 'temperature'", "invalid_request_error", "temperature: must be <= 1"),
}
PAGE = b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"


def refusal(fault: str, asked: Asked) -> tuple[int, dict[str, Any]]:
    """Status and body with which the vendor of a wire refuses. Some repeat the key they refuse."""
    status, words, kind, message = _REFUSALS[fault]
    if fault == "auth":
        words += f": {asked.headers.get('authorization', '').removeprefix('Bearer ')}"
        message += f": {asked.headers.get('x-api-key', '')}"
    if asked.wire == "anthropic":
        status = 529 if fault == "overloaded" else status
        return status, {"type": "error", "error": {"type": kind, "message": message}}
    code = {"context": "context_length_exceeded", "auth": "invalid_api_key", "missing": "model_not_found"}
    kinds = {"server": "server_error", "rate": "rate_limit_exceeded"}
    error = {"message": words, "type": kinds.get(fault, "invalid_request_error"), "code": code.get(fault)}
    if fault == "overloaded":
        error["type"] = "overloaded_error"
    return status, {"error": error}


async def _fail(fails: Fails, asked: Asked, line: _Line) -> bool:
    if fails.at == "start":
        return await _fail_at_once(fails.fault, asked, line)
    if asked.json.get("stream"):
        return await _fail_streaming(fails, asked, line)
    return await _fail_plain(fails, asked, line)


async def _fail_at_once(fault: str, asked: Asked, line: _Line) -> bool:
    """Nothing of the answer has been sent."""
    streamed = bool(asked.json.get("stream"))
    kind = "text/event-stream" if streamed else "application/json"
    match fault:
        case "reset":
            return line.reset()
        case "closed":
            return False
        case "silent":
            return await line.until_gone(60, _nothing)
        case "comments":
            await line.begin_stream()
            noise = b": keep-alive\n\n" if streamed else b" \n"
            return await line.until_gone(0.05, lambda: line.chunk(noise))
        case "garbage":
            return await line.whole(200, b"data: \xff\xfe{]\x00\n\n", kind)
        case "page":
            return await line.whole(200, PAGE, "text/html")
        case "empty":
            return await line.whole(200, b"", kind)
        case _:
            status, body = refusal(fault, asked)
            extra = {"retry_after": "0"} if fault == "rate" else {}
            return await line.whole(status, encode(body), **extra)


async def _fail_streaming(fails: Fails, asked: Asked, line: _Line) -> bool:
    """A part of the answer is out, down to half an event."""
    sent = frames(fails.answer, asked)
    place = next(number for number, (label, _) in enumerate(sent) if label == fails.at)
    half = sent[place + 1][1][: len(sent[place + 1][1]) // 2]
    await line.begin_stream()
    for _, data in sent[: place + 1]:
        await line.chunk(data)
    match fails.fault:
        case "reset":
            await line.chunk(half)
            return line.reset()
        case "closed":
            await line.chunk(half)
            return False
        case "silent":
            await line.chunk(half)
            return await line.until_gone(60, _nothing)
        case "comments":
            return await line.until_gone(0.05, lambda: line.chunk(b": keep-alive\n\n"))
        case "garbage":
            await line.chunk(b"data: {\xff\xfe]\n\n")
        case "page":
            await line.chunk(b"data: " + PAGE + b"\n\n")
        case "empty":
            pass  # the stream ends as streams do, the answer does not
        case fault:
            await line.chunk(_event(refusal(fault, asked)[1], "error" if asked.wire == "anthropic" else ""))
    await line.send(b"0\r\n\r\n")
    return True


async def _fail_plain(fails: Fails, asked: Asked, line: _Line) -> bool:
    """The status is 200, and then."""
    if fails.fault in _REFUSALS:
        return await line.whole(200, encode(refusal(fails.fault, asked)[1]))
    body = whole(fails.answer, asked)
    words = fails.answer.text if fails.at == "text" else "once and only once"
    cut = body.index(words[: len(words) // 2].encode()) + len(words) // 2
    await line.head(200, content_type="application/json", content_length=str(len(body)))
    match fails.fault:
        case "reset":
            await line.send(body[:cut])
            return line.reset()
        case "closed":
            await line.send(body[:cut])
            return False
        case "silent":
            await line.send(body[:cut])
            return await line.until_gone(60, _nothing)
        case "comments":
            await line.send(body[:cut])
            return await line.until_gone(0.05, lambda: line.send(b" "))
        case "garbage":
            await line.send(body[:cut] + b"\xff" * (len(body) - cut))
        case "page":
            await line.send((body[:cut] + PAGE).ljust(len(body))[: len(body)])
        case _:
            await line.send(b" " * len(body))
    return True


async def _nothing() -> None:
    """The sound of silence."""
