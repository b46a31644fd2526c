"""Server-sent events: bytes in, (event, data) pairs out.

Format: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator

BOM = b"\xef\xbb\xbf"
Events = list[tuple[str, str]]


async def events(
    chunks: AsyncIterator[bytes], limit: int = 16_000_000
) -> AsyncGenerator[tuple[str, str], None]:
    """Yield (event name, data) for each event. See `batches`."""
    async for batch in batches(chunks, limit):
        for event in batch:
            yield event


async def batches(chunks: AsyncIterator[bytes], limit: int = 16_000_000) -> AsyncGenerator[Events, None]:
    """Yield the events that arrived together, as (event name, data). Comments and ids are dropped.

    The format drops an event whose empty line never came; this yields it as long as its lines are
    whole, for servers that forget the last one. A line without its end is dropped. Raise ValueError
    for a line of more than `limit` bytes.
    """
    reader = _Reader(limit)
    async for chunk in chunks:
        if found := list(reader.feed(chunk)):
            yield found
    if found := list(reader.end()):
        yield found


class _Reader:
    """The state between two chunks."""

    __slots__ = ("_data", "_first", "_limit", "_name", "_rest")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest, self._first = b"", True
        self._name, self._data = "", list[str]()

    def feed(self, chunk: bytes) -> Iterator[tuple[str, str]]:
        for line in self._lines(chunk):
            yield from self._take(line)

    def end(self) -> Iterator[tuple[str, str]]:
        if self._rest.endswith(b"\r"):
            yield from self._take(self._rest[:-1])
        yield from self._take(b"")

    def _take(self, line: bytes) -> Iterator[tuple[str, str]]:
        if not line:
            if self._data:
                yield self._name, "\n".join(self._data)
            self._name, self._data = "", []
            return
        field, _, value = line.decode("utf-8", "replace").partition(":")
        if field == "data":
            self._data.append(value.removeprefix(" "))
        elif field == "event":
            self._name = value.removeprefix(" ")

    def _lines(self, chunk: bytes) -> list[bytes]:
        """The whole lines without their ends, of which there are three kinds."""
        rest = self._rest + chunk
        if self._first and len(rest) >= len(BOM):
            rest, self._first = rest.removeprefix(BOM), False
        if len(rest) > self._limit:
            raise ValueError(f"a line of more than {self._limit:,} bytes")
        if b"\r" in rest:
            held = b"\r" if rest.endswith(b"\r") else b""  # the \n of a split \r\n may still come
            rest = rest.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n") + held
        *lines, self._rest = rest.split(b"\n")
        return lines
