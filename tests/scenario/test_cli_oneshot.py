"""hermes -z: the answer on stdout and nothing else, and an exit code that says how it went."""

import io
import os
import pty
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from hermes.core.budget import Budget
from hermes.core.effects import Effects
from hermes.core.errors import Denied, Unavailable
from hermes.core.events import TextDelta
from hermes.core.messages import Message, Role, Text
from hermes.core.models import Delta, Request
from hermes.core.questions import Question
from hermes.core.tools import ToolContext, ToolOutput
from hermes.sdk import tool
from hermes.shells.cli.oneshot import oneshot
from hermes.shells.cli.plain import Streams
from hermes.testing.runtime import story
from hermes.testing.scripted import ScriptedModel, calls, down, says

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@tool(effects=Effects())
async def look(ctx: ToolContext, path: str) -> ToolOutput:
    """Look at a file."""
    return ToolOutput("a file", meta={})


@tool(effects=Effects())
async def wipe(ctx: ToolContext, command: str) -> str:
    """Ask first."""
    answer = await ctx.ask(Question("q", "approval", command))
    if answer is None:
        raise Denied("nobody is there to be asked", nobody=True)
    if answer.text == "deny":
        raise Denied("you said no")
    return f"done: {answer.text}"


class Silent(io.StringIO):
    """A stdin that is not a terminal and has no file behind it."""


class Stalls(ScriptedModel):
    """Says some of an answer, then breaks."""

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        yield TextDelta("Hel")
        raise Unavailable("stalled")


class Slow(ScriptedModel):
    """Says some of an answer, then thinks for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.thinking = anyio.Event()

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        yield TextDelta("so far")
        self.thinking.set()
        await anyio.sleep_forever()


def streams(stdin: io.TextIOBase | None = None) -> Streams:
    return Streams(stdin or Silent(), io.StringIO(), io.StringIO())


def told(to: Streams) -> tuple[str, str]:
    return to.out.getvalue(), to.err.getvalue()


async def test_the_answer_is_alone_on_stdout_and_the_work_on_stderr(tmp_path: Path) -> None:
    to = streams()
    model = ScriptedModel(calls("look", path="a.txt"), says("It is a file."))
    async with story(tmp_path, model, tools=(look,)) as house:
        assert await oneshot(house, "what is a.txt?", to) == 0
        kept = await house.store.read(lambda tx: tx.messages.all(house.opened[0].session))
    out, err = told(to)
    assert out == "It is a file.\n"
    assert "scripted answers" in err
    assert "look a.txt  0.00 s" in err
    assert len(kept) == 4


async def test_text_voided_by_a_fallback_is_not_printed(tmp_path: Path) -> None:
    to = streams()
    async with story(tmp_path, Stalls(name="a"), ScriptedModel(says("Hello from B"), name="b")) as house:
        assert await oneshot(house, "hi", to) == 0
    out, err = told(to)
    assert out == "Hello from B\n"
    assert "a does not answer (stalled); b is asked instead" in err


async def test_no_model_is_a_failure_with_its_reason(tmp_path: Path) -> None:
    to = streams()
    async with story(tmp_path, down(why="the key is wrong")) as house:
        assert await oneshot(house, "hi", to) == 1
    out, err = told(to)
    assert out == ""
    assert "hermes: the key is wrong" in err


async def test_the_answer_is_printed_even_when_something_was_refused(tmp_path: Path) -> None:
    to = streams()
    model = ScriptedModel(calls("wipe", command="rm -r x"), says("I was not allowed to."))
    async with story(tmp_path, model, tools=(wipe,)) as house:
        assert await oneshot(house, "wipe x", to) == 4
    out, err = told(to)
    assert out == "I was not allowed to.\n"
    assert "wipe rm -r x" in err
    assert "denied: nobody is there" in err


async def test_a_spent_budget_prints_what_there_is(tmp_path: Path) -> None:
    to = streams()
    async with story(tmp_path, ScriptedModel(calls("look", path="a")), tools=(look,)) as house:
        house.budget = Budget(steps=1)
        assert await oneshot(house, "go", to) == 3
    assert "Stopped: the limit of 1 model calls is reached." in told(to)[1]


async def test_no_question_is_wrong_usage(tmp_path: Path) -> None:
    to = streams()
    async with story(tmp_path, ScriptedModel()) as house:
        assert await oneshot(house, "  ", to) == 2
    assert "There is no question" in told(to)[1]


async def test_a_lone_surrogate_is_printed_as_a_replacement(tmp_path: Path) -> None:
    to = streams()
    async with story(tmp_path, ScriptedModel(says("price \ud83d end"))) as house:
        assert await oneshot(house, "price?", to) == 0
    assert told(to)[0] == "price \ufffd end\n"


@pytest.mark.parametrize(("encoding", "printed"), [("ascii", b"na?ve \n"), ("utf-8", "naïve \n".encode())])
async def test_any_encoding_will_do(tmp_path: Path, encoding: str, printed: bytes) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, errors="strict")
    async with story(tmp_path, ScriptedModel(says("naïve "))) as house:
        assert await oneshot(house, "x", Streams(Silent(), out, io.StringIO())) == 0
    assert raw.getvalue() == printed


async def test_a_reader_that_left_ends_it_quietly(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    err = io.StringIO()
    with os.fdopen(writing, "w") as out:
        async with story(tmp_path, ScriptedModel(says("long " * 100))) as house:
            assert await oneshot(house, "x", Streams(Silent(), out, err)) == 141
    assert "Traceback" not in err.getvalue()


async def test_a_full_disk_is_a_failure_in_one_sentence(tmp_path: Path) -> None:
    err = io.StringIO()
    with os.fdopen(os.open("/dev/full", os.O_WRONLY), "w") as out:
        async with story(tmp_path, ScriptedModel(says("an answer"))) as house:
            assert await oneshot(house, "x", Streams(Silent(), out, err)) == 1
    assert "hermes: the answer cannot be written: No space left on device" in err.getvalue()


async def test_closed_streams_hold_nothing_and_take_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    async with story(tmp_path, ScriptedModel(says("an answer"))) as house:
        assert await oneshot(house, "x", Streams.standard()) == 0
        assert await oneshot(house, "-", Streams.standard()) == 2


async def test_what_is_piped_in_follows_the_question(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"line one\n")
    os.close(writing)
    model = ScriptedModel(says("ok"))
    with os.fdopen(reading) as stdin:
        async with story(tmp_path, model) as house:
            assert await oneshot(house, "sum it up", streams(stdin)) == 0
    assert model.requests[0].messages[0].text == "sum it up\n\nline one"


async def test_too_much_piped_in_is_refused_and_told_how_to_do_it(tmp_path: Path) -> None:
    big = tmp_path / "big.txt"
    big.write_text("x" * 400_001)
    to = streams(big.open())
    async with story(tmp_path, ScriptedModel()) as house:
        assert await oneshot(house, "-", to) == 2
    to.stdin.close()
    assert "Put it into a file" in told(to)[1]


async def test_an_interrupt_ends_the_turn_and_keeps_what_was_said(tmp_path: Path) -> None:
    to = streams()
    model = Slow()
    async with story(tmp_path, model) as house, anyio.create_task_group() as tasks:

        async def interrupt() -> None:
            await model.thinking.wait()
            os.kill(os.getpid(), signal.SIGINT)

        tasks.start_soon(interrupt)
        assert await oneshot(house, "long one", to) == 130
        kept: tuple[Message, ...] = house.opened[0].log.messages
    assert [message.text for message in kept] == ["long one", "so far"]
    assert "hermes --resume" in told(to)[1]


async def test_a_terminal_sees_the_answer_grow_without_doubled_text(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as out:
        async with story(tmp_path, Stalls(name="a"), ScriptedModel(says("Hello"), name="b")) as house:
            assert await oneshot(house, "hi", Streams(Silent(), out, io.StringIO())) == 0
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert shown == "Hel\r\x1b[JHel\r\x1b[JHel\r\x1b[JHello\r\n"


async def test_what_is_said_before_a_call_is_seen_once(tmp_path: Path) -> None:
    before = Message(Role.ASSISTANT, (Text("Looking."), *calls("look", path="a.txt").calls))
    ours, theirs = pty.openpty()
    err = io.StringIO()
    with os.fdopen(theirs, "w") as out:
        async with story(tmp_path, ScriptedModel(before, says("Done.")), tools=(look,)) as house:
            assert await oneshot(house, "hi", Streams(Silent(), out, err), quiet=False) == 0
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert (shown.count("Looking."), err.getvalue().count("Looking.")) == (1, 0)
    to = streams()
    async with story(tmp_path / "two", ScriptedModel(before, says("Done.")), tools=(look,)) as house:
        assert await oneshot(house, "hi", to, quiet=False) == 0
    assert (told(to)[0], told(to)[1].count("Looking.")) == ("Done.\n", 1)


async def test_a_person_at_the_terminal_is_asked_and_answers(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    model = ScriptedModel(calls("wipe", command="rm -r \x1b[2Jx"), says("Done."))
    out = io.StringIO()
    with os.fdopen(os.dup(theirs), "r") as stdin, os.fdopen(theirs, "w") as err:
        async with story(tmp_path, model, tools=(wipe,)) as house, anyio.create_task_group() as tasks:

            async def answer() -> None:
                seen = b""
                while b"[d]" not in seen:
                    await anyio.wait_readable(ours)
                    seen += os.read(ours, 4096)
                assert b"rm -r \\x1b[2Jx" in seen
                os.write(ours, b"perhaps\n")
                while b"Please one of" not in seen:
                    await anyio.wait_readable(ours)
                    seen += os.read(ours, 4096)
                os.write(ours, b"o\n")

            tasks.start_soon(answer)
            assert await oneshot(house, "wipe", Streams(stdin, out, err)) == 0
            results = [r for m in house.opened[0].log.messages for r in m.results]
    os.close(ours)
    assert out.getvalue() == "Done.\n"
    assert results[0].text == "done: once"


def test_nothing_heavy_is_imported() -> None:
    heavy = "rich", "prompt_toolkit", "markdown_it", "ruamel"
    code = f"import hermes.shells.cli.oneshot, sys; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
