"""Which proxies the environment asks for: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY, in either case."""

from collections.abc import Mapping

HERE = ("localhost", "127.0.0.1", "[::1]")


def proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """URL patterns to the URL of a proxy, empty for a direct connection; nothing without a proxy.

    This machine is always reached directly. A proxy without a scheme is an http:// one.
    """

    def named(name: str) -> str:
        return environ.get(name) or environ.get(name.upper()) or ""

    found = {f"{kind}://": named(f"{kind}_proxy") for kind in ("http", "https", "all")}
    found = {pattern: url if "://" in url else f"http://{url}" for pattern, url in found.items() if url}
    direct = [host.strip() for host in named("no_proxy").split(",") if host.strip()]
    if not found or "*" in direct:
        return {}
    return found | {f"all://{_hosts(host)}": "" for host in (*HERE, *direct)}


def _hosts(host: str) -> str:
    """`.example.org` means the hosts below it, `example.org` the host and those below."""
    if host.startswith("."):
        return f"*{host}"
    return host if host.replace(".", "").isdigit() or host in HERE else f"*{host}"
