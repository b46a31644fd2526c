"""Http: the one way out to the network."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """`connect` and `idle` are seconds: until the connection stands, and between two bytes."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)  # they hold keys
    body: bytes = b""
    connect: float = 10.0
    idle: float = 120.0


class HttpReply(Protocol):
    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Names in lower case."""
        ...

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it arrives, content encoding undone."""
        ...

    async def read(self) -> bytes:
        """The whole body."""
        ...


class Http(Protocol):
    def send(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpReply]:
        """Send a request; the reply's body is read inside the block.

        Raise Unavailable(kind="network" | "timeout") when there is no reply or the body breaks off.
        """
        ...
