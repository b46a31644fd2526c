"""PaperHttp: an Http without a network, for tests of what is sent and of what is made of an answer."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from hermes.core.http import Http, HttpReply, HttpRequest


def sse(*events: Any, done: bool = False) -> bytes:
    """A stream of events; text is sent as it is."""
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return "".join(f"data: {line}\n\n" for line in [*lines, *(["[DONE]"] if done else [])]).encode()


@dataclass
class PaperHttp(Http):
    """Writes down what it is asked and answers each request with the same bytes.

    `size` is how many of them come at a time; 0: all at once.
    """

    answer: bytes = b""
    status: int = 200
    kind: str = "text/event-stream"
    size: int = 0
    more: Mapping[str, str] = field(default_factory=dict[str, str])
    requests: list[HttpRequest] = field(default_factory=list[HttpRequest])

    @property
    def headers(self) -> Mapping[str, str]:
        return {"content-type": self.kind, **self.more}

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncGenerator[HttpReply, None]:
        self.requests.append(request)
        yield self

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        size = self.size or len(self.answer) or 1
        for start in range(0, len(self.answer), size):
            yield self.answer[start : start + size]

    async def read(self) -> bytes:
        return self.answer
