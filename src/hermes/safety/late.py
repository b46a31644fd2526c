"""LateHttp: an Http whose client is loaded with the first request; most commands never make one."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Any

from hermes.core.http import HttpReply, HttpRequest


class LateHttp:
    """Names its client by string: `hermes.safety.http.HttpxClient`, which see for `proxies`."""

    __slots__ = ("_client", "_proxies")

    def __init__(self, proxies: Mapping[str, str] | None = None) -> None:
        self._proxies = proxies
        self._client: Any = None

    def send(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpReply]:
        if self._client is None:
            self._client = import_module("hermes.safety.http").HttpxClient(self._proxies)
        sending: AbstractAsyncContextManager[HttpReply] = self._client.send(request)
        return sending

    async def aclose(self) -> None:
        """Close every connection."""
        if self._client is not None:
            await self._client.aclose()
