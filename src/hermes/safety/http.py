"""HttpxClient: the way out to the network, over httpx2.

Nothing is made before the first request: a run that asks no model pays for no connection pool, and
one that only talks to `http://` hosts never loads certificates.
"""

import os
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import urlsplit

import httpx2

from hermes.core.errors import Unavailable
from hermes.core.http import Http, HttpReply, HttpRequest

POOL = httpx2.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=60.0)


class HttpxClient(Http):
    """Keeps connections alive between requests; belongs to one event loop. Close it with `aclose`.

    `proxies` maps a pattern such as "https://" or "all://host" to the URL of a proxy (empty: go
    there directly); the environment is never consulted. `agent` is the User-Agent sent.
    """

    __slots__ = ("_agent", "_plain", "_proxies", "_secure")

    def __init__(self, proxies: Mapping[str, str] | None = None, agent: str = "hermes") -> None:
        self._proxies = dict(proxies or {})
        self._agent = agent
        self._plain: httpx2.AsyncClient | None = None
        self._secure: httpx2.AsyncClient | None = None

    @asynccontextmanager
    async def send(self, request: HttpRequest) -> AsyncGenerator[HttpReply, None]:
        """See `Http.send`. Redirects are not followed: a key must not travel to another host."""
        client = self._client(request.url)
        timeout = httpx2.Timeout(request.idle, connect=request.connect, pool=request.connect)
        with _told(request):
            message = client.build_request(
                request.method,
                request.url,
                headers=dict(request.headers),
                content=request.body or None,
                timeout=timeout,
            )
            response = await client.send(message, stream=True)
        try:
            yield _Reply(request, response)
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        """Close every connection. A later request opens new ones."""
        clients = (self._plain, self._secure)
        self._plain = self._secure = None
        for client in clients:
            if client:
                await client.aclose()

    def _client(self, url: str) -> httpx2.AsyncClient:
        if url.startswith("http://"):
            if self._plain is None:
                self._plain = self._open(verify=False)  # no certificate is ever seen on this one
            return self._plain
        if self._secure is None:
            self._secure = self._open(verify=True)
        return self._secure

    def _open(self, *, verify: bool) -> httpx2.AsyncClient:
        mounts = {
            pattern: httpx2.AsyncHTTPTransport(
                verify=verify, proxy=_proxy(proxy), trust_env=False, limits=POOL
            )
            for pattern, proxy in self._proxies.items()
        }
        return httpx2.AsyncClient(
            verify=verify,
            trust_env=False,
            limits=POOL,
            mounts=mounts,
            headers={"User-Agent": self._agent},
            follow_redirects=False,
        )


def _proxy(url: str) -> httpx2.Proxy | None:
    """A proxy, whose own certificate is checked whatever is asked of it; None for "go there directly"."""
    if not url.lower().startswith("https://"):
        return httpx2.Proxy(url) if url else None
    return httpx2.Proxy(url, ssl_context=httpx2.create_ssl_context(trust_env=False))


class _Reply:
    """A reply whose body is still on its way."""

    __slots__ = ("_request", "_response")

    def __init__(self, request: HttpRequest, response: httpx2.Response) -> None:
        self._request = request
        self._response = response

    @property
    def status(self) -> int:
        return self._response.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        return self._response.headers

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        with _told(self._request):
            async for chunk in self._response.aiter_bytes():
                yield chunk

    async def read(self) -> bytes:
        with _told(self._request):
            return await self._response.aread()


@contextmanager
def _told(request: HttpRequest) -> Generator[None, None, None]:
    """Turn whatever the transport raises into Unavailable, with a sentence for a person."""
    try:
        yield
    except httpx2.ConnectTimeout as error:
        where = _host(request.url)
        raise Unavailable(
            f"No connection to {where} within {request.connect:g} s: check the network and the URL",
            kind="timeout",
        ) from error
    except httpx2.TimeoutException as error:
        where = _host(request.url)
        raise Unavailable(f"{where} sent nothing for {request.idle:g} s", kind="timeout") from error
    except httpx2.ConnectError as error:
        where = _host(request.url)
        raise Unavailable(
            f"Cannot reach {where}: {_reason(error)}. Check that it runs and that the URL is right",
            kind="network",
        ) from error
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise Unavailable(
            f"{request.url!r} is no URL that can be reached: {error}", kind="network"
        ) from error
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        where = _host(request.url)
        raise Unavailable(f"The connection to {where} broke off: {_reason(error)}", kind="network") from error


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or url


def _reason(error: Exception) -> str:
    """What went wrong, in the words of the operating system where they are at the bottom of it."""
    if isinstance(error, httpx2.LocalProtocolError):
        return "the request is not valid HTTP"  # its text quotes headers, and with them the key
    cause: BaseException | None = error
    while cause:
        if untrusted := getattr(cause, "verify_message", ""):
            return f"its certificate is not trusted ({untrusted})"
        if isinstance(cause, OSError) and (number := cause.errno):
            words = os.strerror(number) if number > 0 else str(cause.strerror)
            return words[:1].lower() + words[1:]
        cause = cause.__cause__ or cause.__context__
    return str(error).rstrip(". ") or "the other side hung up"
