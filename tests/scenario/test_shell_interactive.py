"""The conversation in a terminal: the real command on a pty, read as a person would see it."""

import json
import os
import pty
import subprocess
import sys
import termios
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pyte
import pytest

from hermes.testing.endpoint import Fails, ModelServer, Raw, Says

pytestmark = pytest.mark.anyio

CTRL_C, CTRL_D, ENTER, TAB, ALT_ENTER = "\x03", "\x04", "\r", "\t", "\x1b\r"

QUIET = 0.45
"""Seconds without a key after which the shell takes the next for an answer."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Terminal:
    """A terminal of 80 columns and enough rows that nothing scrolls away."""

    def __init__(self, home: Path, *words: str, term: str = "xterm-256color", **env: str) -> None:
        self.screen = pyte.Screen(80, 70)
        self._stream = pyte.ByteStream(self.screen)
        self._ours, self._theirs = pty.openpty()
        termios.tcsetwinsize(self._ours, (70, 80))
        self.raw = b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hermes", *words],
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
            cwd=home,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "HERMES_HOME": str(home),
                "TERM": term,
                "LANG": "C.UTF-8",
                **env,
            },
            start_new_session=True,
        )

    @property
    def text(self) -> str:
        return "\n".join(row.rstrip() for row in self.screen.display).rstrip()

    def type(self, *keys: str) -> None:
        os.write(self._ours, "".join(keys).encode())

    async def until(self, *words: str, times: int = 1) -> str:
        """Read until all of these are on the screen, each so many times."""
        with anyio.move_on_after(10):
            while not all(self.text.count(word) >= times for word in words):
                await anyio.wait_readable(self._ours)
                self._feed()
            return self.text
        raise AssertionError(f"{words} not on the screen:\n{self.text}")

    async def answer(self, key: str, *words: str) -> None:
        """Press a key after the keyboard was quiet, again if need be, until these are on the screen."""
        for _ in range(5):
            with anyio.move_on_after(QUIET):
                await self.until(*words)
            self.type(key)
            with anyio.move_on_after(2):
                await self.until(*words)
                return
        raise AssertionError(f"{key} does not lead to {words}:\n{self.text}")

    async def idle(self) -> None:
        """Read until no turn runs."""
        with anyio.fail_after(10):
            while "Ctrl-C stops" in self.text:
                await anyio.wait_readable(self._ours)
                self._feed()

    async def ended(self) -> int:
        """The exit code, once it has left."""
        with anyio.fail_after(10):
            while self.process.poll() is None:
                with anyio.move_on_after(0.02):
                    await anyio.wait_readable(self._ours)
                    self._feed()
        os.set_blocking(self._ours, False)
        while self._feed():
            pass
        return self.process.returncode

    @property
    def restored(self) -> bool:
        """Whether lines are edited and echoed by the terminal again, as before."""
        modes = termios.tcgetattr(self._theirs)[3]
        return bool(modes & termios.ICANON and modes & termios.ECHO)

    def vanish(self) -> int:
        """The window is closed; the exit code of what ran in it."""
        os.close(self._ours)
        os.close(self._theirs)
        self._ours = self._theirs = -1
        return self.process.wait(10)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self._ours >= 0:
            os.close(self._ours)
            os.close(self._theirs)

    def _feed(self) -> bool:
        try:
            piece = os.read(self._ours, 65_536)
        except BlockingIOError:
            return False
        self.raw += piece
        self._stream.feed(piece)
        return bool(piece)


@asynccontextmanager
async def talking(
    home: Path, script: list[Any], *words: str, **env: str
) -> AsyncGenerator[tuple[Terminal, ModelServer], None]:
    """A shell that waits for input, and the model it asks."""
    async with ModelServer(script) as server:
        (home / "config.yaml").write_text(
            f"model: {{default: fake, provider: custom, base_url: '{server.url}', api_key: k,"
            " context_length: 1000}\n"
        )
        terminal = Terminal(home, *words, **env)
        try:
            await terminal.until("Ctrl-D leaves", "\n\n›")
            yield terminal, server
        finally:
            terminal.close()


async def test_a_question_a_tool_an_answer_and_goodbye(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("forty-two\n")
    script = [
        Says("", calls=(("read_file", {"path": "a.txt"}),)),
        Says("# Found\n\nIt says **forty-two**, and `Vec<String>`.\n\n1. one\n2. two\n", usage=(100, 20, 0)),
    ]
    async with talking(tmp_path, script) as (terminal, _):
        assert "fake" in terminal.text.splitlines()[0]
        terminal.type("what is in", ALT_ENTER, "a.txt?", ENTER)
        shown = await terminal.until("2. two", "120/1k 12%")
        assert "› what is in\n  a.txt?" in shown
        assert "✓ read_file a.txt  0." in shown
        assert "Found\n\nIt says forty-two, and Vec<String>.\n\n1. one\n2. two" in shown
        terminal.type("/usa")
        await terminal.until(" /usage  Show tokens")
        terminal.type(TAB, ENTER)
        await terminal.until("whole conversation", "Window: 120 of 1k tokens")
        terminal.type(CTRL_D)
        assert await terminal.ended() == 0
        assert "hermes --resume" in terminal.text
        assert terminal.restored
    history = tmp_path / "terminal_history"
    assert history.stat().st_mode & 0o777 == 0o600
    assert "+what is in\n+a.txt?" in history.read_text()


async def test_ctrl_c_stops_the_turn_and_keeps_what_was_said(tmp_path: Path) -> None:
    script = [Fails("silent", "text", Says("This much was said, and more was coming.")), Says("Well again.")]
    async with talking(tmp_path, script) as (terminal, server):
        terminal.type("tell me", ENTER)
        await terminal.until("This much")
        terminal.type(CTRL_C)
        await terminal.until("Stopped. What was said is kept.")
        assert "This much" in terminal.text
        terminal.type("and now?", ENTER)
        await terminal.until("Well again.")
        await terminal.idle()
        asked = server.asked[-1].json["messages"]
        assert any(
            "This much" in str(message["content"]) for message in asked if message["role"] == "assistant"
        )
        await terminal.answer(CTRL_C, "Ctrl-C again or Ctrl-D leaves")
        terminal.type(CTRL_C)
        assert await terminal.ended() == 0
        assert terminal.restored
    (tmp_path / "again").mkdir()
    async with talking(tmp_path, [Says("Yes.")], "--continue") as (terminal, _):
        await terminal.until(
            "going on with", "› tell me", "This much", "here it was interrupted", "Well again."
        )


async def test_an_approval_shows_the_exact_action_and_words_are_no_answer(tmp_path: Path) -> None:
    doomed = tmp_path / "doomed"
    doomed.mkdir()
    wipe = Says("", calls=(("terminal", {"command": "rm -rf doomed #\x1b[2K\u202e"}),))
    async with talking(tmp_path, [wipe, Says("I left it."), wipe, Says("Gone.")]) as (terminal, _):
        terminal.type("wipe it", ENTER)
        await terminal.until("rm -rf doomed #\\x1b[2K\\u202e", "yes, once")
        terminal.type("so go on")  # somebody who goes on typing: s, o and a are keys too
        await terminal.answer("d", "→ deny", "I left it.", "✗ terminal")
        assert doomed.exists()
        terminal.type("really", ENTER)
        await terminal.until("› really", "yes, once")
        await terminal.answer("o", "→ once", "Gone.")
    assert not doomed.exists()


async def test_what_is_typed_meanwhile_steers(tmp_path: Path) -> None:
    wait = Says(
        "", calls=(("terminal", {"command": "echo started; while [ ! -e go ]; do sleep 0.05; done"}),)
    )
    async with talking(tmp_path, [wait, Says("Both, then.")]) as (terminal, server):
        terminal.type("the first thing", ENTER)
        await terminal.until("terminal echo started")
        terminal.type("and the second", ENTER)
        await terminal.until("↪ and the second")
        terminal.type("/new", ENTER)
        await terminal.until("/new has to wait until the turn has ended")
        (tmp_path / "go").touch()
        await terminal.until("Both, then.")
        assert "and the second" in str(server.asked[-1].json["messages"][-1])


async def test_a_model_that_fails_is_explained_and_the_next_message_works(tmp_path: Path) -> None:
    async with talking(tmp_path, [Fails("auth"), Says("Fine now.")]) as (terminal, _):
        terminal.type("hi", ENTER)
        await terminal.until("401")
        terminal.type("hi again", ENTER)
        await terminal.until("Fine now.")


async def test_nothing_that_is_said_steers_the_terminal(tmp_path: Path) -> None:
    evil = "ok\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b1m\u202egnp\u2066 end"
    shown = r"ok\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b1m\u202egnp\u2066 end"
    body = json.dumps({"error": {"message": evil}}, ensure_ascii=False).encode()
    script = [
        Says("", calls=(("clarify", {"question": f"Which {evil}?", "choices": [f"one {evil}", "two"]}),)),
        Says(
            f"# {evil}\n\n- `{evil}`\n- &#x202e;entity\n\n```sh\n{evil}\n```\n\n| {evil} |\n|---|\n| b |\n\n"
        ),
        Raw((body,), 400, {"content-type": "application/json"}),
    ]
    async with talking(tmp_path, script) as (terminal, _):
        terminal.type("hi", ENTER)
        await terminal.until(f"Which {shown}?", f"one {shown}")
        terminal.type("1", ENTER)
        await terminal.until("entity", "b\n")
        await terminal.idle()
        await terminal.until(shown, times=6)
        terminal.type("/title ", "a\u202eb", ENTER)
        await terminal.until("The title is now: a\\u202eb")
        terminal.type("and now?", ENTER)
        await terminal.until("(400): ok")
        await terminal.idle()
        terminal.type(CTRL_D)
        assert await terminal.ended() == 0
        steering = [b"\x1b]", b"\x1b[2J", b"\xc2\x9b", b"\x07", "\u2066".encode()]
        assert [bad for bad in steering if bad in terminal.raw] == []


async def test_the_terminal_is_restored_when_the_shell_is_told_to_go(tmp_path: Path) -> None:
    async with talking(tmp_path, [Fails("silent", "text", Says("Half of it, and the rest."))]) as (
        terminal,
        _,
    ):
        terminal.type("tell me", ENTER)
        await terminal.until("Half of")
        assert not terminal.restored
        terminal.process.terminate()
        assert await terminal.ended() == 143
        assert "Half of" in terminal.text
        assert terminal.restored


async def test_a_window_that_is_closed_loses_nothing(tmp_path: Path) -> None:
    async with talking(tmp_path, [Fails("silent", "text", Says("Half of it, and the rest."))]) as (
        terminal,
        _,
    ):
        terminal.type("tell me", ENTER)
        await terminal.until("Half of")
        assert await anyio.to_thread.run_sync(terminal.vanish) == 0
    async with talking(tmp_path, [], "--continue") as (terminal, _):
        await terminal.until("› tell me", "Half of", "here it was interrupted")


async def test_no_color_means_no_color(tmp_path: Path) -> None:
    async with talking(tmp_path, [Says("Use `ls` and [this](http://x.y).")], NO_COLOR="1") as (terminal, _):
        terminal.type("hi", ENTER)
        await terminal.until("Use ls and this (http://x.y).")
        codes = set(terminal.raw.decode().split("\x1b[")[1:])
        assert not [
            code for code in codes if code.startswith(("3", "9", "4")) and "m" in code[:6] and code[1] != "m"
        ]


async def test_a_dumb_terminal_gets_lines(tmp_path: Path) -> None:
    async with ModelServer([Says("All **plain**.")]) as server:
        (tmp_path / "config.yaml").write_text(
            f"model: {{default: fake, provider: custom, base_url: '{server.url}', api_key: k}}\n"
        )
        terminal = Terminal(tmp_path, term="dumb")
        await terminal.until("/quit leaves")
        terminal.type("hi\n")
        await terminal.until("All **plain**.")
        terminal.type("/title A name\n")
        await terminal.until("The title is now: A name")
        terminal.type("/quit\n")
        assert await terminal.ended() == 0
        assert b"\x1b" not in terminal.raw
        terminal.close()


async def test_another_model_may_be_chosen_before_anything_is_said(tmp_path: Path) -> None:
    async with talking(tmp_path, [Says("I am the other.")]) as (terminal, server):
        terminal.type("/model custom/other", ENTER)
        await terminal.until("custom/other:", "\nother")
        terminal.type("hi", ENTER)
        await terminal.until("I am the other.")
        assert server.asked[-1].json["model"] == "other"
    async with talking(tmp_path, [Says("Still me.")], "--continue") as (terminal, server):
        terminal.type("and now?", ENTER)
        await terminal.until("Still me.")
        assert server.asked[-1].json["model"] == "other"
