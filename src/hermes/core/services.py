"""Services: typed lookup of a port, `ctx.use(Sandbox)`."""

from collections.abc import Mapping
from typing import Any, TypeVar

Port = TypeVar("Port")


class Services:
    """The ports that were handed in, by type. Immutable."""

    __slots__ = ("_ports",)

    def __init__(self, ports: Mapping[type, object] | None = None) -> None:
        self._ports: dict[type, Any] = dict(ports or {})

    def has(self, port: type) -> bool:
        return port in self._ports

    def use(self, port: type[Port]) -> Port:
        """The service for this port. Raise KeyError when none was handed in."""
        found: Port = self._ports[port]
        return found

    def plus(self, port: type[Port], service: Port) -> "Services":
        """A copy with one more service, or one replaced."""
        return Services({**self._ports, port: service})
