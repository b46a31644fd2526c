"""The terminal behind the gate on the local machine: what the model gets, what is asked, what is kept."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
import yaml

from hermes.core.events import TurnEnded
from hermes.core.gate import Gate
from hermes.core.ids import CallId, SessionId
from hermes.core.messages import JSON, Message, Outcome, Role, ToolCall, ToolResult
from hermes.core.questions import Answer, Question
from hermes.core.sandbox import Sandbox
from hermes.core.seen import Seen
from hermes.core.services import Services
from hermes.core.tools import ToolContext
from hermes.engine.agent import Agent
from hermes.engine.conversation import Conversation
from hermes.engine.log import Log
from hermes.engine.toolbox import Toolbox, refused_unasked
from hermes.safety.gate import PolicyGate
from hermes.safety.guarded import GuardedSandbox
from hermes.sandboxes.local import LocalSandbox
from hermes.testing.clock import StillClock
from hermes.testing.scripted import ScriptedModel, says
from hermes.tools.read_file import read_file
from hermes.tools.terminal import terminal

pytestmark = pytest.mark.anyio

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases/behaviour.yaml").read_text("utf-8"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Desk:
    """A workspace with a terminal, and a person who answers what was laid down, or nobody."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        self.local = LocalSandbox(str(self.work), environ, folder / "spool", grace=0.1)
        self.gate = PolicyGate(home=str(folder), workspace=str(self.work), state=str(folder / ".hermes"))
        sandbox = GuardedSandbox(self.local, self.gate)
        services = Services({Gate: self.gate, Sandbox: sandbox, Seen: Seen()})
        self.toolbox = Toolbox([terminal, read_file], services)
        self.answer: str | None = None
        self.asked: list[Question] = []

    async def person(self, question: Question) -> Answer | None:
        self.asked.append(question)
        return None if self.answer is None else Answer(question.id, self.answer)

    async def call(self, name: str = "terminal", **arguments: JSON) -> ToolResult:
        call = ToolCall(CallId("c"), name, arguments)
        ctx = ToolContext(call.id, SessionId("s"), str(self.work), self.toolbox.services, self.person)
        return await self.toolbox.run(call, ctx)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path)
    yield made
    await made.local.aclose()


async def test_output_and_exit_code(desk: Desk) -> None:
    done = await desk.call(command="echo out; echo err >&2; exit 4")
    assert (done.outcome, done.text, done.data) == (Outcome.OK, "out\nerr\n[exit code 4]", {"exit_code": 4})
    assert (await desk.call(command="true")).text == "[no output]"
    assert (await desk.call(command="pwd")).text == str(desk.work)


async def test_a_deadline_is_its_own_outcome_and_keeps_the_output(desk: Desk) -> None:
    done = await desk.call(command="echo so far; sleep 60", timeout=1)
    assert done.outcome is Outcome.TIMED_OUT
    assert done.text == "so far\n[ended: still running after 1 s]"


async def test_long_output_can_be_paged_to_its_last_line(desk: Desk) -> None:
    done = await desk.call(command="seq 1 30000")
    assert done.text.startswith("1\n2\n")
    assert "\n30000\n[168,894 bytes in all, kept in " in done.text
    page = await desk.call("read_file", path=done.data["file"], offset=15000, limit=2)
    assert page.text.startswith("15000|15000\n15001|15001\n")


async def test_workdir_and_mistakes_in_it(desk: Desk) -> None:
    (desk.work / "sub").mkdir()
    assert (await desk.call(command="pwd", workdir="sub")).text == str(desk.work / "sub")
    assert (await desk.call(command="pwd", workdir="~")).text == str(desk.work.parent)
    missing = await desk.call(command="pwd", workdir="none")
    assert missing.outcome is Outcome.FAILED
    assert f"{desk.work / 'none'}: No such file or directory" in missing.text


async def test_wrong_arguments_run_nothing(desk: Desk) -> None:
    for wrong in (
        {},
        {"command": ""},
        {"command": "touch x", "timeout": -1},
        {"command": "touch x", "bg": True},
    ):
        assert (await desk.call(**wrong)).outcome is Outcome.FAILED
    assert not (desk.work / "x").exists()


async def test_nobody_there_means_not_run(desk: Desk) -> None:
    (desk.work / "precious").mkdir()
    done = await desk.call(command="rm -r precious")
    assert done.outcome is Outcome.DENIED
    assert refused_unasked(done)
    assert "rm -r precious" in done.text
    assert (desk.work / "precious").exists()


async def test_once_is_once_and_session_is_for_the_same_command(desk: Desk) -> None:
    desk.answer = "once"
    (desk.work / "a").mkdir()
    assert (await desk.call(command="rm -r a")).outcome is Outcome.OK
    assert not (desk.work / "a").exists()
    assert (desk.asked[0].action, desk.asked[0].kind) == ("rm -r a", "approval")
    desk.answer = "session"
    await desk.call(command="rm -r a")
    await desk.call(command="rm -r a")
    assert len(desk.asked) == 2
    desk.answer = "deny"
    said_no = await desk.call(command="rm -r b")
    assert (said_no.outcome, len(desk.asked)) == (Outcome.DENIED, 3)
    assert not refused_unasked(said_no)


async def test_what_is_blocked_is_not_even_asked(desk: Desk) -> None:
    desk.answer = "always"
    done = await desk.call(command="rm -rf ~")
    assert (done.outcome, desk.asked) == (Outcome.DENIED, [])
    assert refused_unasked(done)


async def test_reading_a_secret_meets_the_same_gate(desk: Desk) -> None:
    (desk.work / ".env").write_text("KEY=canary")
    (desk.work / "innocent.txt").symlink_to(desk.work / ".env")
    for path in (".env", "innocent.txt", f"../{desk.work.name}/.env"):
        done = await desk.call("read_file", path=path)
        assert done.outcome is Outcome.DENIED
        assert "canary" not in done.text


TERM_01 = next(case for case in CASES if case["id"] == "term-01")

AGENT = """
import json, os, sys, time
from pathlib import Path
import anyio
from hermes.core.gate import Gate
from hermes.core.ids import CallId, SessionId
from hermes.core.messages import ToolCall
from hermes.core.sandbox import Sandbox
from hermes.core.services import Services
from hermes.core.tools import ToolContext
from hermes.engine.toolbox import Toolbox
from hermes.safety.gate import PolicyGate
from hermes.safety.guarded import GuardedSandbox
from hermes.sandboxes.local import LocalSandbox
from hermes.tools.terminal import terminal

folder, commands = sys.argv[1], sys.argv[2:]

async def main():
    local = LocalSandbox(folder, {"PATH": os.environ["PATH"], "HOME": folder}, Path(folder) / "spool")
    gate = PolicyGate(home=folder, workspace=folder, state=folder + "/.hermes")
    services = Services({Gate: gate, Sandbox: GuardedSandbox(local, gate)})
    toolbox = Toolbox([terminal], services)
    for command in commands:
        call = ToolCall(CallId("c"), "terminal", {"command": command, "timeout": 120})
        began = time.monotonic()
        done = await toolbox.run(call, ToolContext(call.id, SessionId("s"), folder, services))
        print(json.dumps([done.outcome, done.text, time.monotonic() - began]), flush=True)

anyio.run(main)
print(json.dumps(sys.stdin.read()), flush=True)
"""


def running_in(folder: Path) -> list[str]:
    """The pids of processes whose working directory this is."""
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink() == folder:
                found.append(process.name)
    return found


def test_term_01_neither_input_nor_background_children_hold_a_call(tmp_path: Path) -> None:
    commands = [line.strip().partition(". ")[2] for line in TERM_01["input"].splitlines()[1:]]
    assert len(commands) == 4
    requests = "".join(json.dumps({"jsonrpc": "2.0", "id": n, "method": "ping"}) + "\n" for n in range(3))
    began = time.monotonic()
    agent = subprocess.run(
        [sys.executable, "-c", AGENT, str(tmp_path), *commands],
        input=requests,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    *calls, stdin = map(json.loads, agent.stdout.splitlines())
    assert [(outcome, text) for outcome, text, _ in calls] == [
        ("ok", "started"),
        ("ok", "detached"),
        ("ok", "hi:"),
        ("ok", "next"),
    ]
    assert all(seconds < 5 for *_, seconds in calls)
    assert stdin == requests
    assert time.monotonic() - began < 10
    end = time.monotonic() + 3
    while running_in(tmp_path):
        assert time.monotonic() < end, "the sleepers outlive the agent"
        time.sleep(0.05)


def asks(*commands: str) -> Message:
    return Message(
        Role.ASSISTANT,
        tuple(ToolCall(CallId(f"c{n}"), "terminal", {"command": c}) for n, c in enumerate(commands)),
    )


async def timed(desk: Desk, *commands: str) -> tuple[float, list[ToolResult]]:
    log = Log()
    who = Agent((ScriptedModel(asks(*commands), says("done")),), desk.toolbox)
    began = time.monotonic()
    talk = Conversation(SessionId("s"), who, log, StillClock(), ("be brief",), str(desk.work))
    async with anyio.create_task_group() as tasks, talk.turn(tasks, "go", attended=False) as turn:
        events = [event async for event in turn.events]
    assert isinstance(events[-1], TurnEnded)
    seconds = time.monotonic() - began
    return seconds, [result for message in log.messages for result in message.results]


async def test_sleepers_of_one_reply_sleep_together(desk: Desk) -> None:
    await desk.call(command="true")
    seconds, results = await timed(desk, *(f"sleep 0.{n}" for n in range(42, 50)))
    assert len(results) == 8
    assert seconds < 1.3


async def test_a_write_between_readers_is_seen_by_those_after_it_only(desk: Desk) -> None:
    (desk.work / "notes").write_text("one\n")
    readers = [f"sleep 0.2; grep -rc '' notes # {n}" for n in range(3)]
    late = [f"grep -rc '' notes # {n}" for n in range(3)]
    _, results = await timed(desk, *readers, "echo two >> notes", *late)
    assert [result.text for result in results] == ["1", "1", "1", "[no output]", "2", "2", "2"]


async def test_a_working_folder_cannot_carry_a_command(desk: Desk) -> None:
    desk.answer = "always"
    injected = f"{desk.work}\0{desk.work}/out\x003\0/bin/sh\0-c\0touch smuggled\0A=b"
    done = await desk.call(command="ls", workdir=injected)
    assert done.outcome is Outcome.FAILED
    assert "NUL" in done.text
    assert list(desk.work.iterdir()) == []
