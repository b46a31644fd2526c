"""Tool, ToolSpec, ToolContext, ToolOutput: what the model can do."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, cast, runtime_checkable

from hermes.core.effects import Effects
from hermes.core.ids import CallId, SessionId
from hermes.core.messages import JSON, Media, Outcome
from hermes.core.questions import Answer, Question
from hermes.core.services import Services

Port = TypeVar("Port")
PortOut = TypeVar("PortOut", covariant=True)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What the model is told: a name, a description, a JSON schema of the parameters."""

    name: str
    description: str
    parameters: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool returns when it has more to say than text."""

    text: str
    data: Mapping[str, JSON] = field(default_factory=dict[str, JSON])
    media: tuple[Media, ...] = ()
    meta: Mapping[str, JSON] = field(default_factory=dict[str, JSON])
    outcome: Outcome = Outcome.OK


async def nobody(_: Question) -> Answer | None:
    """An asker for when no person is there."""
    return None


async def unheard(_: str) -> None:
    """A progress sink for when nobody listens."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a running call may know and reach.

    `ask` puts a question to a person and returns None when nobody is there. `progress` shows a
    line while the call runs. `cwd` is the session's working directory, absolute.
    """

    call: CallId
    session: SessionId
    cwd: str
    services: Services
    ask: Callable[[Question], Awaitable[Answer | None]] = nobody
    progress: Callable[[str], Awaitable[None]] = unheard

    def use(self, port: type[Port]) -> Port:
        """The service behind a port, bound to this call where it needs to know who calls."""
        service = self.services.use(port)
        if isinstance(service, Bound):
            return cast("Bound[Port]", service).bind(self)
        return service


@runtime_checkable
class Bound(Protocol[PortOut]):
    """A service that answers for one call at a time, such as a sandbox behind the gate."""

    def bind(self, ctx: ToolContext) -> PortOut: ...


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing the model can do.

    `run` gets the context and the call's arguments and raises ToolError, BadArguments, TimedOut
    or Denied. `needs` are the ports without which the tool is not offered. `limit` is the size of
    a result in characters above which it is spilled to a file. `poller` marks a call that is
    expected to return the same again (asking whether something is done). `volatile` names result
    fields that differ on every call. `toolset` groups tools for switching on and off.
    """

    spec: ToolSpec
    run: Callable[[ToolContext, Mapping[str, JSON]], Awaitable[ToolOutput]]
    effects: Effects = field(default_factory=Effects)
    needs: tuple[type, ...] = ()
    limit: int = 50_000
    poller: bool = False
    volatile: tuple[str, ...] = ()
    toolset: str = "core"
    emoji: str = ""
