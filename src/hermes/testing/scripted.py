"""ScriptedModel: replies written in the test, and the shortest way to play a turn with them."""

from collections.abc import AsyncGenerator, Iterator
from itertools import count

import anyio
import anyio.lowlevel

from hermes.core.budget import Budget
from hermes.core.errors import Unavailable
from hermes.core.events import Event, TextDelta
from hermes.core.ids import CallId, SessionId
from hermes.core.messages import JSON, Message, Role, Text, ToolCall, Usage
from hermes.core.models import Delta, Finish, ModelInfo, Reply, Request
from hermes.core.services import Services
from hermes.core.tools import Tool
from hermes.engine.agent import Agent, Patience
from hermes.engine.conversation import Conversation
from hermes.engine.log import Log
from hermes.engine.toolbox import Toolbox
from hermes.testing.clock import StillClock

_numbers = count(1)

AT_ONCE = Patience(attempts=3, base=0.0, cap=0.0)


def says(text: str, cost: float = 0.0) -> Message:
    """An answer."""
    return Message(Role.ASSISTANT, (Text(text),), Usage(1, 1, cost=cost, calls=1))


def calls(*names: str, **arguments: JSON) -> Message:
    """Tool calls, one per name, all with these arguments."""
    parts = tuple(ToolCall(CallId(f"{n}-{next(_numbers)}"), n, dict(arguments)) for n in names)
    return Message(Role.ASSISTANT, parts, Usage(1, 1, calls=1))


def down(name: str = "a", why: str = "overloaded", times: int = 99) -> "ScriptedModel":
    """A model that does not answer."""
    return ScriptedModel(*[Unavailable(why)] * times, name=name)


class ScriptedModel:
    """Yields the words of each scripted message, then the message. An exception is raised.

    `requests` keeps what it was asked.
    """

    def __init__(self, *script: Message | Reply | Exception, name: str = "scripted") -> None:
        self.name = name
        self.info = ModelInfo(name, "test", context=100_000)
        self.requests: list[Request] = []
        self._script: Iterator[Message | Reply | Exception] = iter(script)

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        self.requests.append(request)
        await anyio.lowlevel.checkpoint()  # as every real one: a stop is heard here
        step = next(self._script)
        if isinstance(step, Exception):
            raise step
        reply = step if isinstance(step, Reply) else _reply(step)
        for word in reply.message.text.split(" "):
            if word:
                yield TextDelta(word)
        yield reply


def _reply(message: Message) -> Reply:
    return Reply(message, Finish.CALLS if message.calls else Finish.STOP)


def agent(*models: ScriptedModel, tools: tuple[Tool, ...] = (), budget: Budget | None = None) -> Agent:
    """An agent that asks again at once and has no services."""
    return Agent(models, Toolbox(tools, Services()), budget or Budget(), AT_ONCE)


def talk(who: Agent, log: Log | None = None) -> Conversation:
    """A conversation that is not kept."""
    return Conversation(SessionId("test"), who, log or Log(), StillClock(), ("be brief",), "/")


async def play(who: Agent, log: Log | None = None, text: str = "hi", attended: bool = False) -> list[Event]:
    """Run one turn to its end and return its events."""
    events: list[Event] = []
    async with (
        anyio.create_task_group() as tasks,
        talk(who, log).turn(tasks, text, attended=attended) as turn,
    ):
        events += [event async for event in turn.events]
    return events
