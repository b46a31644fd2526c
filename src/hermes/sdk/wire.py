"""What a model protocol needs besides its own words: a reply, read with a deadline for progress."""

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, TypeVar, cast

import anyio
import msgspec

from hermes.core.endpoints import Endpoint
from hermes.core.errors import Rejected, Unavailable
from hermes.core.events import TextDelta, ThoughtDelta
from hermes.core.http import Http, HttpReply, HttpRequest
from hermes.core.ids import CallId
from hermes.core.messages import Media
from hermes.core.models import Delta, ModelInfo, Price
from hermes.lib.loose_json import cleaned
from hermes.lib.sse import Events, batches
from hermes.lib.text import clean
from hermes.sdk.failures import Where, classify, malformed, stalled

LARGEST = 64_000_000
"""Bytes of a reply that is not a stream; a line of a stream is held to less (see `lib.sse`)."""

_encoder = msgspec.json.Encoder()


class Wire:
    """What a model of every protocol has: its name, and what is known of it."""

    __slots__ = ("_info",)

    def __init__(self, info: ModelInfo) -> None:
        self._info = info

    @property
    def name(self) -> str:
        return f"{self._info.vendor}/{self._info.name}"

    @property
    def info(self) -> ModelInfo:
        return self._info


class HttpWire(Wire):
    """A model behind an HTTP endpoint: where it is, and the headers of every request.

    The key goes into the header that the option `auth` names ("bearer" for Authorization); `fixed`
    are the protocol's own headers.
    """

    __slots__ = ("_endpoint", "_headers", "_http", "_options", "_where")

    def __init__(
        self, endpoint: Endpoint, info: ModelInfo, http: Http, *, auth: str, fixed: Mapping[str, str]
    ) -> None:
        super().__init__(info)
        self._endpoint = endpoint
        self._http = http
        self._options = cast("Mapping[str, Any]", endpoint.options)
        key = endpoint.api_key.strip()
        self._where = Where(
            endpoint.vendor, endpoint.base_url, info.name, self._options.get("key_env", ""), key
        )
        auth = str(self._options.get("auth", auth))
        named = {"Authorization": f"Bearer {key}"} if auth == "bearer" else {auth: key}
        self._headers = {
            "Content-Type": "application/json",
            **fixed,
            **(named if key else {}),
            **endpoint.headers,
        }

    def _post(self, url: str, body: bytes) -> HttpRequest:
        """The request with this body. Raise Rejected when a header cannot be sent."""
        if not all(value.isascii() and value.isprintable() for value in self._headers.values()):
            raise Rejected(
                f"The key for {self._where} has characters that no key has: set it again.", kind="auth"
            )
        return HttpRequest("POST", url, self._headers, body, self._endpoint.connect, self._endpoint.idle)


@asynccontextmanager
async def ask(http: Http, request: HttpRequest, where: Where) -> AsyncGenerator["Listening", None]:
    """Send a request and listen to the reply. Raise what `sdk.failures` makes of a refusal."""
    async with http.send(request) as reply:
        listening = Listening(reply, where, request.idle)
        if not 200 <= reply.status < 300:
            raise classify(reply.status, await listening.body(), reply.headers, where)
        yield listening


class Listening:
    """A reply on its way. Bytes are not progress: call `progress` for each thing that is.

    A reply that makes none for `idle` seconds is given up with Unavailable(kind="stalled").
    """

    __slots__ = ("_closing", "_deadline", "_idle", "_reply", "_where")

    def __init__(self, reply: HttpReply, where: Where, idle: float) -> None:
        self._reply = reply
        self._where = where
        self._idle = idle
        self._deadline = anyio.current_time() + idle
        self._closing = False

    def streams(self, asked: bool) -> bool:
        """Whether events come; some endpoints answer in one piece, or in events, unasked."""
        kind = self._reply.headers.get("content-type", "")
        return "event-stream" in kind or (asked and "json" not in kind and "html" not in kind)

    def progress(self, *, whole: bool = False) -> None:
        """The answer has grown: the deadline moves on. `whole`: it may end here, however it ends."""
        self._closing = whole
        self._deadline = anyio.current_time() + self._idle

    def complete(self, grace: float) -> None:
        """The answer is whole; what follows may take `grace` seconds more and may fail.

        Reading to the end keeps the connection usable for the next request.
        """
        self._closing = True
        self._deadline = min(self._deadline, anyio.current_time() + grace)

    async def events(self) -> AsyncGenerator[Events, None]:
        """(event name, data) as they come: what arrived together in one list."""
        try:
            async with aclosing(self._chunks()) as chunks, aclosing(batches(chunks)) as stream:
                async for batch in stream:
                    yield batch
        except ValueError as error:
            raise malformed(self._where, str(error)) from error

    async def body(self) -> bytes:
        """The whole body. White space that keeps a connection alive is not progress."""
        pieces: list[bytes] = []
        size = 0
        async with aclosing(self._chunks()) as chunks:
            async for chunk in chunks:
                pieces.append(chunk)
                size += len(chunk)
                if not chunk.isspace():
                    self.progress()
                if size > LARGEST:
                    raise malformed(self._where, f"more than {LARGEST:,} bytes")
        return b"".join(pieces)

    async def _chunks(self) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._reply.chunks()) as chunks:
            while (chunk := await self._next(chunks)) is not None:
                yield chunk

    async def _next(self, chunks: AsyncGenerator[bytes, None]) -> bytes | None:
        """The next chunk before the deadline, None at the end."""
        with anyio.CancelScope(deadline=self._deadline):
            try:
                return await anext(chunks, None)
            except Unavailable:
                if self._closing:
                    return None
                raise
        if self._closing:
            return None
        raise stalled(self._where, self._idle)


def melted(deltas: Iterable[Delta]) -> list[Delta]:
    """Neighbouring pieces of text, or of thought, as one piece."""
    whole: list[Delta] = []
    for delta in deltas:
        match whole[-1] if whole else None, delta:
            case TextDelta(before), TextDelta(text):
                whole[-1] = TextDelta(before + text)
            case ThoughtDelta(before), ThoughtDelta(text):
                whole[-1] = ThoughtDelta(before + text)
            case _:
                whole.append(delta)
    return whole


def encode(value: Any) -> bytes:
    """JSON bytes, also of text that no encoder accepts."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(cleaned(value))


def count(value: object) -> int:
    """A number of tokens as reported; 0 for what cannot be one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and 0 <= value < 2**53 else 0


def cost(price: Price, *, fresh: int, cached: int, written: int, output: int) -> float:
    """US dollars for tokens of each kind; a kind without a price of its own costs as fresh input does."""
    base = price.input or 0.0
    read = base if price.cached is None else price.cached
    write = base if price.written is None else price.written
    return (fresh * base + cached * read + written * write + output * (price.output or 0.0)) / 1_000_000


Shape = TypeVar("Shape")


def decode(data: bytes | str, decoder: "msgspec.json.Decoder[Shape]", where: Where) -> Shape:
    """Read JSON that may hold what the fast reader refuses: lone surrogates, numbers out of range.

    Raise Unavailable(kind="malformed") for what is no JSON or has another shape.
    """
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    try:
        shape: Shape = msgspec.convert(cleaned(json.loads(text, strict=False)), decoder.type, strict=False)
        return shape
    except (ValueError, RecursionError) as error:
        raise malformed(where, text) from error


def fit_id(name: str, fits: "re.Pattern[str]", size: int) -> str:
    """A call's id as it is where the protocol takes it, else a digest of `size` letters and digits."""
    return (
        name if fits.fullmatch(name) else hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:size]
    )


def fresh_id(wanted: object, known: Collection[str], *seed: object) -> CallId:
    """The id a model gave its call, or one made from `seed` when it gave none or used it before.

    The same reply to the same request gets the same ids.
    """
    name = clean(wanted).strip() if isinstance(wanted, str) else ""
    turn = 0
    while not name or name in known:
        name = hashlib.sha256(repr((*seed, turn)).encode("utf-8", "replace")).hexdigest()[:9]
        turn += 1
    return CallId(name)


def known_name(written: str, tools: Collection[str]) -> str:
    """The name of a tool as the model meant it: some servers' streams write it twice in a row."""
    name = clean(written).strip()
    half = name[: len(name) // 2]
    return half if name not in tools and half * 2 == name and half in tools else name


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something to see or hear, ready to be sent: by `url`, or as base64 `data`."""

    mime: str
    name: str
    url: str = ""
    data: str = ""

    @property
    def data_url(self) -> str:
        return self.url or f"data:{self.mime};base64,{self.data}"


def attach(media: Media) -> Attachment | str:
    """Read what a Media refers to; a sentence in place of it when that cannot be done."""
    name = PurePath(media.ref).name
    if found := re.match(r"data:([^;,]+);base64,", media.ref):
        return Attachment(found[1], media.kind, data=media.ref[found.end() :])
    if media.ref.startswith(("https://", "http://")):
        return Attachment(media.mime or _mime(media), name, url=media.ref)
    try:
        content = Path(media.ref).read_bytes()
    except (OSError, ValueError) as error:
        return f"[The {media.kind} {name} cannot be read: {getattr(error, 'strerror', None) or error}.]"
    if not content or len(content) > LARGEST_ATTACHMENT:
        return f"[The {media.kind} {name} is not sent: it has {len(content):,} bytes.]"
    return Attachment(media.mime or _mime(media), name, data=b64encode(content).decode())


LARGEST_ATTACHMENT = 20_000_000
_MIMES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".wav": "audio/wav",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".pdf": "application/pdf",
}
_USUAL = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "document": "application/pdf"}


def _mime(media: Media) -> str:
    return _MIMES.get(PurePath(media.ref).suffix.lower(), _USUAL[media.kind])
