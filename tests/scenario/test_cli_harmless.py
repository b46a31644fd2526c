"""What a model, an endpoint or a file says cannot steer the terminal; a program gets it whole."""

import asyncio
import errno
import json
import os
import pty
import subprocess
import sys
import termios
from dataclasses import replace
from pathlib import Path

import anyio
import pyte
import pytest

from hermes.core.ids import SessionId
from hermes.core.messages import Message, Role, Text, user
from hermes.core.store import Session, Tx
from hermes.stores.open import open_store
from hermes.testing.clock import StillClock
from hermes.testing.endpoint import ModelServer, Raw, Says

pytestmark = pytest.mark.anyio

EVIL = "ok\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[31m\x9b1m\u202egnp\u2066\rX\x00 end"
SHOWN = r"ok\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[31m\x9b1m\u202egnp\u2066\x0dX\x00 end"
STEERING = [
    b"\x1b]",
    b"\x1b[2J",
    b"\x1b[31m",
    b"\x07",
    b"\x00",
    b"\xc2\x9b",
    "\u202e".encode(),
    "\u2066".encode(),
]
KEY = SessionId("20270101-000000-aaaaaa")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Desk:
    """A home, and the command on a terminal or in a pipe."""

    def __init__(self, home: Path, url: str = "http://127.0.0.1:9/v1", **env: str) -> None:
        self.home = home
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "HERMES_HOME": str(home),
            "LANG": "C.UTF-8",
        }
        self.env |= env
        (home / "config.yaml").write_text(
            f"model: {{default: m, provider: custom, base_url: '{url}', api_key: k}}\n"
            "agent: {api_max_retries: 0}\n"
        )

    async def on_terminal(self, *args: str, term: str = "xterm-256color") -> bytes:
        """Every byte that reached a terminal of 200 columns."""
        with anyio.fail_after(30):
            return await asyncio.to_thread(self._watched, args, term)

    def _watched(self, args: tuple[str, ...], term: str) -> bytes:
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(ours, (60, 200))
        process = subprocess.Popen(
            [sys.executable, "-m", "hermes", *args],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=self.home,
            env={**self.env, "TERM": term},
            start_new_session=True,
        )
        os.close(theirs)
        raw = b""
        try:
            while piece := os.read(ours, 65_536):
                raw += piece
        except OSError as error:
            if error.errno != errno.EIO:  # how Linux says that the other end is closed
                raise
        finally:
            os.close(ours)
        process.wait(10)
        return raw

    async def piped(self, *args: str) -> tuple[bytes, str]:
        with anyio.fail_after(30):
            done = await anyio.run_process(
                [sys.executable, "-m", "hermes", *args], check=False, input=b"", cwd=self.home, env=self.env
            )
        return done.stdout, done.stderr.decode()


def steers(raw: bytes) -> list[bytes]:
    return [bad for bad in STEERING if bad in raw]


def on_screen(raw: bytes) -> str:
    screen = pyte.Screen(200, 60)
    pyte.ByteStream(screen).feed(raw)
    return "\n".join(row.rstrip() for row in screen.display)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A home with a conversation whose title and words are hostile, and a title that never ends."""

    def fill(tx: Tx) -> None:
        one = Session(KEY, KEY, title=f"{EVIL}\nsecond line " + "long " * 100, cwd="/", model="m")
        tx.sessions.create(one)
        tx.sessions.create(replace(one, id=SessionId(f"{KEY[:-1]}b"), root=SessionId(f"{KEY[:-1]}b")))
        tx.messages.append(KEY, user("marzipan"))
        tx.messages.append(KEY, Message(Role.ASSISTANT, (Text(f"marzipan {EVIL}"),), model="m"))

    async def write() -> None:
        store = open_store(tmp_path / "hermes.db", StillClock())
        await store.write(fill)
        await store.close()

    asyncio.run(write())
    return tmp_path


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
async def test_an_answer_and_a_tools_argument_on_a_terminal(tmp_path: Path, term: str) -> None:
    script = [
        Says(f"Looking {EVIL}.", (("read_file", {"path": f"no {EVIL}"}),)),
        Says(f"{EVIL}\r\nnext\tcell"),
    ]
    async with ModelServer(script) as server:
        raw = await Desk(tmp_path, f"{server.url}/v1").on_terminal("-z", "hi", term=term)
    assert steers(raw) == []
    assert SHOWN in on_screen(raw)
    assert "\nnext    cell" in on_screen(raw)
    assert "read_file no ok" in on_screen(raw)


async def test_a_program_gets_the_answer_as_it_is(tmp_path: Path) -> None:
    async with ModelServer([Says(f"{EVIL}\r\nnext\t\ud83d")]) as server:
        out, err = await Desk(tmp_path, f"{server.url}/v1").piped("-z", "hi")
    assert out.decode() == f"{EVIL}\r\nnext\t\ufffd\n"
    assert steers(err.encode()) == []


async def test_the_words_of_an_endpoint_that_fails(tmp_path: Path) -> None:
    body = json.dumps({"error": {"message": EVIL}}, ensure_ascii=False).encode()
    async with ModelServer([Raw((body,), 400, {"content-type": "application/json"})] * 2) as server:
        desk = Desk(tmp_path, f"{server.url}/v1")
        raw = await desk.on_terminal("-z", "hi")
        tried = await desk.on_terminal("model", "test")
    for seen in (raw, tried):
        assert "did not accept" in on_screen(seen)
        assert steers(seen) == []


async def test_names_of_models_and_folders(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    said = await desk.on_terminal("-m", f"custom/{EVIL.replace(chr(0), '')}", "model")
    assert steers(said) == []
    assert r"custom/ok\x1b]52;" in on_screen(said)
    home = tmp_path / "a\x1b]0;b\x07\u202ec"
    home.mkdir()
    for words in (["config", "path"], ["doctor"], ["config", "check"]):
        raw = await Desk(home).on_terminal(*words)
        assert steers(raw) == []
        assert r"/a\x1b]0;b\x07\u202ec" in on_screen(raw)
    assert (await Desk(home).piped("config", "path"))[0].decode() == f"{home}/config.yaml\n"


async def test_titles_and_messages_of_what_is_kept(kept: Path) -> None:
    desk = Desk(kept)
    for words in (
        ["list"],
        ["list", "--json"],
        ["show", KEY],
        ["show", KEY[:-1]],  # fits two: they are listed
        ["search", "marzipan"],
        ["export", KEY],
        ["export", KEY, "--format", "json"],
    ):
        raw = await desk.on_terminal("sessions", *words)
        assert steers(raw) == [], words
        assert "ok" in on_screen(raw), words
    lines = on_screen(await desk.on_terminal("sessions", "list")).strip().splitlines()
    assert [line[: len(KEY) - 1] for line in lines] == [KEY[:-1]] * 2
    out, _ = await desk.piped("sessions", "export", KEY)
    assert f"marzipan {EVIL}" in out.decode()
    assert out.decode().startswith("# ok")
    assert out.decode().count("second line") == 1


async def test_what_the_gate_explains(tmp_path: Path) -> None:
    raw = await Desk(tmp_path).on_terminal("explain", "rm -rf ~/'\x1b]0;x\x07\u202e'")
    assert steers(raw) == []
    assert r"\x1b]0;x\x07\u202e" in on_screen(raw)
