"""Server-sent events: bytes in, (event, data) pairs out.

Format: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

BOM = b"\xef\xbb\xbf"


async def events(
    chunks: AsyncIterator[bytes], limit: int = 16_000_000
) -> AsyncGenerator[tuple[str, str], None]:
    """Yield (event name, data) for each event. Comments and ids are dropped.

    The format drops an event whose empty line never came; this yields it as long as its lines are
    whole, for servers that forget the last one. A line without its end is dropped. Raise ValueError
    for a line of more than `limit` bytes.
    """
    name, data = "", list[str]()
    async with aclosing(_lines(chunks, limit)) as lines:
        async for line in lines:
            if not line:
                if data:
                    yield name, "\n".join(data)
                name, data = "", []
                continue
            field, _, value = line.decode("utf-8", "replace").partition(":")
            if field == "data":
                data.append(value.removeprefix(" "))
            elif field == "event":
                name = value.removeprefix(" ")
    if data:
        yield name, "\n".join(data)


async def _lines(chunks: AsyncIterator[bytes], limit: int) -> AsyncGenerator[bytes, None]:
    """The lines without their ends, of which there are three kinds."""
    rest, first = b"", True
    async for chunk in chunks:
        rest += chunk
        if first and len(rest) >= len(BOM):
            rest, first = rest.removeprefix(BOM), False
        if len(rest) > limit:
            raise ValueError(f"a line of more than {limit:,} bytes")
        if b"\r" in rest:
            held = b"\r" if rest.endswith(b"\r") else b""  # the \n of a split \r\n may still come
            whole = rest.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            rest = whole + held
        *lines, rest = rest.split(b"\n")
        for line in lines:
            yield line
    if rest.endswith(b"\r"):
        yield rest[:-1]
