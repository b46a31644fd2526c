"""Server-sent events, however they are cut and ended."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.lib.sse import events

pytestmark = pytest.mark.anyio


async def read(data: bytes, *cuts: int, limit: int = 1000) -> list[tuple[str, str]]:
    async def cut() -> AsyncGenerator[bytes, None]:
        for start, stop in pairwise([0, *sorted(cuts), len(data)]):
            yield data[start:stop]

    async with aclosing(cut()) as chunks, aclosing(events(chunks, limit)) as stream:
        return [event async for event in stream]


STREAM = """\ufeffevent: a
data: hé

: a comment

id: 7
retry: 1
data:x
data: y


data

data: €

""".encode()
EVENTS = [("a", "hé"), ("", "x\ny"), ("", ""), ("", "€")]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@given(cuts=st.lists(st.integers(0, 120), max_size=6))
async def test_events_are_the_same_wherever_the_bytes_are_cut(end: bytes, cuts: list[int]) -> None:
    data = STREAM.replace(b"\n", end)
    assert await read(data, *[min(cut, len(data)) for cut in cuts]) == EVENTS


async def test_the_last_event_needs_no_empty_line_but_a_whole_line() -> None:
    assert await read(b"data: a\n\ndata: b\n") == [("", "a"), ("", "b")]
    assert await read(b"data: a\n\ndata: b") == [("", "a")]
    assert await read(b"data: a\r\rdata: b\r") == [("", "a"), ("", "b")]


async def test_bytes_that_are_no_text_are_replaced() -> None:
    assert await read(b"data: \xff\xfe!\n\n") == [("", "\ufffd\ufffd!")]


async def test_a_line_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 1,000 bytes"):
        await read(b"data: " + b"x" * 2000, *range(0, 2000, 100))
