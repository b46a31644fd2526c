"""The way out to the network, over real sockets."""

import asyncio
import gzip
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes.core.errors import Unavailable
from hermes.core.http import HttpRequest
from hermes.safety.http import HttpxClient
from hermes.sdk.failures import Where
from hermes.testing.endpoint import Fails, ModelServer, Raw, Says

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def http() -> AsyncIterator[HttpxClient]:
    client = HttpxClient()
    yield client
    await client.aclose()


def post(url: str, idle: float = 2.0) -> HttpRequest:
    return HttpRequest("POST", url + "/v1/messages", {"X-Name": "value"}, b"{}", connect=1.0, idle=idle)


async def test_a_request_goes_out_as_it_is_and_the_body_comes_in_pieces(http: HttpxClient) -> None:
    packed = gzip.compress(b"hello, " * 100)
    answer = Raw((packed[:20], packed[20:]), 207, {"content_encoding": "gzip", "X_Odd": "1"})
    async with ModelServer([answer]) as server, http.send(post(server.url)) as reply:
        assert (reply.status, reply.headers["x-odd"]) == (207, "1")
        assert b"".join([chunk async for chunk in reply.chunks()]) == b"hello, " * 100
        [asked] = server.asked
        assert (asked.body, asked.headers["x-name"]) == (b"{}", "value")
        assert asked.headers["user-agent"] == "hermes"


async def test_connections_are_kept(http: HttpxClient) -> None:
    async with ModelServer([Says("a"), Says("b")]) as server:
        for _ in range(2):
            async with http.send(post(server.url)) as reply:
                await reply.read()
        assert [asked.connection for asked in server.asked] == [1, 1]


async def test_a_redirect_is_not_followed(http: HttpxClient) -> None:
    async with ModelServer([Raw((), 307, {"location": "https://elsewhere.example/"})]) as server:
        async with http.send(post(server.url)) as reply:
            assert reply.status == 307
        assert len(server.asked) == 1


async def test_nobody_there(http: HttpxClient) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://user:password@127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(Unavailable, match=r"Cannot reach 127\.0\.0\.1:\d+: connection refused\.") as caught:
        async with http.send(post(url)):
            pass
    assert caught.value.kind == "network"
    assert "password" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://", "ftp://host", "http://[::1", "nonsense"])
async def test_what_is_no_url(http: HttpxClient, url: str) -> None:
    with pytest.raises(Unavailable) as caught:
        async with http.send(HttpRequest("GET", url, connect=1.0)):
            pass
    assert caught.value.kind == "network"


async def test_silence_is_a_timeout(http: HttpxClient) -> None:
    async with ModelServer([Fails("silent")]) as server:
        with pytest.raises(Unavailable, match=r"sent nothing for 0\.05 s") as caught:
            async with http.send(post(server.url, idle=0.05)):
                pass
    assert caught.value.kind == "timeout"


async def test_a_body_that_breaks_off(http: HttpxClient) -> None:
    async with ModelServer([Fails("reset", "text"), Fails("closed", "text")]) as server:
        for why in ("connection reset by peer", "peer closed connection"):
            with pytest.raises(Unavailable, match=f"broke off: {why}") as caught:
                async with http.send(post(server.url)) as reply:
                    _ = [chunk async for chunk in reply.chunks()]
            assert caught.value.kind == "network"


async def test_a_header_that_cannot_be_sent_is_not_shown(http: HttpxClient) -> None:
    async with ModelServer([Says("x")]) as server:
        request = HttpRequest("POST", server.url + "/v1/messages", {"x-api-key": "se\ncret"})
        with pytest.raises(Unavailable) as caught:
            async with http.send(request):
                pass
    assert "cret" not in str(caught.value)


async def test_a_proxy_is_used_only_when_handed_in() -> None:
    async with ModelServer([Says("by way of the proxy")]) as server:
        http = HttpxClient({"all://": server.url})
        async with http.send(HttpRequest("POST", "http://model.example/v1/messages", body=b"{}")) as reply:
            assert b"by way of the proxy" in await reply.read()
        await http.aclose()
        assert server.asked[0].path == "http://model.example/v1/messages"


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_nobody_vouches_for_is_not_talked_to(tmp_path: Path, scheme: str) -> None:
    (tmp_path / "pem").write_text(SELF_SIGNED)
    told = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    told.load_cert_chain(tmp_path / "pem")
    heard: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(100))
        writer.close()

    proxy = await asyncio.start_server(hear, "127.0.0.1", 0, ssl=told)
    http = HttpxClient({"all://": f"https://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"})
    async with proxy:
        with pytest.raises(Unavailable, match="certificate is not trusted"):
            async with http.send(HttpRequest("GET", f"{scheme}://model.example/")):
                pass
        await http.aclose()
    assert heard == []


def test_keys_are_not_in_the_repr_of_a_request() -> None:
    request = HttpRequest("GET", "http://h/", {"x-api-key": "sk-canary"})
    assert "canary" not in repr(request)
    assert "canary" not in repr(Where("vendor", "http://h/", secret="sk-canary"))


# Signed by itself, made for the test above and used nowhere else.
SELF_SIGNED = """
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBpcHTNPCbyMQBuMH
3swqHkaXKKxshlYiB3LV4VNt0MahRANCAARJNfq7mVw41CW+GaRbhzbYf+e7iiUA
t3vlNVYL3VjAzUB0rAKdqwUPdUBGL3eq0FbguWsmcIxi/wx2lDwdRBnj
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBkDCCATagAwIBAgIUJlE2Kehb9avSgEi0jBqQBxn0fwcwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEzMDIxMjYyOVoYDzIxMjYxMTA2
MjEyNjI5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARJNfq7mVw41CW+GaRbhzbYf+e7iiUAt3vlNVYL3VjAzUB0rAKdqwUP
dUBGL3eq0FbguWsmcIxi/wx2lDwdRBnjo2QwYjAdBgNVHQ4EFgQUTDk09rWJjfzd
PwZbpuHwna/bBOUwHwYDVR0jBBgwFoAUTDk09rWJjfzdPwZbpuHwna/bBOUwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
IQCW2w+YdX9CapOeRwUr+mNs2YLmTv+CWXSZ2ubrtNtWSQIgNZ6THj1MtEeDjzM/
vsFZ9TbuK6gMnTt0MnTVDqrrIKM=
-----END CERTIFICATE-----
"""


def test_plain_http_loads_no_certificates() -> None:
    """Making a TLS context costs more than a whole request."""
    code = """
import asyncio, ssl
ssl.SSLContext.load_verify_locations = ssl.SSLContext.load_default_certs = None
from hermes.core.http import HttpRequest
from hermes.safety.http import HttpxClient
from hermes.testing.endpoint import ModelServer, Says
async def main():
    http = HttpxClient()
    async with ModelServer([Says("x")]) as server:
        async with http.send(HttpRequest("POST", server.url + "/v1/messages", body=b"{}")) as reply:
            print(reply.status)
        await http.aclose()
asyncio.run(main())
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert ran.stdout == "200\n"
