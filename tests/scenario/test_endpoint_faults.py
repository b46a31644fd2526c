"""An endpoint fails in every way, at every moment, over both wires: no turn hangs, no tool runs twice.

14 faults x 3 positions x streamed or plain x 2 wires, in the first request of a turn or in the one
after its tool has run: each is a whole turn against a real server, and the next one. The faults of
one wire and manner run at the same time, so that their waiting costs no more than one's.
"""

import time
from dataclasses import dataclass, field
from itertools import product

import anyio
import pytest

from hermes.core.clock import Clock
from hermes.core.effects import Effects
from hermes.core.endpoints import Endpoint
from hermes.core.events import Event, Stop, TurnEnded
from hermes.core.http import Http
from hermes.core.ids import SessionId
from hermes.core.messages import Outcome
from hermes.core.models import ModelInfo
from hermes.core.services import Services
from hermes.core.tools import ToolContext
from hermes.engine.agent import Agent, Patience
from hermes.engine.conversation import Conversation
from hermes.engine.log import Log
from hermes.engine.toolbox import Toolbox
from hermes.providers import anthropic, openai_chat
from hermes.safety.http import HttpxClient
from hermes.sdk import tool
from hermes.testing.clock import StillClock
from hermes.testing.endpoint import (
    FAULTS,
    HEALTHY,
    POSITIONS,
    Answer,
    Fails,
    Fault,
    ModelServer,
    Position,
    Says,
)
from hermes.testing.wire_rules import complaints

pytestmark = pytest.mark.anyio
WIRES = {"openai_chat": openai_chat.WIRE, "anthropic": anthropic.WIRE}
IDLE = 0.3
KEY = "sk-test-0123456789"
REFUSED: tuple[Fault, ...] = ("auth", "missing", "context", "bad")
"""Faults that asking again does not cure: the turn ends, and says why."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Case:
    """A conversation with an endpoint that fails once; `ran` counts the tool's runs.

    `acted`: it fails when the tool has already run.
    """

    wire: str
    stream: bool
    fault: Fault
    at: Position
    acted: bool
    ran: int = 0
    seconds: float = 0.0
    log: Log = field(default_factory=Log)
    server: ModelServer = field(init=False)

    def __post_init__(self) -> None:
        script: list[Answer] = [HEALTHY, Says("Marked.")]
        place = 1 if self.acted else 0
        if self.fault in REFUSED:
            script = script[:place]
        script.insert(place, Fails(self.fault, self.at))
        script.append(Says("Still here."))
        self.server = ModelServer(script)

    async def play(self, http: Http, clock: Clock) -> tuple[list[Event], list[Event]]:
        """The turn that meets the fault, and the next one."""

        @tool(effects=Effects())
        async def mark(_: ToolContext, note: str) -> str:
            """Leave a mark."""
            self.ran += 1
            return note

        async with self.server:
            url = self.server.url + ("" if self.wire == "anthropic" else "/v1")
            endpoint = Endpoint("test", url, KEY, options={"stream": self.stream}, connect=2.0, idle=IDLE)
            model = WIRES[self.wire].open(endpoint, ModelInfo("m", "test"), http)
            agent = Agent((model,), Toolbox((mark,), Services()), patience=Patience(base=0.0, cap=0.0))
            talk = Conversation(SessionId("s"), agent, self.log, clock, ("Be brief.",))
            began = time.monotonic()
            first = await turn(talk, "Leave a mark, please.")
            self.seconds = time.monotonic() - began
            return first, await turn(talk, "Are you there?")

    def judge(self, first: list[Event], second: list[Event]) -> list[str]:
        """What is wrong with how it went."""
        wrong: list[str] = []
        end, next_end = first[-1], second[-1]
        if not isinstance(end, TurnEnded) or not isinstance(next_end, TurnEnded):
            return ["a turn without an end"]
        refused = self.fault in REFUSED
        if self.seconds > IDLE + 5:
            wrong.append(f"it took {self.seconds:.1f} s")
        if self.ran != (0 if refused and not self.acted else 1):
            wrong.append(f"the tool ran {self.ran} times")
        if end.stop is not (Stop.FAILED if refused else Stop.DONE):
            wrong.append(f"the turn ended {end.stop}: {end.error}")
        if refused and len(self.server.asked) != 2 + self.acted:
            wrong.append(f"asked {len(self.server.asked)} times for what is refused")
        if refused and not clear(end.error):
            wrong.append(f"unclear: {end.error}")
        if next_end.stop is not Stop.DONE or self.log.messages[-1].text != "Still here.":
            wrong.append(f"the next message failed: {next_end.error}")
        for asked in self.server.asked:
            wrong.extend(complaints(self.wire, asked.body))
        calls = [call.id for message in self.log.messages for call in message.calls]
        results = [result for message in self.log.messages for result in message.results]
        if calls != [result.call for result in results] or any(r.outcome is not Outcome.OK for r in results):
            wrong.append(f"calls {calls}, results {results}")
        return wrong


def clear(error: str) -> bool:
    """Whether it says where and what in a few words, and no secret."""
    return (
        ("test (http://127.0.0.1:" in error or "too long for m" in error)
        and KEY not in error
        and "{" not in error
        and len(error) < 300
    )


async def turn(talk: Conversation, text: str) -> list[Event]:
    async with anyio.create_task_group() as tasks, talk.turn(tasks, text) as running:
        return [event async for event in running.events]


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "plain"])
@pytest.mark.parametrize("wire", WIRES)
async def test_every_fault_at_every_position(wire: str, stream: bool) -> None:
    http, clock = HttpxClient(), StillClock()
    cases = [Case(wire, stream, *case) for case in product(FAULTS, POSITIONS, (False, True))]
    wrong: dict[str, list[str]] = {}

    async def one(case: Case) -> None:
        if faults := case.judge(*await case.play(http, clock)):
            wrong[f"{case.fault} at {case.at}, acted: {case.acted}"] = faults

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for case in cases:
                tasks.start_soon(one, case)
    await http.aclose()
    assert len(cases) == 84
    assert wrong == {}
