"""Server-sent events: bytes in, (event, data) pairs out.

Format: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from collections.abc import AsyncIterator


async def events(chunks: AsyncIterator[bytes], limit: int = 16_000_000) -> AsyncIterator[tuple[str, str]]:
    """Yield (event name, data) for each event. Comments and ids are dropped.

    An event that is not ended by an empty line before the stream ends is dropped, as the format
    demands. Raise ValueError for a line of more than `limit` bytes.
    """
    rest = b""
    name, data = "", list[str]()
    async for chunk in chunks:
        rest += chunk
        if len(rest) > limit:
            raise ValueError(f"a line of more than {limit} bytes in the stream")
        if b"\r" in rest:
            held = rest.endswith(b"\r")  # the \n of a split \r\n may still come
            whole = rest[:-1] if held else rest
            rest = whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n") + (b"\r" if held else b"")
        *lines, rest = rest.split(b"\n")
        for raw in lines:
            line = raw.decode("utf-8", "replace")
            if not line:
                if data:
                    yield name, "\n".join(data)
                name, data = "", []
                continue
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                data.append(value)
            elif field == "event":
                name = value
